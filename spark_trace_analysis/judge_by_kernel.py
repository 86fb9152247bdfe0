"""The one way of judging: kernels over the columns of whole files, inside Spark tasks; Spark adds their counts up."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 (the name that Spark's own guide uses)

from spark_trace_analysis.errors import BadTracesError
from spark_trace_analysis.found import Found, Verdicts
from spark_trace_analysis.invariants import Invariant, Rows, World
from spark_trace_analysis.invariants.invariant import Kernel
from spark_trace_analysis.manifest import Run, source_fingerprint
from spark_trace_analysis.over_files import count_kept, file_rows
from spark_trace_analysis.schema import ACTIONS
from spark_trace_analysis.whole_traces import WholeTraces, read_whole_traces
from spark_trace_analysis.world import world_of
from spec.events import EVENTS

_JUDGED = {
    "property": "string",
    "traces": "bigint",
    "events": "bigint",
    "violations": "bigint",
    "first": "bigint",
    "shortest": "bigint",
    "shortest_events": "bigint",
}


def judge_by_kernel(
    spark: SparkSession, runs: Sequence[Run], invariants: Sequence[Invariant], work: Path | None = None
) -> Verdicts:
    """Judge each run by each kernel.

    Raises
    ------
    BadTracesError
        A file is missing, changed or not readable; or it holds other traces than its manifest says.
    """
    judged = tuple(invariants)
    worlds = [world_of(run) for run in runs]
    looks = [partial(_judge_file, invariants=judged, world=world) for world in worlds]
    asked = _asked(runs, judged)
    rows = (
        file_rows(spark, runs, looks, _JUDGED, work, asked)
        .groupBy("run", "property")
        .agg(
            F.min("problem").alias("problem"),
            *(F.sum(name).alias(name) for name in ("traces", "events", "violations")),
            F.min("first").alias("first"),
            F.min(F.when(F.col("shortest").isNotNull(), F.struct("shortest_events", "shortest"))).alias("least"),
        )
        .collect()
    )
    problems = sorted(row["problem"] for row in rows if row["problem"])
    if problems:
        raise BadTracesError(problems[0])
    verdicts = {(number, each.property_id): Found() for number in range(len(runs)) for each in judged}
    seen = [(0, 0)] * len(runs)
    for row in rows:
        events, shortest = row["least"] or (None, None)
        verdicts[row["run"], row["property"]] = Found(row["violations"], row["first"], shortest, events)
        seen[row["run"]] = row["traces"], row["events"]
    for run, (traces, events) in zip(runs, seen, strict=True):
        if (traces, events) != (run.parameters.traces, run.manifest.events):
            message = (
                f"{run.folder}: holds {traces} traces with {events} events, "
                f"the manifest says {run.parameters.traces} and {run.manifest.events}"
            )
            raise BadTracesError(message)
    return verdicts


def count_judged(runs: Sequence[Run], invariants: Sequence[Invariant], work: Path) -> int:
    """How many files were judged before, so that what is kept of them in a folder is taken."""
    return count_kept(runs, work, _asked(runs, tuple(invariants)))


def find_violations(traces: WholeTraces, invariant: Invariant, world: World) -> npt.NDArray[np.int32]:
    """Give for each trace the number of events up to its first violation of a property, 0 where there is none."""
    at = np.zeros(len(traces.starts) - 1, np.int32)
    rows = Rows(*(getattr(traces, name) for name in Rows._fields))
    events = np.array([EVENTS.index(name) for name in invariant.events], np.int16)
    actions = np.array([ACTIONS.index(name) for name in invariant.actions], np.int16)
    _compiled(invariant.kernel)(traces.starts, rows, events, actions, world, at)
    return at


def _judge_file(content: pa.Buffer, invariants: Sequence[Invariant], world: World) -> Iterator[dict[str, Any]]:
    """One row a property and piece of the file."""
    for traces in read_whole_traces(pa.BufferReader(content)):
        numbers = traces.trace[traces.starts[:-1]]
        for invariant in invariants:
            at = find_violations(traces, invariant, world)
            violating = np.flatnonzero(at)
            row: dict[str, Any] = {
                "property": invariant.property_id,
                "traces": len(at),
                "events": len(traces.trace),
                "violations": len(violating),
            }
            if violating.size:
                least = violating[np.lexsort((numbers[violating], at[violating]))[0]]
                row |= {
                    "first": int(numbers[violating].min()),
                    "shortest": int(numbers[least]),
                    "shortest_events": int(at[least]),
                }
            yield row


@lru_cache(maxsize=64)
def _compiled(kernel: Kernel) -> Callable[..., None]:
    compiled: Callable[..., None] = numba.njit(cache=True)(kernel)
    return compiled


def _asked(runs: Sequence[Run], invariants: Sequence[Invariant]) -> list[str]:
    """A text for each run that changes with what the kernels say of the same file."""
    names = " ".join(each.property_id for each in invariants)
    source = source_fingerprint("", ("spec", "spark_trace_analysis"))
    return [f"{names} {source} {world_of(run)}" for run in runs]
