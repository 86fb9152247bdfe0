"""A search of the portfolio or of one instance for ``halfcheck check``: its answer, its files, its exit code.

With ``--width`` nothing is searched: it is only said of how many bits a state of the instance is.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import typer

from halfcheck.check.check_options import COMPILED, OF_BROKER_CONF, CheckOptions, say_who_speaks
from halfcheck.errors import CommandLineError, ExitCode
from halfcheck.options import choose_instance, say_choice

if TYPE_CHECKING:
    from halfcheck.check.minimal_repairs import Left
    from model_check.counterexample.files import Written
    from model_check.coverage.counts import Coverage
    from model_check.explicit.state_store.resources import Resources
    from model_check.portfolio import Judged


def run(options: CheckOptions) -> ExitCode:
    """Search, write the counterexample, print, and give the exit code; with --width, only measure a state."""
    from model_check.asked import of_release
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
    say_turned_in_vain(asked.name)
    say_who_speaks(asked)
    answer = of_release(_search(options, resources), asked)
    _write(answer, files)
    left = _what_is_left(options, answer)
    if options.as_json:
        content = {**answer.to_json(), "left": {one.clause: one.to_json() for one in left}}
        print(json.dumps(content, ensure_ascii=False, indent=2))
    else:
        from halfcheck.printing.check import print_answer

        print_answer(answer, [str(one) for one in left], everything=options.everything)
        if answer.result.coverage is not None:
            _print_coverage(answer.result.coverage)
    code = ExitCode.of_verdict(is_broken=bool(answer.broken), is_complete=answer.result.complete)
    return ExitCode.INTERRUPTED if code is ExitCode.OTHER and answer.is_interrupted else code


def say_turned_in_vain(profile: str) -> None:
    """Say on stderr which switches of a profile are turned and change nothing; of a release none is turned by hand."""
    from model_check.instances import unturned
    from model_check.switches import turned_in_vain
    from spec.profiles import PROFILES

    if unturned(profile) not in PROFILES:
        return
    for sentence in turned_in_vain(profile):
        typer.echo(f"halfcheck: {profile}: {sentence}", err=True)


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


def _search(options: CheckOptions, resources: Resources) -> Judged:
    """Of the instance that was asked for, or of one if the question needs one; otherwise of the portfolio."""
    from halfcheck.printing.progress import portfolio_progress
    from model_check.portfolio import search_portfolio

    why = _why_one_instance(options)
    if options.instance is not None or why:
        return _search_one(options, resources, why)
    with portfolio_progress(options.only_profile, wanted=not options.as_json) as report:
        return search_portfolio(
            options.only_profile,
            options.environment,
            properties=options.clauses,
            threads=options.threads,
            most_states=options.max_states,
            resources=resources,
            report=report,
        )


def _why_one_instance(options: CheckOptions) -> str:
    """What of the question needs one instance; empty if the portfolio can be asked."""
    if options.engine != COMPILED:
        return f"as --engine {options.engine} searches one"
    if options.checkpoint is not None:
        return "as --checkpoint keeps the search of one"
    return "as --coverage counts over the states of one" if options.coverage else ""


def _search_one(options: CheckOptions, resources: Resources, why: str) -> Judged:
    from halfcheck.printing.progress import search_progress
    from model_check.check import check
    from model_check.chosen_instances import instance_that_shows
    from model_check.portfolio import judged

    profile, faults, clauses = options.only_profile, options.environment, options.clauses
    instance = options.instance or instance_that_shows(profile, faults, clauses)
    with search_progress(f"{profile} {instance}", wanted=not options.as_json) as report:
        found = check(
            profile,
            faults,
            instance,
            properties=clauses,
            engine=options.engine,
            threads=options.threads or 1,
            most_steps=options.max_depth,
            most_states=options.max_states,
            coverage=options.coverage,
            report=report,
            resources=resources,
        )
    if options.instance is None:
        say_choice(instance, why, clauses)
    is_at_its_bound = options.engine == "z3" or 0 < (options.max_states or 0) <= found.distinct
    return judged(found, is_interrupted=not found.complete and not is_at_its_bound)


def _write(answer: Judged, wanted: Written) -> None:
    """Write the shortest counterexample in the forms that were asked for; without one, nothing is written."""
    from model_check.counterexample.files import Written, write_files

    if wanted == Written():
        return
    if answer.broken:
        write_files(answer.result, min(answer.broken, key=lambda row: row.depth or 0), wanted)
    else:
        typer.echo("halfcheck: no property is violated, so no counterexample is written", err=True)


def _what_is_left(options: CheckOptions, answer: Judged) -> list[Left]:
    """Of the clauses whose defect a turned switch of the profile has repaired; the compiled search is asked."""
    from halfcheck.check.minimal_repairs import what_is_left

    if answer.is_interrupted or options.engine != COMPILED or options.max_states is not None:
        return []
    instances = () if options.instance is None else (options.instance,)
    return what_is_left(answer, instances, threads=options.threads, wanted=not options.as_json)


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
    from model_check.instances import constants_for
    from spec.transactional_messages import TRANSACTIONAL_MESSAGES

    profile = options.only_profile
    instance = options.instance or choose_instance(
        profile, options.environment, options.clauses, "as --width measures one"
    )
    measured = state_width(TRANSACTIONAL_MESSAGES, constants_for(profile, (), instance))
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
