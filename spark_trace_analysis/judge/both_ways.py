"""Every property judged twice over the same runs: by Numba kernels on arrays, and by Polars expressions over rows.

Both look at whole files inside Spark tasks, each with a Parquet reader of its own. If the two ways give different
numbers for any property of any run, neither is believed.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import product
from time import perf_counter
from typing import Any, Protocol

import pyarrow as pa
from pyspark.sql import SparkSession, functions

from files.remote_path import Location
from files.writing import remove_folder
from spark_trace_analysis.cluster.jobs import described
from spark_trace_analysis.errors import BadTracesError, DisagreementError
from spark_trace_analysis.judge import by_expressions, by_kernel
from spark_trace_analysis.judge.properties import ALL, Invariant
from spark_trace_analysis.traces.manifest import Parameters, TraceRun, source_fingerprint
from spark_trace_analysis.traces.over_files import collected, count_cached, file_rows
from spark_trace_analysis.traces.runs import RunSettings, can_show, settings_of


@dataclass(frozen=True)
class ViolatingTraces:
    """How many traces of one run break one property; the first, and the shortest by the events up to the violation.

    Traces are by their numbers, of several the lowest; None if there is none.
    """

    violations: int = 0
    first: int | None = None
    shortest: int | None = None
    events: int | None = None

    def __str__(self) -> str:
        """In words.

        Examples
        --------
        >>> str(ViolatingTraces(2, 4, 9, 12))
        '2 violating traces (the first: 4; the shortest: 9 with 12 events)'
        """
        shortest = "" if self.shortest is None else f"; the shortest: {self.shortest} with {self.events} events"
        return f"{self.violations} violating traces (the first: {self.first}{shortest})"


@dataclass(frozen=True)
class Count:
    """How many traces of one run break one property; by numbers the first such trace, None if there is none.

    And the one that breaks it after the fewest events (of several, that with the lowest number), and after how many.
    """

    parameters: Parameters
    property_id: str
    violations: int
    first_trace: int | None
    shortest_trace: int | None = None
    shortest_events: int | None = None


@dataclass(frozen=True)
class TraceJudgement:
    """The result on which both ways of judging agree, and the seconds that each took.

    Attributes
    ----------
    not_shown
        Profile, environment and property where the traces of a run lack the events that the property is about.
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
            of = count.parameters
            row = table.setdefault(of.profile.name, {}).setdefault(of.environment_name, {})
            row[count.property_id] = row.get(count.property_id, 0) + count.violations
        return table


def judge(
    spark: SparkSession,
    runs: Sequence[TraceRun],
    invariants: Sequence[Invariant] = ALL,
    work: Location | None = None,
) -> TraceJudgement:
    """Judge runs by kernels and by expressions, and compare.

    Parameters
    ----------
    work
        A folder that the workers see. It caches the results of each file until all is judged: a second call after the
        first was killed goes on from there. Nothing is cached without one.

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
    files_found = 0 if work is None else count_cached(runs, work, _asked(runs, invariants, kernels))
    began = perf_counter()
    from_kernels = judge_files(spark, runs, invariants, kernels, work)
    between = perf_counter()
    from_expressions = judge_files(spark, runs, invariants, expressions, work)
    ended = perf_counter()
    counts = []
    not_shown = []
    for (number, run), invariant in product(enumerate(runs), invariants):
        of = run.parameters
        if not can_show(run, invariant.needs):
            not_shown.append((of.profile.name, of.environment_name, invariant.property_id))
            continue
        found, other = (way[number, invariant.property_id] for way in (from_kernels, from_expressions))
        _require_agreement(run, invariant, found, other)
        counts.append(Count(of, invariant.property_id, found.violations, found.first, found.shortest, found.events))
    if work is not None:
        remove_folder(work)
    return TraceJudgement(
        sum(run.parameters.traces for run in runs),
        sum(run.manifest.events for run in runs),
        tuple(counts),
        between - began,
        ended - between,
        tuple(not_shown),
        files_found,
    )


def _require_agreement(
    run: TraceRun, invariant: Invariant, kernel: ViolatingTraces, expression: ViolatingTraces
) -> None:
    if kernel != expression:
        message = (
            f"{invariant.property_id} in {run.folder} ({run.parameters.profile}, {run.parameters.environment_name}): "
            f"the kernel finds {kernel}, the expression {expression}"
        )
        raise DisagreementError(message)


class JudgeFile(Protocol):
    """From a file's bytes to rows with the columns of `_JUDGED`; several of one property are added up."""

    def __call__(
        self, content: pa.Buffer, invariants: Sequence[Invariant], settings: RunSettings
    ) -> Iterable[Mapping[str, Any]]:
        """Look at one file."""


_JUDGED = {
    "property": "string",
    "traces": "bigint",
    "events": "bigint",
    "violations": "bigint",
    "first": "bigint",
    "shortest": "bigint",
    "shortest_events": "bigint",
}


def judge_files(
    spark: SparkSession,
    runs: Sequence[TraceRun],
    invariants: Sequence[Invariant],
    judge_file: JudgeFile,
    work: Location | None = None,
) -> dict[tuple[int, str], ViolatingTraces]:
    """Judge each run by one way; gives the violations of each run, by its place, and each property.

    Raises `BadTracesError` as :func:`judge`.
    """
    judged = tuple(invariants)
    looks = [partial(judge_file, invariants=judged, settings=settings_of(run)) for run in runs]
    way = judge_file.__module__.rpartition(".")[2].replace("_", " ")
    with described(spark, f"judge {sum(run.parameters.traces for run in runs):,} traces {way}"):
        rows = collected(
            file_rows(spark, runs, looks, _JUDGED, work, _asked(runs, judged, judge_file))
            .groupBy("run", "property")
            .agg(
                functions.min("problem").alias("problem"),
                *(functions.sum(name).alias(name) for name in ("traces", "events", "violations")),
                functions.min("first").alias("first"),
                functions.min(
                    functions.when(
                        functions.col("shortest").isNotNull(), functions.struct("shortest_events", "shortest")
                    )
                ).alias("least"),
            )
        )
    verdicts = {(number, each.property_id): ViolatingTraces() for number in range(len(runs)) for each in judged}
    seen = [(0, 0)] * len(runs)
    for row in rows:
        events, shortest = row["least"] or (None, None)
        verdicts[row["run"], row["property"]] = ViolatingTraces(row["violations"], row["first"], shortest, events)
        seen[row["run"]] = row["traces"], row["events"]
    for run, (traces, events) in zip(runs, seen, strict=True):
        if (traces, events) != (run.parameters.traces, run.manifest.events):
            message = (
                f"{run.folder}: holds {traces} traces with {events} events, "
                f"the manifest says {run.parameters.traces} and {run.manifest.events}"
            )
            raise BadTracesError(message)
    return verdicts


def _asked(runs: Sequence[TraceRun], invariants: Sequence[Invariant], judge_file: JudgeFile) -> list[str]:
    """The cache keys of the runs: texts that change with this way's results of the same file."""
    names = " ".join(each.property_id for each in invariants)
    source = source_fingerprint(packages=("spec", "spark_trace_analysis"))
    return [f"{judge_file.__module__} {names} {source} {settings_of(run)}" for run in runs]
