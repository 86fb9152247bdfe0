"""How many distinct states random walks see, against the number of all states that an exhaustive search finds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from model_check.check import check
from spark_trace_analysis.traces.event_source import walker_of
from spark_trace_analysis.traces.manifest import SPECIFICATION, Parameters, Run, options_of

WALKS: Final = 20_000
"""Of so many walks of a run, from number 0 on, the states are told apart."""

MOST_STATES: Final = 2_000_000
"""An instance with more states than these is not searched for the sake of this number."""

_WALKS_A_BLOCK: Final = 1_000


@dataclass(frozen=True)
class StatesSeen:
    """How many states of an instance some walks saw.

    Attributes
    ----------
    traces
        The walks that were looked at, from number 0 on.
    seen
        Distinct states of them, told apart by their 64-bit hashes.
    states
        All states that an exhaustive search finds.
    command
        What counts all states again.
    """

    profile: str
    environment: str
    instance: str
    traces: int
    seen: int
    states: int
    command: str


def states_seen(spark: SparkSession, runs: Sequence[Run]) -> tuple[StatesSeen, ...]:
    """Count for each run of the specification whose instance is small enough to be searched."""
    searched = []
    for told in (run.parameters for run in runs if run.parameters.of == SPECIFICATION):
        result = check(told.profile, told.environment, told.instance, most_states=MOST_STATES)
        if result.complete:
            searched.append((replace(told, traces=min(told.traces, WALKS)), result.distinct))
    seen = count_states(spark, [told for told, _ in searched])
    return tuple(_seen(told, number, states) for (told, states), number in zip(searched, seen, strict=True))


def _seen(told: Parameters, number: int, states: int) -> StatesSeen:
    command = f"halfcheck check {options_of(told.profile, told.instance, told.environment)}"
    return StatesSeen(told.profile, told.environment_name, told.instance, told.traces, number, states, command)


def count_states(spark: SparkSession, runs: Sequence[Parameters]) -> list[int]:
    """Count the distinct states of each run's walks; Spark tells them apart, and only their numbers are collected."""
    blocks = [
        (number, first, min(_WALKS_A_BLOCK, told.traces - first))
        for number, told in enumerate(runs)
        for first in range(0, told.traces, _WALKS_A_BLOCK)
    ]
    if not blocks:
        return []

    def visit(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for place in batch.column(0).to_pylist():
                number, first, count = blocks[place]
                told = runs[number]
                hashes = walker_of(told).visited(told.seed, first, count, told.steps).view(np.int64)
                yield pa.RecordBatch.from_pydict({"run": np.full(len(hashes), number), "state": hashes})

    tasks = min(spark.sparkContext.defaultParallelism, len(blocks))
    distinct = spark.range(0, len(blocks), 1, tasks).mapInArrow(visit, "run bigint, state bigint").distinct()
    counted = {row["run"]: row["count"] for row in distinct.groupBy("run").count().collect()}
    return [counted[number] for number in range(len(runs))]
