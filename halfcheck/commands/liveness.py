"""``halfcheck liveness``: what must happen in the end, and the runs for ever in which it does not."""

from __future__ import annotations

from typing import Annotated

import typer

from document.console import show
from halfcheck.errors import CommandLineError, ExitCode
from halfcheck.options import (
    AsJson,
    Everything,
    Faults,
    InstanceName,
    MostStates,
    Release,
    Write,
    asked_aloud,
    environment_of,
    instances_of,
    names_in,
    print_json,
    written_in,
)
from halfcheck.printing.progress import search_progress


def command(
    *,
    profile: Release = None,
    faults: Faults = "",
    instance: InstanceName = None,
    responses: Annotated[
        list[str] | None,
        typer.Option("--property", metavar="ID", help="P1, or one response: P1.settled. May be repeated."),
    ] = None,
    fairness: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Who goes on, in place of those that each response needs.")
    ] = None,
    max_states: MostStates = None,
    write: Write = None,
    everything: Everything = False,
    as_json: AsJson = False,
) -> ExitCode:
    """Say what must happen in the end (P1 to P9), in runs of any length and under fairness.

    A violation is a way into a cycle and the cycle. The exit code is 13 when a response is violated, 0 when all hold,
    255 when one is not decided.

    Examples
    --------
    halfcheck liveness --profile 4.5.1
    halfcheck liveness --property P5.at_one_moment --profile 5.3.3 --write spinning.svg
    """
    from model_check.answers.counterexample_files import WrittenFiles, write_lasso
    from model_check.liveness.check import check_responses, chosen_promises, chosen_responses, usual_worlds
    from model_check.world import World
    from spec.transactional_messages import TRANSACTIONAL_MESSAGES as MACHINE

    files = written_in(write)
    if files.pytest is not None:
        message = f"--write {files.pytest}: a run for ever is no test; give .itf.json, .svg or .mmd"
        raise CommandLineError(message)
    asked, environment, sizes = asked_aloud(profile), environment_of(faults), instances_of(instance)
    chosen = chosen_responses(MACHINE, responses or ())
    promises = None if fairness is None else chosen_promises(MACHINE, names_in(fairness))
    worlds = [World(asked.profile, environment, size) for size in sizes] or usual_worlds(asked.profile, environment)
    with search_progress(" ".join(filter(None, (asked.profile.name, instance))), wanted=not as_json) as report:
        finding = check_responses(worlds, chosen, fairness=promises, most_states=max_states, report=report)
    if files != WrittenFiles() and not finding.violated:
        typer.echo("halfcheck: no response is violated, so no lasso is written", err=True)
    elif files != WrittenFiles():
        write_lasso(min(finding.violated, key=lambda row: len(row.lasso.stem) if row.lasso else 0), files)
    if as_json:
        print_json(finding.to_json())
    else:
        from halfcheck.printing.liveness import responses as in_parts

        show(in_parts(finding, everything=everything))
    if finding.violated:
        return ExitCode.LIVENESS_VIOLATED
    return ExitCode.OK if finding.is_decided else ExitCode.OTHER
