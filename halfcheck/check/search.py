"""A search of the portfolio or of one instance for ``halfcheck check``: its answer, its files, its exit code.

With ``--width`` nothing is searched: it is only said of how many bits a state of the instance is.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import typer

from halfcheck.check.check_options import OF_BROKER_CONF, CheckOptions, say_who_speaks
from halfcheck.errors import CommandLineError, ExitCode
from halfcheck.options import choose_instance, say_choice

if TYPE_CHECKING:
    from halfcheck.check.minimal_repairs import Left
    from model_check.answer import Answer
    from model_check.asked import Asked
    from model_check.counterexample.files import Written
    from model_check.coverage.counts import Coverage
    from model_check.explicit.state_store.resources import Resources


def run(options: CheckOptions) -> ExitCode:
    """Search, write the counterexample, print, and give the exit code; with --width, only measure a state."""
    from model_check.counterexample.files import Written, refuse_unwritable

    if options.given(OF_BROKER_CONF):
        message = "--immunity, --local and --suggest speak of a broker.conf: give --broker-conf FILE, too"
        raise CommandLineError(message)
    options.refuse(["fairness"], "speaks of endless runs, as --liveness does")
    options.refuse(["fresh"], "speaks of the searches that --minimal-faults keeps")
    asked = options.asked
    if options.width:
        return _print_width(options)
    resources = _resources(options)
    files = Written(options.itf, options.svg, options.mermaid, options.pytest)
    refuse_unwritable(files)
    say_turned_in_vain(asked)
    say_who_speaks(asked)
    answer = _search(options, resources)
    _write(answer, files)
    left = _what_is_left(options, answer)
    if options.as_json:
        content = {**answer.to_json(), "left": {one.name: one.to_json() for one in left}}
        print(json.dumps(content, ensure_ascii=False, indent=2))
    else:
        from halfcheck.printing.check import print_answer

        print_answer(answer, [str(one) for one in left], everything=options.everything)
        if answer.whole.coverage is not None:
            _print_coverage(answer.whole.coverage)
    code = ExitCode.of_verdict(is_broken=bool(answer.broken), is_complete=answer.whole.numbers.complete)
    return ExitCode.INTERRUPTED if code is ExitCode.OTHER and answer.is_interrupted else code


def say_turned_in_vain(asked: Asked) -> None:
    """Say on stderr which switches of a profile are turned and change nothing; of a release none is turned by hand."""
    from model_check.switches import turned_in_vain

    for sentence in () if asked.why else turned_in_vain(asked.profile):
        typer.echo(f"halfcheck: {asked.profile}: {sentence}", err=True)


def _resources(options: CheckOptions) -> Resources:
    from model_check.explicit.state_store.reserved_memory import bytes_of
    from model_check.explicit.state_store.resources import EXACT, Resources

    return Resources(
        memory=None if options.memory is None else bytes_of(options.memory),
        disk=options.disk,
        spill=not options.no_disk,
        checkpoint=options.checkpoint,
        checkpoint_every=options.checkpoint_every,
        resume=options.resume,
        fingerprint_bits=64 if options.fingerprints else EXACT,
    )


def _search(options: CheckOptions, resources: Resources) -> Answer:
    """Of the instance that was asked for, or of one if the question needs one; otherwise of the portfolio."""
    from halfcheck.printing.progress import portfolio_progress
    from model_check.answer import search_portfolio

    why = _why_one_instance(options)
    if options.instance is not None or why:
        return _search_one(options, resources, why)
    asked = options.asked
    with portfolio_progress(asked.profile.name, wanted=not options.as_json) as report:
        return search_portfolio(
            asked.profile,
            options.environment,
            clauses=options.clauses,
            threads=options.threads,
            most_states=options.max_states,
            resources=resources,
            report=report,
            release=asked.stood_for,
        )


def _why_one_instance(options: CheckOptions) -> str:
    """What of the question needs one instance; empty if the portfolio can be asked."""
    if options.given(["engine"]):
        return f"as --engine {options.engine} searches one"
    if options.checkpoint is not None:
        return "as --checkpoint keeps the search of one"
    return "as --coverage counts over the states of one" if options.coverage else ""


def _search_one(options: CheckOptions, resources: Resources, why: str) -> Answer:
    from halfcheck.printing.progress import search_progress
    from model_check.answer import answer_of
    from model_check.check import check
    from model_check.chosen_instances import instance_that_shows
    from model_check.question import Question
    from model_check.world import World

    asked, clauses = options.asked, options.clauses
    (instance,) = options.instances or [instance_that_shows(asked.profile, options.environment, clauses)]
    engine = options.chosen_engine
    question = Question(
        world=World(asked.profile, options.environment, instance),
        clauses=clauses,
        most_steps=options.max_depth,
        most_states=options.max_states,
        coverage=options.coverage,
    )
    with search_progress(f"{asked.profile} {instance.name}", wanted=not options.as_json) as report:
        found = check(question, engine, threads=options.threads or 1, report=report, resources=resources)
    if options.instance is None:
        say_choice(instance, why, options.properties or ())
    numbers = found.numbers
    is_at_its_bound = not engine.counts_states or 0 < (options.max_states or 0) <= numbers.distinct
    return answer_of(found, is_interrupted=not numbers.complete and not is_at_its_bound, release=asked.stood_for)


def _write(answer: Answer, wanted: Written) -> None:
    """Write the shortest counterexample in the forms that were asked for; without one, nothing is written."""
    from model_check.counterexample.files import Written, write_files

    if wanted == Written():
        return
    if answer.broken:
        write_files(min(answer.broken, key=lambda row: row.depth), wanted)
    else:
        typer.echo("halfcheck: no property is violated, so no counterexample is written", err=True)


def _what_is_left(options: CheckOptions, answer: Answer) -> list[Left]:
    """Of the clauses whose defect a turned switch of the profile has repaired; the compiled search is asked."""
    from halfcheck.check.minimal_repairs import what_is_left

    if answer.is_interrupted or options.given(["engine", "max_states"]):
        return []
    return what_is_left(answer, options.instances, threads=options.threads, wanted=not options.as_json)


def _print_coverage(coverage: Coverage) -> None:
    from halfcheck.printing.console import wide_console
    from halfcheck.printing.coverage import action_table, claim_table

    console = wide_console()
    for table in (action_table(coverage), claim_table(coverage)):
        console.print()
        console.print(table)


def _print_width(options: CheckOptions) -> ExitCode:
    """A row a field, and the sum; the same as JSON."""
    from halfcheck.printing.console import wide_console
    from halfcheck.printing.fitting_table import FittingTable
    from model_check.explicit.code_generation.width import state_width
    from model_check.world import Environment, World
    from spec.transactional_messages import TRANSACTIONAL_MESSAGES

    profile = options.asked.profile
    (instance,) = options.instances or [
        choose_instance(profile, options.environment, options.properties or (), "as --width measures one")
    ]
    measured = state_width(TRANSACTIONAL_MESSAGES, World(profile, Environment(), instance).constants)
    if options.as_json:
        print(json.dumps(measured.to_json(), indent=2))
        return ExitCode.OK
    table = FittingTable("field", ">from", ">to", ">elements", ">bits")
    for field in measured.fields:
        table.add_row(field.name, str(field.low), str(field.high), str(field.elements), str(field.bits))
    console = wide_console()
    console.print(table)
    console.print(
        f"{measured.bits} bits in {measured.words} words of 64, {measured.unused} unused; "
        f"{measured.steps} steps are tried on each state"
    )
    return ExitCode.OK
