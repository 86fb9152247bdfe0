"""The search that ``halfcheck check`` was asked for, of the portfolio or of one instance: its files and exit code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

from halfcheck.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from halfcheck.check.minimal_repairs import Left
    from model_check.counterexample.files import Written
    from model_check.coverage.counts import Coverage
    from model_check.explicit.state_store.resources import Resources
    from model_check.judged import Judged


def run_check(
    profile: str,
    faults: Sequence[str],
    instance: str | None,
    properties: Sequence[str],
    resources: Resources,
    files: Written,
    *,
    everything: bool,
    as_json: bool,
    **options: Any,
) -> ExitCode:
    """Search, write the counterexample, print, and give the exit code.

    Parameters
    ----------
    profile, faults, properties, resources
        See `model_check.check.check`.
    instance
        None for the portfolio, unless what is asked for needs one instance.
    files
        Where the shortest counterexample goes.
    everything
        What `--all` asks for.
    options
        reading, threads, most_steps, most_states and coverage, as `model_check.check.check` takes them.
    """
    from model_check.counterexample.files import refuse_unwritable

    refuse_unwritable(files)
    tell_turned_in_vain(profile)
    needs_one = _why_one_instance(options["reading"], resources, coverage=options["coverage"])
    if instance is None and not needs_one:
        answer = _search_portfolio(profile, faults, properties, resources, as_json=as_json, **options)
    else:
        answer = _search_one(profile, faults, instance, properties, resources, needs_one, as_json=as_json, **options)
    result = answer.result
    _write(answer, files)
    left = _what_is_left(answer, instance, options, as_json=as_json)
    if as_json:
        told = {**answer.to_json(), "left": {one.clause: one.to_json() for one in left}}
        print(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        from halfcheck.check.answer import print_answer

        print_answer(answer, [str(one) for one in left], everything=everything)
        if result.coverage is not None:
            _print_coverage(result.coverage)
    if answer.broken:
        return ExitCode.SAFETY_VIOLATED
    if result.complete:
        return ExitCode.OK
    return ExitCode.INTERRUPTED if answer.is_interrupted else ExitCode.OTHER


def tell_turned_in_vain(profile: str) -> None:
    """Say on stderr which switches of a profile are turned and change nothing."""
    from model_check.switches import turned_in_vain

    for sentence in turned_in_vain(profile):
        typer.echo(f"halfcheck: {profile}: {sentence}", err=True)


def _what_is_left(answer: Judged, instance: str | None, options: dict[str, Any], *, as_json: bool) -> list[Left]:
    """Of the clauses whose defect a turned switch of the profile has repaired; the compiled search is asked."""
    from halfcheck.check.minimal_repairs import what_is_left

    if answer.is_interrupted or options["reading"] != "numba" or options["most_states"] is not None:
        return []
    instances = () if instance is None else (instance,)
    return what_is_left(answer, instances, threads=options["threads"], wanted=not as_json)


def _search_portfolio(
    profile: str,
    faults: Sequence[str],
    properties: Sequence[str],
    resources: Resources,
    *,
    threads: int | None,
    most_states: int | None,
    as_json: bool,
    **_of_one_instance: object,
) -> Judged:
    from halfcheck.printing.search_progress import portfolio_progress
    from model_check.portfolio import search_portfolio

    with portfolio_progress(profile, wanted=not as_json) as report:
        return search_portfolio(
            profile,
            faults,
            properties=properties,
            threads=threads,
            most_states=most_states,
            resources=resources,
            report=report,
        )


def _search_one(
    profile: str,
    faults: Sequence[str],
    instance: str | None,
    properties: Sequence[str],
    resources: Resources,
    why: str,
    *,
    threads: int | None,
    most_states: int | None,
    as_json: bool,
    **options: Any,
) -> Judged:
    from halfcheck.check.chosen_instance import tell_choice
    from halfcheck.printing.search_progress import search_progress
    from model_check.check import check
    from model_check.judged import judged
    from model_check.portfolio import instance_that_shows

    name = instance or instance_that_shows(profile, faults, properties)
    with search_progress(f"{profile} {name}", wanted=not as_json) as report:
        found = check(
            profile,
            faults,
            name,
            properties=properties,
            threads=threads or 1,
            most_states=most_states,
            report=report,
            resources=resources,
            **options,
        )
    if instance is None:
        tell_choice(name, why, properties)
    is_at_its_bound = options["reading"] == "z3" or 0 < (most_states or 0) <= found.distinct
    return judged(found, is_interrupted=not found.complete and not is_at_its_bound)


def _why_one_instance(reading: str, resources: Resources, *, coverage: bool) -> str:
    """What of the question needs one instance; empty if the portfolio can be asked."""
    if reading != "numba":
        return f"as --reading {reading} searches one"
    if resources.checkpoint is not None:
        return "as --checkpoint keeps the search of one"
    return "as --coverage counts over the states of one" if coverage else ""


def _write(answer: Judged, wanted: Written) -> None:
    """Write the shortest counterexample in the forms that were asked for; without one, nothing is written."""
    from model_check.counterexample.files import Written, write_files

    if wanted == Written():
        return
    if answer.broken:
        write_files(answer.result, min(answer.broken, key=lambda row: row.depth or 0), wanted)
    else:
        typer.echo("halfcheck: no property is violated, so no counterexample is written", err=True)


def _print_coverage(coverage: Coverage) -> None:
    from halfcheck.printing.counterexample_table import wide_console
    from halfcheck.printing.coverage_table import action_table, claim_table

    console = wide_console()
    for table in (action_table(coverage), claim_table(coverage)):
        console.print()
        console.print(table)
