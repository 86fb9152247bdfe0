"""Every property judged twice over the same runs: by Numba kernels on arrays, and by Spark SQL on rows.

The kernels read whole files inside their tasks (and so find a changed byte by its checksum); the queries go through
Spark's own Parquet reader. If the two ways give different numbers for any property of any run, neither is believed.
"""

import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from pyspark.sql import SparkSession

from spark_trace_analysis.errors import DisagreementError
from spark_trace_analysis.found import Found
from spark_trace_analysis.invariants import ALL, Invariant
from spark_trace_analysis.judge_by_kernel import count_judged, judge_by_kernel
from spark_trace_analysis.judge_by_query import event_rows, judge_by_query
from spark_trace_analysis.manifest import Run
from spark_trace_analysis.world import can_show

__all__ = ["Count", "Judgement", "event_rows", "judge"]


@dataclass(frozen=True)
class Count:
    """How many traces of one run break one property.

    Attributes
    ----------
    traces
        All traces of the run.
    violations
        Those that break the property.
    first_trace
        The lowest number of such a trace; None if there is none.
    shortest_trace, shortest_events
        The one that breaks it after the fewest events (of several, that with the lowest number), and after how many.
    """

    profile: str
    environment: str
    property_id: str
    traces: int
    violations: int
    first_trace: int | None
    shortest_trace: int | None = None
    shortest_events: int | None = None


@dataclass(frozen=True)
class Judgement:
    """What both ways of judging agree on, and the seconds that each took.

    Attributes
    ----------
    not_shown
        Profile, environment and property where the traces of a run don't tell what the property is about.
    files_found
        How many files a call that was cut short had judged by kernels, and this one went on from.
    queried
        Traces that Spark SQL was asked of, too.
    """

    traces: int
    events: int
    counts: tuple[Count, ...]
    kernel_seconds: float
    query_seconds: float
    not_shown: tuple[tuple[str, str, str], ...] = ()
    files_found: int = 0
    queried: int = 0

    def violations(self) -> dict[str, dict[str, dict[str, int]]]:
        """Violating traces by profile, environment and property, runs of the same kind added up."""
        table: dict[str, dict[str, dict[str, int]]] = {}
        for count in self.counts:
            row = table.setdefault(count.profile, {}).setdefault(count.environment, {})
            row[count.property_id] = row.get(count.property_id, 0) + count.violations
        return table


def judge(
    spark: SparkSession,
    runs: Sequence[Run],
    invariants: Sequence[Invariant] = ALL,
    work: Path | None = None,
    queried: Sequence[Run] | None = None,
) -> Judgement:
    """Judge runs by kernels and by queries, and compare.

    Parameters
    ----------
    queried
        A shorter run in the place of each, of which the queries are asked; all of the runs if not given.
    work
        A folder that the workers see. What is found in a file, or by a query, is kept in it until all is judged: a
        second call after the first was killed goes on from there. Nothing is kept without one.

    Raises
    ------
    BadTracesError
        A file is missing, changed or not readable; or it holds other traces than its manifest says.
    DisagreementError
        A kernel and a query differ; both numbers are named.
    """
    if work is not None:
        with suppress(OSError):
            work.mkdir(parents=True, exist_ok=True)
    files_found = 0 if work is None else count_judged(runs, invariants, work)
    began = perf_counter()
    by_kernel = judge_by_kernel(spark, runs, invariants, work)
    between = perf_counter()
    asked = runs if queried is None else queried
    compared = by_kernel if asked == runs else judge_by_kernel(spark, asked, invariants)
    by_query = judge_by_query(spark, asked, invariants, work)
    ended = perf_counter()
    counts = []
    not_shown = []
    for number, run in enumerate(runs):
        for invariant in invariants:
            if not can_show(run, invariant):
                not_shown.append((run.parameters.profile, run.parameters.environment_name, invariant.property_id))
                continue
            key = (number, invariant.property_id)
            _require_agreement(asked[number], invariant, compared[key], by_query[key])
            counts.append(
                Count(
                    run.parameters.profile,
                    run.parameters.environment_name,
                    invariant.property_id,
                    run.parameters.traces,
                    by_kernel[key].violations,
                    by_kernel[key].first,
                    by_kernel[key].shortest,
                    by_kernel[key].events,
                )
            )
    if work is not None:
        shutil.rmtree(work, ignore_errors=True)
    traces = sum(run.parameters.traces for run in runs)
    events = sum(run.manifest.events for run in runs)
    return Judgement(
        traces,
        events,
        tuple(counts),
        between - began,
        ended - between,
        tuple(not_shown),
        files_found,
        sum(run.parameters.traces for run in asked),
    )


def _require_agreement(run: Run, invariant: Invariant, kernel: Found, query: Found) -> None:
    if kernel != query:
        message = (
            f"{invariant.property_id} in {run.folder} ({run.parameters.profile}, {run.parameters.environment_name}): "
            f"the kernel finds {kernel}, the query {query}"
        )
        raise DisagreementError(message)
