"""Every property judged twice over the same runs: by Numba kernels on arrays, and by Spark SQL on rows.

The kernels read whole files inside their tasks (and so find a changed byte by its checksum); the queries go through
Spark's own Parquet reader. If the two ways give different numbers for any property of any run, neither is believed.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from time import perf_counter
from typing import Any

import numba
import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (the name that Spark's own guide uses)

from spark_trace_analysis.errors import BadTracesError, DisagreementError
from spark_trace_analysis.invariants import ALL, Invariant
from spark_trace_analysis.invariants.invariant import Kernel
from spark_trace_analysis.manifest import Run
from spark_trace_analysis.over_files import over_files
from spark_trace_analysis.whole_traces import read_whole_traces
from spec.events import EVENTS

_JUDGED = {"property": "string", "traces": "bigint", "events": "bigint", "violations": "bigint", "first": "bigint"}


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
    """What both ways of judging agree on, and the seconds that each took."""

    traces: int
    events: int
    counts: tuple[Count, ...]
    kernel_seconds: float
    query_seconds: float

    def violations(self) -> dict[str, dict[str, dict[str, int]]]:
        """Violating traces by profile, environment and property, runs of the same kind added up."""
        table: dict[str, dict[str, dict[str, int]]] = {}
        for count in self.counts:
            row = table.setdefault(count.profile, {}).setdefault(count.environment, {})
            row[count.property_id] = row.get(count.property_id, 0) + count.violations
        return table


@dataclass(frozen=True)
class _Found:
    violations: int
    first: int | None

    def and_also(self, other: "_Found") -> "_Found":
        firsts = [found.first for found in (self, other) if found.first is not None]
        return _Found(self.violations + other.violations, min(firsts, default=None))


_Verdicts = dict[tuple[int, str], _Found]


def judge(spark: SparkSession, runs: Sequence[Run], invariants: Sequence[Invariant] = ALL) -> Judgement:
    """Judge runs by kernels and by queries, and compare.

    Raises
    ------
    BadTracesError
        A file is missing, changed or not readable; or it holds other traces than its manifest says.
    DisagreementError
        A kernel and a query differ; both numbers are named.
    """
    began = perf_counter()
    by_kernel, traces, events = _judge_by_kernel(spark, runs, invariants)
    between = perf_counter()
    by_query = _judge_by_query(spark, runs, invariants)
    ended = perf_counter()
    counts = []
    for number, run in enumerate(runs):
        for invariant in invariants:
            key = (number, invariant.property_id)
            _require_agreement(run, invariant, by_kernel[key], by_query[key])
            counts.append(
                Count(
                    run.parameters.profile,
                    run.parameters.environment_name,
                    invariant.property_id,
                    run.parameters.traces,
                    by_kernel[key].violations,
                    by_kernel[key].first,
                )
            )
    return Judgement(traces, events, tuple(counts), between - began, ended - between)


def event_rows(spark: SparkSession, runs: Sequence[Run]) -> DataFrame:
    """Give all runs' events as one data frame: the fields of an event, and ``run``, the run's place in ``runs``."""
    frames = [
        spark.read.parquet(*(str(run.folder / file.name) for file in run.manifest.files)).withColumn(
            "run", F.lit(number)
        )
        for number, run in enumerate(runs)
    ]
    return reduce(DataFrame.unionByName, frames)


def _require_agreement(run: Run, invariant: Invariant, kernel: _Found, query: _Found) -> None:
    if kernel != query:
        message = (
            f"{invariant.property_id} in {run.folder} ({run.parameters.profile}, {run.parameters.environment_name}): "
            f"the kernel finds {kernel.violations} violating traces (the first: {kernel.first}), "
            f"the query {query.violations} (the first: {query.first})"
        )
        raise DisagreementError(message)


def _judge_by_query(spark: SparkSession, runs: Sequence[Run], invariants: Sequence[Invariant]) -> _Verdicts:
    event_rows(spark, runs).createOrReplaceTempView("events")
    found = {
        (number, invariant.property_id): _Found(0, None) for number in range(len(runs)) for invariant in invariants
    }
    counted = " UNION ALL ".join(
        f"SELECT '{invariant.property_id}' AS property, run, count(*) AS violations, min(trace) AS first "  # noqa: S608
        f"FROM ({invariant.query}) GROUP BY run"
        for invariant in invariants
    )
    for row in spark.sql(counted).collect():
        found[row["run"], row["property"]] = _Found(row["violations"], row["first"])
    return found


def _judge_by_kernel(
    spark: SparkSession, runs: Sequence[Run], invariants: Sequence[Invariant]
) -> tuple[_Verdicts, int, int]:
    judged = tuple(invariants)
    verdicts = {
        (number, invariant.property_id): _Found(0, None) for number in range(len(runs)) for invariant in invariants
    }
    seen = [Counter[str]() for _ in runs]
    for row in over_files(spark, runs, lambda content: _judge_file(content, judged), _JUDGED):
        key = row["run"], row["property"]
        verdicts[key] = verdicts[key].and_also(_Found(row["violations"], row["first"]))
        if row["property"] == judged[0].property_id:
            seen[row["run"]] += Counter(traces=row["traces"], events=row["events"])
    for run, found in zip(runs, seen, strict=True):
        if (found["traces"], found["events"]) != (run.parameters.traces, run.manifest.events):
            message = (
                f"{run.folder}: holds {found['traces']} traces with {found['events']} events, "
                f"the manifest says {run.parameters.traces} and {run.manifest.events}"
            )
            raise BadTracesError(message)
    return verdicts, sum(run.parameters.traces for run in runs), sum(run.manifest.events for run in runs)


def _judge_file(content: pa.Buffer, invariants: Sequence[Invariant]) -> Iterator[dict[str, Any]]:
    """One row a property and piece of the file."""
    for traces in read_whole_traces(pa.BufferReader(content)):
        for invariant in invariants:
            violated = np.zeros(len(traces.starts) - 1, np.bool_)
            codes = np.array([EVENTS.index(name) for name in invariant.events], np.int16)
            _compiled(invariant.kernel)(
                traces.starts, traces.event, traces.transaction, traces.outcome, codes, violated
            )
            numbers = traces.trace[traces.starts[:-1][violated]]
            yield {
                "property": invariant.property_id,
                "traces": len(violated),
                "events": len(traces.trace),
                "violations": len(numbers),
                "first": int(numbers.min()) if numbers.size else None,
            }


@lru_cache(maxsize=64)
def _compiled(kernel: Kernel) -> Callable[..., None]:
    compiled: Callable[..., None] = numba.njit(cache=True)(kernel)
    return compiled
