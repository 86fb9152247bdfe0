"""The findings of ``halfcheck analyze`` in traces, in words and as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from document.console import wide_console
from document.fitting_table import FittingTable
from halfcheck.options import print_json
from spark_trace_analysis.judge.properties import NOT_SHOWN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from spark_trace_analysis.audit.explanation.explained_runs import Explained
    from spark_trace_analysis.judge.both_ways import Count, TraceJudgement

_ROOM_FOR_RUNS: Final = 122
"""Columns that the table takes where each row names its run."""


OF_WALKS: Final = "of random walks, no rate"
OF_RECORDED: Final = "of the recorded traces"
"""The whole of a share: walks choose by chance what a real system seldom does, so that theirs is no rate of it."""


def print_judgement(
    judgement: TraceJudgement,
    seconds: Mapping[str, float],
    explained: Sequence[Explained],
    *,
    are_walks: bool,
    as_json: bool,
) -> None:
    """The counts, what no trace shows, which traces are explained, and how long all that took."""
    of = OF_WALKS if are_walks else OF_RECORDED
    if as_json:
        content = _to_json(judgement, seconds, explained) | {"shares_are": of}
        print_json(content)
        return
    console = wide_console()
    print_counts(console, judgement.counts, of)
    for name, why in NOT_SHOWN.items():
        console.print(f"{name}: shown by no trace ({why})")
    for shown_by in sorted({(profile, environment) for profile, environment, _ in judgement.not_shown}):
        names = ", ".join(name for *run, name in judgement.not_shown if tuple(run) == shown_by)
        console.print(f"{names}: not shown by the traces of {', '.join(shown_by)}, which don't tell what producers do")
    for each in explained:
        console.print(each.sentence())
    if judgement.files_found:
        console.print(f"gone on with: {judgement.files_found} files were judged before")
    words = {"queries": "expressions"}
    phases = ", ".join(f"{words.get(phase, phase)} {taken:.1f} s" for phase, taken in seconds.items())
    console.print(f"{judgement.traces:,} traces, {judgement.events:,} events; kernels and expressions agree ({phases})")


def _to_json(judgement: TraceJudgement, seconds: Mapping[str, float], explained: Sequence[Explained]) -> dict[str, Any]:
    return {
        "traces": judgement.traces,
        "events": judgement.events,
        "violations": judgement.violations(),
        "shortest": [
            {
                "profile": count.parameters.profile.name,
                "environment": count.parameters.environment_name,
                "property": count.property_id,
                "trace": count.shortest_trace,
                "events": count.shortest_events,
            }
            for count in judgement.counts
            if count.violations
        ],
        "not_shown": NOT_SHOWN,
        "not_told": [
            {"profile": profile, "environment": environment, "property": name}
            for profile, environment, name in judgement.not_shown
        ],
        "files_found": judgement.files_found,
        "explained": [each.to_json() for each in explained],
        "seconds": {phase: round(taken, 3) for phase, taken in seconds.items()},
    }


def print_counts(console: Console, counts: Sequence[Count], of: str = OF_WALKS) -> None:
    """A row a run and property, whose share says of what it is; in a narrow terminal a table a run."""
    of_run = ("profile", "environment", ">traces")
    runs = dict.fromkeys(_run_of(count) for count in counts)
    is_narrow = console.width < _ROOM_FOR_RUNS
    for run in runs if is_narrow else [None]:
        columns = ("property", ">violating", "~share", ">first trace", ">shortest", ">events")
        table = FittingTable(*(() if run else of_run), *columns)
        if run:
            console.print(f"{run[0]}, {run[1]}: {run[2]} traces")
        for count in counts:
            row = _run_of(count)
            if run not in (None, row):
                continue
            table.add_row(
                *(() if run else row),
                count.property_id,
                f"{count.violations:,}",
                f"{count.violations / count.parameters.traces:.3%} {of}",
                *(
                    "-" if number is None else f"{number:,}"
                    for number in (count.first_trace, count.shortest_trace, count.shortest_events)
                ),
            )
        console.print(table)


def _run_of(count: Count) -> tuple[str, str, str]:
    of = count.parameters
    return of.profile.name, of.environment_name, f"{of.traces:,}"
