"""How many distinct states random walks see, against the number of all states that an exhaustive search finds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from model_check.check import check
from model_check.walk import Walker
from spark_trace_analysis.manifest import SPECIFICATION, Parameters, Run

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


def states_seen(spark: SparkSession, runs: Sequence[Run], walks: int = WALKS) -> tuple[StatesSeen, ...]:
    """Count for each run of the specification whose instance is small enough to be searched."""
    told = []
    for parameters in (run.parameters for run in runs if run.parameters.of == SPECIFICATION):
        searched = check(parameters.profile, parameters.environment, parameters.instance, most_states=MOST_STATES)
        if not searched.complete:
            continue
        counted = min(parameters.traces, walks)
        faults = f" --faults {','.join(parameters.environment)}" if parameters.environment else ""
        told.append(
            StatesSeen(
                parameters.profile,
                parameters.environment_name,
                parameters.instance,
                counted,
                count_states(spark, parameters, counted),
                searched.distinct,
                f"halfcheck check --profile {parameters.profile} --instance {parameters.instance}{faults}",
            )
        )
    return tuple(told)


def count_states(spark: SparkSession, parameters: Parameters, walks: int) -> int:
    """Count the distinct states of the first walks of a run; only their number is collected."""

    def visit(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        walker = _walker(parameters.profile, parameters.environment, parameters.instance, parameters.choice)
        for batch in batches:
            for first in batch.column(0).to_pylist():
                count = min(_WALKS_A_BLOCK, walks - first)
                hashes = walker.visited(parameters.seed, first, count, parameters.steps)
                yield pa.RecordBatch.from_arrays([pa.array(hashes.view(np.int64))], ["state"])

    tasks = min(spark.sparkContext.defaultParallelism, -(-walks // _WALKS_A_BLOCK))
    return spark.range(0, walks, _WALKS_A_BLOCK, tasks).mapInArrow(visit, "state bigint").distinct().count()


@lru_cache(maxsize=8)
def _walker(profile: str, environment: tuple[str, ...], instance: str, choice: str) -> Walker:
    return Walker(profile, environment, instance, choice)
