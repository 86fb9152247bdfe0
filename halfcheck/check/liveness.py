"""``halfcheck check --liveness``: what must happen in the end, and the runs for ever in which it does not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import typer

from halfcheck.check.check_options import NOT_OF_MANY_WORLDS, OF_FILES, CheckOptions, say_who_speaks
from halfcheck.errors import CommandLineError, ExitCode
from halfcheck.options import names_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.counterexample.files import Written
    from model_check.liveness.check import LivenessResult

NOT_OF_LIVENESS = (*(name for name in NOT_OF_MANY_WORLDS if name not in OF_FILES), "pytest", "fresh", "threads")


def asks_of_endless_runs(options: CheckOptions) -> bool:
    """Whether responses are asked for, by --liveness or by their names.

    Raises
    ------
    CommandLineError
        Properties of states are asked for in the same breath.
    """
    return are_responses(options.clauses, wanted=options.liveness)


def are_responses(names: Sequence[str], *, wanted: bool = False) -> bool:
    """Whether responses are named, or wanted anyhow.

    Raises
    ------
    CommandLineError
        They are, and properties of states are named, too.
    """
    from model_check.liveness.check import is_response
    from spec.transactional_messages import TRANSACTIONAL_MESSAGES

    others = [name for name in names if not is_response(TRANSACTIONAL_MESSAGES, name)]
    wanted = wanted or len(others) < len(names)
    if wanted and others:
        message = f"--property {others[0]} is no response, and speaks of states: ask for it in a command of its own"
        raise CommandLineError(message)
    return wanted


def run(options: CheckOptions) -> ExitCode:
    """Find all states and their fair cycles, write the first lasso, print, and give the exit code."""
    from halfcheck.printing.progress import search_progress
    from model_check.counterexample.files import Written, refuse_unwritable
    from model_check.liveness.check import check_responses

    options.refuse(NOT_OF_LIVENESS, "says nothing to what must happen in the end")
    say_who_speaks(options.asked)
    files = Written(options.itf, options.svg, options.mermaid)
    refuse_unwritable(files)
    with search_progress(
        " ".join(filter(None, (options.only_profile, options.instance))), wanted=not options.as_json
    ) as report:
        result = check_responses(
            options.only_profile,
            options.environment,
            options.instance,
            properties=options.clauses,
            fairness=None if options.fairness is None else names_in(options.fairness),
            most_states=options.max_states,
            report=report,
        )
    _write(result, files)
    if options.as_json:
        print(json.dumps(result.to_json(), ensure_ascii=False, indent=2))
    else:
        from halfcheck.printing.liveness import print_responses

        print_responses(result, everything=options.everything)
    if result.violated:
        return ExitCode.LIVENESS_VIOLATED
    return ExitCode.OK if result.is_decided else ExitCode.OTHER


def _write(result: LivenessResult, wanted: Written) -> None:
    """Write the lasso with the shortest stem in the forms that were asked for; without one, nothing is written."""
    from model_check.counterexample.files import Written, write_lasso

    if wanted == Written():
        return
    rows = [row for row in result.violated if row.lasso is not None]
    if rows:
        write_lasso(result, min(rows, key=lambda row: len(row.lasso.stem) if row.lasso else 0), wanted)
    else:
        typer.echo("halfcheck: no response is violated, so no lasso is written", err=True)
