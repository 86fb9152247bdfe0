"""How many distinct states random walks see, against the number of all states that an exhaustive search finds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from model_check.check import check
from model_check.question import Question
from spark_trace_analysis.cluster.jobs import described
from spark_trace_analysis.traces.event_source import walker_of
from spark_trace_analysis.traces.manifest import SPECIFICATION, Parameters, TraceRun

WALKS: Final = 20_000
"""So many walks of a run, from number 0 on, have their distinct states counted."""

MOST_STATES: Final = 2_000_000
"""An instance with more states than these is not searched for the sake of this number."""

_WALKS_A_BLOCK: Final = 1_000


@dataclass(frozen=True)
class StatesSeen:
    """How many distinct states of an instance some walks saw, by 64-bit hashes, and how many there are in all."""

    parameters: Parameters
    seen: int
    states: int

    @property
    def command(self) -> str:
        """The command that counts all states again."""
        return f"halfcheck check {self.parameters.options}"


def states_seen(spark: SparkSession, runs: Sequence[TraceRun]) -> tuple[StatesSeen, ...]:
    """Count for each run of the specification whose instance is small enough to be searched."""
    searched = []
    for parameters in (run.parameters for run in runs if run.parameters.of == SPECIFICATION):
        numbers = check(Question(world=parameters.world, most_states=MOST_STATES)).numbers
        if numbers.complete:
            searched.append((replace(parameters, traces=min(parameters.traces, WALKS)), numbers.distinct))
    seen = count_states(spark, [parameters for parameters, _ in searched])
    return tuple(StatesSeen(of, number, states) for (of, states), number in zip(searched, seen, strict=True))


def count_states(spark: SparkSession, runs: Sequence[Parameters]) -> list[int]:
    """Count the distinct states of each run's walks; Spark compares them, and only their numbers are collected."""
    blocks = [
        (number, first, min(_WALKS_A_BLOCK, parameters.traces - first))
        for number, parameters in enumerate(runs)
        for first in range(0, parameters.traces, _WALKS_A_BLOCK)
    ]
    if not blocks:
        return []

    def visit(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for place in batch.column(0).to_pylist():
                number, first, count = blocks[place]
                parameters = runs[number]
                hashes = walker_of(parameters).visited(parameters.seed, first, count, parameters.steps).view(np.int64)
                yield pa.RecordBatch.from_pydict({"run": np.full(len(hashes), number), "state": hashes})

    tasks = min(spark.sparkContext.defaultParallelism, len(blocks))
    distinct = spark.range(0, len(blocks), 1, tasks).mapInArrow(visit, "run bigint, state bigint").distinct()
    with described(spark, "count the states that walks have seen"):
        counted = {row["run"]: row["count"] for row in distinct.groupBy("run").count().collect()}
    return [counted[number] for number in range(len(runs))]
