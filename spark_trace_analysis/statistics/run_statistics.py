"""Distributions over the transactions of a run, counted inside Spark tasks: small results for any number of traces.

A transaction counts from the moment when its half is stored; one that never got that far is not in any distribution.
Tasks count file by file, Spark adds up; what is collected grows with the number of different values, not of traces.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession, Window, functions

from spark_trace_analysis.statistics.action_pairs import (
    MILLIONTHS,
    RAREST,
    Pairs,
    RareTrace,
    count_pairs,
    rarest,
    read_actions,
)
from spark_trace_analysis.statistics.transaction_tally import QUANTITIES, Fates, Records, tally
from spark_trace_analysis.traces.manifest import Parameters, TraceRun
from spark_trace_analysis.traces.over_files import collected, file_rows
from spark_trace_analysis.traces.whole_traces import read_whole_traces
from spec.chapters.discarding import discard_half_unrecorded
from spec.chapters.end_transaction import refuse_late_end

_COUNTED = {"quantity": "string", "value": "bigint", "name": "string", "after": "string", "times": "bigint"}
_RARE = {"trace": "bigint", "score": "bigint"}

Distribution = Mapping[int, int]
"""Value → number of transactions that have it."""


@dataclass(frozen=True)
class RunStatistics:
    """The distributions of one run.

    Attributes
    ----------
    parameters
        Of the run.
    transactions
        How many had a half stored.
    checks, put_backs, half_offsets, deliveries, records, time_to_delivery, settled_lag, age_at_discard, op_lag
        As ``transaction_tally.Tally`` says; times in ticks.
    actions
        Action of the specification → how often it was taken.
    fates, written
        As ``transaction_tally`` says, of all transactions together.
    pairs
        How often an action followed another in a trace.
    rarest
        The traces whose pairs are rarest among all of the run, the rarest first.
    """

    parameters: Parameters
    transactions: int
    checks: Distribution
    put_backs: Distribution
    half_offsets: Distribution
    deliveries: Distribution
    time_to_delivery: Distribution
    actions: Mapping[str, int]
    records: Distribution
    settled_lag: Distribution
    age_at_discard: Distribution
    op_lag: Distribution
    fates: Fates
    written: Records
    pairs: Pairs
    rarest: tuple[RareTrace, ...]

    @property
    def delivered(self) -> int:
        """Transactions that were delivered."""
        return sum(times for value, times in self.deliveries.items() if value > 0)


def statistics(spark: SparkSession, runs: Sequence[TraceRun]) -> tuple[RunStatistics, ...]:
    """Aggregate each of some runs.

    Raises
    ------
    BadTracesError
        A file is missing, changed or not readable.
    """
    looks = [partial(_count, keeps_discarded=run.parameters.profile.switches.keeps_discarded) for run in runs]
    keys = ("run", "quantity", "value", "name", "after", "problem")
    counted = collected(
        file_rows(spark, runs, looks, _COUNTED).groupBy(*keys).agg(functions.sum("times").alias("times"))
    )
    found: list[dict[str, Counter[Any]]] = [{} for _ in runs]
    for row in counted:
        key = row["value"] if row["after"] is None else (row["name"], row["after"])
        if row["value"] is None and row["after"] is None:
            key = row["name"]
        found[row["run"]].setdefault(row["quantity"], Counter())[key] += row["times"]
    rare = _rarest(spark, runs, [counters.get("pair", {}) for counters in found])
    return tuple(_of_run(run, found[number], rare[number]) for number, run in enumerate(runs))


def _count(content: pa.Buffer, *, keeps_discarded: bool) -> Iterator[dict[str, Any]]:
    """How often each action and pair is in a file, and how many transactions have each value of each quantity."""
    actions = read_actions(content)
    times = np.bincount(actions.code, minlength=len(actions.names)).tolist()
    for name, often in zip(actions.names, times, strict=True):
        if often:
            yield {"quantity": "action", "name": name, "times": often}
    for name, after, often in count_pairs(actions):
        yield {"quantity": "pair", "name": name, "after": after, "times": often}
    recorded = ~actions.mask(discard_half_unrecorded.__name__) & keeps_discarded
    late = actions.mask(refuse_late_end.__name__)
    quantities, sums = Counter[tuple[str, int]](), Counter[tuple[str, str]]()
    begin = 0
    for traces in read_whole_traces(pa.BufferReader(content)):
        rows = slice(begin, begin + len(traces.trace))
        begin = rows.stop
        tallied = tally(traces, recorded[rows], late[rows])
        for quantity in QUANTITIES:
            values, counts = np.unique(getattr(tallied, quantity), return_counts=True)
            quantities.update({(quantity, value): n for value, n in zip(values.tolist(), counts.tolist(), strict=True)})
        sums.update({("fate", name): n for name, n in tallied.fates._asdict().items()})
        sums.update({("written", name): n for name, n in tallied.written._asdict().items()})
    yield from ({"quantity": quantity, "value": value, "times": n} for (quantity, value), n in quantities.items())
    yield from ({"quantity": quantity, "name": name, "times": n} for (quantity, name), n in sums.items())


def _rarest(spark: SparkSession, runs: Sequence[TraceRun], pairs: Sequence[Pairs]) -> list[tuple[RareTrace, ...]]:
    looks = [partial(_find_rarest, pairs=of_run) for of_run in pairs]
    by_rarity = Window.partitionBy("run").orderBy(functions.col("problem").desc_nulls_last(), "score", "trace")
    frame = file_rows(spark, runs, looks, _RARE).withColumn("place", functions.row_number().over(by_rarity))
    found: list[list[RareTrace]] = [[] for _ in runs]
    for row in sorted(
        collected(frame.where(functions.col("place") <= RAREST)), key=lambda row: (row["run"], row["place"])
    ):
        found[row["run"]].append(RareTrace(row["trace"], row["score"] / MILLIONTHS))
    return [tuple(of_run) for of_run in found]


def _find_rarest(content: pa.Buffer, *, pairs: Pairs) -> Iterator[dict[str, Any]]:
    for trace, score in rarest(read_actions(content), pairs):
        yield {"trace": trace, "score": score}


def _of_run(run: TraceRun, found: Mapping[str, Mapping[Any, int]], rare: tuple[RareTrace, ...]) -> RunStatistics:
    def ordered(quantity: str) -> dict[Any, int]:
        return dict(sorted(found.get(quantity, {}).items()))

    distributions = {quantity: ordered(quantity) for quantity in QUANTITIES}
    fates, written = found.get("fate", {}), found.get("written", {})
    return RunStatistics(
        parameters=run.parameters,
        transactions=sum(distributions["checks"].values()),
        actions=ordered("action"),
        fates=Fates(*(fates.get(name, 0) for name in Fates._fields)),
        written=Records(*(written.get(name, 0) for name in Records._fields)),
        pairs=ordered("pair"),
        rarest=rare,
        **distributions,
    )
