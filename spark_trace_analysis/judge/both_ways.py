"""Every property judged twice over the same runs: by Numba kernels on arrays, and by Polars expressions over rows.

Both look at whole files inside Spark tasks, each with a Parquet reader of its own. If the two ways give different
numbers for any property of any run, neither is believed.
"""

import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from time import perf_counter

from pyspark.sql import SparkSession

from spark_trace_analysis.errors import DisagreementError
from spark_trace_analysis.judge import by_expressions, by_kernel
from spark_trace_analysis.judge.found import Found
from spark_trace_analysis.judge.judge_files import count_judged, judge_files
from spark_trace_analysis.judge.properties import ALL, Invariant
from spark_trace_analysis.traces.manifest import Run
from spark_trace_analysis.traces.run_settings import can_show


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
    """

    traces: int
    events: int
    counts: tuple[Count, ...]
    kernel_seconds: float
    expression_seconds: float
    not_shown: tuple[tuple[str, str, str], ...] = ()
    files_found: int = 0

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
) -> Judgement:
    """Judge runs by kernels and by expressions, and compare.

    Parameters
    ----------
    work
        A folder that the workers see. What is found in a file is kept in it until all is judged: a second call after
        the first was killed goes on from there. Nothing is kept without one.

    Raises
    ------
    BadTracesError
        A file is missing, changed or not readable; or it holds other traces than its manifest says.
    DisagreementError
        A kernel and an expression differ; both numbers are named.
    """
    if work is not None:
        with suppress(OSError):
            work.mkdir(parents=True, exist_ok=True)
    kernels, expressions = by_kernel.judge_file, by_expressions.judge_file
    files_found = 0 if work is None else count_judged(runs, invariants, kernels, work)
    began = perf_counter()
    told_by_kernel = judge_files(spark, runs, invariants, kernels, work)
    between = perf_counter()
    told_by_expression = judge_files(spark, runs, invariants, expressions, work)
    ended = perf_counter()
    counts = []
    not_shown = []
    for (number, run), invariant in product(enumerate(runs), invariants):
        of_run = run.parameters.profile, run.parameters.environment_name, invariant.property_id
        if not can_show(run, invariant.needs):
            not_shown.append(of_run)
            continue
        found, other = (told[number, invariant.property_id] for told in (told_by_kernel, told_by_expression))
        _require_agreement(run, invariant, found, other)
        traces = run.parameters.traces
        counts.append(Count(*of_run, traces, found.violations, found.first, found.shortest, found.events))
    if work is not None:
        shutil.rmtree(work, ignore_errors=True)
    return Judgement(
        sum(run.parameters.traces for run in runs),
        sum(run.manifest.events for run in runs),
        tuple(counts),
        between - began,
        ended - between,
        tuple(not_shown),
        files_found,
    )


def _require_agreement(run: Run, invariant: Invariant, kernel: Found, expression: Found) -> None:
    if kernel != expression:
        message = (
            f"{invariant.property_id} in {run.folder} ({run.parameters.profile}, {run.parameters.environment_name}): "
            f"the kernel finds {kernel}, the expression {expression}"
        )
        raise DisagreementError(message)
