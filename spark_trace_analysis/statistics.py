"""What engineers ask of many traces, counted inside Spark tasks: each result is small whatever the number of traces.

A transaction counts from the moment when its half is stored; one that never got that far is not in any distribution.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from spark_trace_analysis.manifest import Run
from spark_trace_analysis.over_files import over_files
from spark_trace_analysis.transaction_tally import tally
from spark_trace_analysis.whole_traces import ROWS_A_PIECE, read_whole_traces

_TOLD = {"quantity": "string", "value": "bigint", "action": "string", "times": "bigint"}

Distribution = Mapping[int, int]
"""Value → number of transactions that have it."""


@dataclass(frozen=True)
class RunStatistics:
    """The distributions of one run.

    Attributes
    ----------
    profile, environment
        Of the run; the environment as the report writes it.
    traces, transactions
        How many traces there are, and how many transactions in them had a half stored.
    checks, put_backs
        Checks that were sent for a transaction, each of which begins with a put-back; all copies of its half that the
        check service wrote, also those for an immunity, and those of which no producer could be asked.
    half_offsets
        Offsets of the half queue that a transaction used up, those of a repeated send and of a resumed half included.
    deliveries
        Messages of a transaction that consumers got.
    time_to_delivery
        Ticks from the first half to the first delivery, of those that were delivered.
    actions
        Action of the specification → how often it was taken.
    """

    profile: str
    environment: str
    traces: int
    transactions: int
    checks: Distribution
    put_backs: Distribution
    half_offsets: Distribution
    deliveries: Distribution
    time_to_delivery: Distribution
    actions: Mapping[str, int]


@dataclass(frozen=True)
class Statistics:
    """The statistics of each run, in the order in which the runs were given, and the seconds that they took."""

    runs: tuple[RunStatistics, ...]
    seconds: float = field(compare=False)


def statistics(spark: SparkSession, runs: Sequence[Run]) -> Statistics:
    """Aggregate runs.

    Raises
    ------
    BadTracesError
        A file is missing, changed or not readable.
    """
    began = perf_counter()
    found: list[dict[str, Counter[int]]] = [{} for _ in runs]
    actions = [Counter[str]() for _ in runs]
    for row in over_files(spark, runs, _tell, _TOLD):
        if row["action"] is not None:
            actions[row["run"]][row["action"]] += row["times"]
        else:
            found[row["run"]].setdefault(row["quantity"], Counter())[row["value"]] += row["times"]
    return Statistics(
        tuple(_of_run(run, found[number], actions[number]) for number, run in enumerate(runs)), perf_counter() - began
    )


def _tell(content: pa.Buffer) -> Iterator[dict[str, Any]]:
    """How often each action was taken in a file, and how many transactions have each value of each quantity."""
    actions, quantities = Counter[str](), Counter[tuple[str, int]]()
    for batch in pq.ParquetFile(pa.BufferReader(content)).iter_batches(ROWS_A_PIECE, columns=["action"]):
        names = batch.column("action").dictionary.to_pylist()
        times = np.bincount(batch.column("action").indices.to_numpy(), minlength=len(names)).tolist()
        actions.update(dict(zip(names, times, strict=True)))
    for traces in read_whole_traces(pa.BufferReader(content)):
        for quantity, numbers in tally(traces)._asdict().items():
            values, counts = np.unique(numbers, return_counts=True)
            quantities.update({(quantity, value): n for value, n in zip(values.tolist(), counts.tolist(), strict=True)})
    yield from ({"action": action, "times": n} for action, n in actions.items() if n)
    yield from ({"quantity": quantity, "value": value, "times": n} for (quantity, value), n in quantities.items())


def _of_run(run: Run, counted: Mapping[str, Distribution], actions: Mapping[str, int]) -> RunStatistics:
    found = {quantity: dict(sorted(distribution.items())) for quantity, distribution in counted.items()}
    return RunStatistics(
        profile=run.parameters.profile,
        environment=run.parameters.environment_name,
        traces=run.parameters.traces,
        transactions=sum(found.get("checks", {}).values()),
        checks=found.get("checks", {}),
        put_backs=found.get("put_backs", {}),
        half_offsets=found.get("half_offsets", {}),
        deliveries=found.get("deliveries", {}),
        time_to_delivery=found.get("time_to_delivery", {}),
        actions=dict(sorted(actions.items())),
    )
