"""Distributions over the transactions of a run, counted inside Spark tasks: small results for any number of traces.

A transaction counts from the moment when its half is stored; one that never got that far is not in any distribution.
Tasks count file by file, Spark adds up; what is collected grows with the number of different values, not of traces.
Beside them, the pairs of successive actions, and the traces whose pairs are rarest.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import log
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession, Window, functions

from spark_trace_analysis.cluster.jobs import described
from spark_trace_analysis.statistics.transaction_tally import QUANTITIES, Fates, Records, tally
from spark_trace_analysis.traces.manifest import Parameters, TraceRun
from spark_trace_analysis.traces.over_files import collected, file_rows
from spark_trace_analysis.traces.schema import WORDS
from spark_trace_analysis.traces.whole_traces import read_whole_traces
from spec.chapters.discarding import discard_half_unrecorded
from spec.chapters.end_transaction import refuse_late_end

Pairs = Mapping[tuple[str, str], int]
"""(action, the one after it) → how often."""

MILLIONTHS: Final = 1_000_000
RAREST: Final = 5
"""So many of the rarest traces of each run are listed; of equal ones, those with the lowest number."""


@dataclass(frozen=True)
class RareTrace:
    """A trace, and the mean logarithm of the frequencies of its pairs: the lower, the rarer."""

    trace: int
    mean_log_frequency: float


@dataclass(frozen=True)
class Actions:
    """The column ``action`` of a file: a code a row, the names that codes stand for, and the trace of each row."""

    names: tuple[str, ...]
    code: npt.NDArray[np.int16]
    trace: npt.NDArray[np.int64]

    def mask(self, *names: str) -> npt.NDArray[np.bool_]:
        """Whether a row's action is one of these."""
        return np.isin(self.code, [place for place, name in enumerate(self.names) if name in names])


def read_actions(content: pa.Buffer) -> Actions:
    """Read the actions of a file; whole files are small."""
    table = pq.ParquetFile(pa.BufferReader(content), read_dictionary=WORDS).read(columns=["trace", "action"])
    unified = table.column("action").unify_dictionaries()
    names = tuple(unified.chunk(0).dictionary.to_pylist()) if unified.num_chunks else ()
    codes = [chunk.indices.to_numpy() for chunk in unified.chunks] or [np.empty(0, np.int16)]
    return Actions(names, np.concatenate(codes).astype(np.int16), table.column("trace").to_numpy())


def count_pairs(actions: Actions) -> Iterator[tuple[str, str, int]]:
    """How often each action of a file is followed by each other, within a trace."""
    times = np.zeros(len(actions.names) ** 2, np.int64)
    for part in _parts(actions):
        times += np.bincount(_pairs(part)[_is_within(part)], minlength=len(times))
    for pair in np.flatnonzero(times).tolist():
        first, second = divmod(pair, len(actions.names))
        yield actions.names[first], actions.names[second], int(times[pair])


def _find_rarest(content: pa.Buffer, *, pairs: Pairs) -> Iterator[dict[str, int]]:
    """The traces of a file with the rarest pairs: (trace, millionths of the mean logarithm of a pair's frequency).

    The pairs are of the whole run, of which the file is a part. A trace of one event has no pairs, and no rarity.
    """
    for actions in _parts(read_actions(content)):
        yield from _rarest_of(actions, pairs)


def _rarest_of(actions: Actions, pairs: Pairs) -> Iterator[dict[str, int]]:
    total = sum(pairs.values())
    size = len(actions.names)
    logs = np.zeros(size * size)
    for place, first in enumerate(actions.names):
        for other, second in enumerate(actions.names):
            times = pairs.get((first, second))
            logs[place * size + other] = log(times / total) if times else 0.0
    within = np.flatnonzero(_is_within(actions))
    if not within.size:
        return
    numbers = actions.trace[within]
    starts = np.concatenate(([0], np.flatnonzero(np.diff(numbers)) + 1))
    sums = np.add.reduceat(logs[_pairs(actions)[within]], starts)
    means = sums / np.diff(np.concatenate((starts, [within.size])))
    score = np.rint(means * MILLIONTHS).astype(np.int64)
    order = np.lexsort((numbers[starts], score))[:RAREST]
    for trace, rarity in zip(numbers[starts][order].tolist(), score[order].tolist(), strict=True):
        yield {"trace": trace, "score": rarity}


_ROWS_A_PART = 1 << 20


def _parts(actions: Actions) -> Iterator[Actions]:
    """The same actions in parts that cut no trace, for memory's sake."""
    begin = 0
    while begin < len(actions.code):
        end = min(begin + _ROWS_A_PART, len(actions.code))
        end = int(np.searchsorted(actions.trace, actions.trace[end - 1], side="right"))
        yield Actions(actions.names, actions.code[begin:end], actions.trace[begin:end])
        begin = end


def _pairs(actions: Actions) -> npt.NDArray[np.int64]:
    codes = actions.code.astype(np.int64)
    pairs: npt.NDArray[np.int64] = codes[:-1] * len(actions.names) + codes[1:]
    return pairs


def _is_within(actions: Actions) -> npt.NDArray[np.bool_]:
    """Whether a row and the next one are of one trace."""
    within: npt.NDArray[np.bool_] = actions.trace[:-1] == actions.trace[1:]
    return within


_COUNTED = {"quantity": "string", "value": "bigint", "name": "string", "after": "string", "times": "bigint"}
_RARE = {"trace": "bigint", "score": "bigint"}

Distribution = Mapping[int, int]
"""Value → number of transactions that have it."""


@dataclass(frozen=True)
class RunStatistics:
    """The distributions of one run; quantities, fates and records are those of ``transaction_tally``, times in ticks.

    They are of transactions that had a half stored. Actions and pairs of them, one after the other in a trace, are
    counted; of the traces whose pairs are rarest among all of the run, the rarest stands first.
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
    """Aggregate each of some runs; raises `BadTracesError` for a file that is missing, changed or not readable."""
    looks = [partial(_count, keeps_discarded=run.parameters.profile.switches.keeps_discarded) for run in runs]
    keys = ("run", "quantity", "value", "name", "after", "problem")
    with described(spark, "count events, and the transactions that they are of"):
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
    with described(spark, "find the traces with the rarest pairs of actions"):
        rows = collected(frame.where(functions.col("place") <= RAREST))
    for row in sorted(rows, key=lambda row: (row["run"], row["place"])):
        found[row["run"]].append(RareTrace(row["trace"], row["score"] / MILLIONTHS))
    return [tuple(of_run) for of_run in found]


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
