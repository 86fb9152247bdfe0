"""A search of the portfolio or of one instance for ``halfcheck check``: its answer, its files, its exit code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import typer

from halfcheck.check.question import COMPILED, OF_BROKER_CONF, Question
from halfcheck.errors import CommandLineError
from halfcheck.exit_codes import ExitCode

if TYPE_CHECKING:
    from halfcheck.check.minimal_repairs import Left
    from model_check.counterexample.files import Written
    from model_check.coverage.counts import Coverage
    from model_check.explicit.state_store.resources import Resources
    from model_check.judged import Judged


def run(question: Question) -> ExitCode:
    """Search, write the counterexample, print, and give the exit code; with --width, only measure a state."""
    from model_check.counterexample.files import Written, refuse_unwritable

    if question.given(OF_BROKER_CONF):
        message = "--version, --immunity, --local and --suggest speak of a broker.conf: give --broker-conf FILE, too"
        raise CommandLineError(message)
    question.refuse(["fresh"], "speaks of the searches that --minimal-faults keeps")
    profile = question.only_profile
    if question.width:
        from halfcheck.check.state_width import print_width

        print_width(question)
        return ExitCode.OK
    resources = _resources(question)
    files = Written(question.itf, question.svg, question.mermaid, question.pytest)
    refuse_unwritable(files)
    say_turned_in_vain(profile)
    answer = _search(question, resources)
    _write(answer, files)
    left = _what_is_left(question, answer)
    if question.as_json:
        content = {**answer.to_json(), "left": {one.clause: one.to_json() for one in left}}
        print(json.dumps(content, ensure_ascii=False, indent=2))
    else:
        from halfcheck.check.answer import print_answer

        print_answer(answer, [str(one) for one in left], everything=question.everything)
        if answer.result.coverage is not None:
            _print_coverage(answer.result.coverage)
    code = ExitCode.of_verdict(is_broken=bool(answer.broken), is_complete=answer.result.complete)
    return ExitCode.INTERRUPTED if code is ExitCode.OTHER and answer.is_interrupted else code


def say_turned_in_vain(profile: str) -> None:
    """Say on stderr which switches of a profile are turned and change nothing."""
    from model_check.switches import turned_in_vain

    for sentence in turned_in_vain(profile):
        typer.echo(f"halfcheck: {profile}: {sentence}", err=True)


def _resources(question: Question) -> Resources:
    from model_check.explicit.state_store.reserved_memory import bytes_of
    from model_check.explicit.state_store.resources import EXACT, Resources

    return Resources(
        memory=None if question.memory is None else bytes_of(question.memory),
        disk=question.disk,
        spill=not question.no_disk,
        checkpoint=question.checkpoint,
        checkpoint_every=question.checkpoint_every,
        resume=question.resume,
        fingerprint_bits=64 if question.fingerprints else EXACT,
    )


def _search(question: Question, resources: Resources) -> Judged:
    """Of the instance that was asked for, or of one if the question needs one; otherwise of the portfolio."""
    from halfcheck.printing.search_progress import portfolio_progress
    from model_check.portfolio import search_portfolio

    why = _why_one_instance(question)
    if question.instance is not None or why:
        return _search_one(question, resources, why)
    with portfolio_progress(question.only_profile, wanted=not question.as_json) as report:
        return search_portfolio(
            question.only_profile,
            question.environment,
            properties=question.clauses,
            threads=question.threads,
            most_states=question.max_states,
            resources=resources,
            report=report,
        )


def _why_one_instance(question: Question) -> str:
    """What of the question needs one instance; empty if the portfolio can be asked."""
    if question.engine != COMPILED:
        return f"as --engine {question.engine} searches one"
    if question.checkpoint is not None:
        return "as --checkpoint keeps the search of one"
    return "as --coverage counts over the states of one" if question.coverage else ""


def _search_one(question: Question, resources: Resources, why: str) -> Judged:
    from halfcheck.check.chosen_instance import say_choice
    from halfcheck.printing.search_progress import search_progress
    from model_check.check import check
    from model_check.judged import judged
    from model_check.portfolio import instance_that_shows

    profile, faults, clauses = question.only_profile, question.environment, question.clauses
    instance = question.instance or instance_that_shows(profile, faults, clauses)
    with search_progress(f"{profile} {instance}", wanted=not question.as_json) as report:
        found = check(
            profile,
            faults,
            instance,
            properties=clauses,
            engine=question.engine,
            threads=question.threads or 1,
            most_steps=question.max_depth,
            most_states=question.max_states,
            coverage=question.coverage,
            report=report,
            resources=resources,
        )
    if question.instance is None:
        say_choice(instance, why, clauses)
    is_at_its_bound = question.engine == "z3" or 0 < (question.max_states or 0) <= found.distinct
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


def _what_is_left(question: Question, answer: Judged) -> list[Left]:
    """Of the clauses whose defect a turned switch of the profile has repaired; the compiled search is asked."""
    from halfcheck.check.minimal_repairs import what_is_left

    if answer.is_interrupted or question.engine != COMPILED or question.max_states is not None:
        return []
    instances = () if question.instance is None else (question.instance,)
    return what_is_left(answer, instances, threads=question.threads, wanted=not question.as_json)


def _print_coverage(coverage: Coverage) -> None:
    from halfcheck.printing.counterexample_table import wide_console
    from halfcheck.printing.coverage_table import action_table, claim_table

    console = wide_console()
    for table in (action_table(coverage), claim_table(coverage)):
        console.print()
        console.print(table)
