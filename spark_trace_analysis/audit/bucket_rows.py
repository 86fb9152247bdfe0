"""The transactions of one bucket as columns: which records and ops each has, which are plain, and their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from spark_trace_analysis.audit.row_files import ROW_SCHEMA, table_of
from spark_trace_analysis.audit.rows import DELIVERED, EVENTS, HALF, OP
from spark_trace_analysis.audit.stage_files import appearing
from spark_trace_analysis.audit.state import TransactionState
from spark_trace_analysis.ingest.told_fields import NOTHING, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from spark_trace_analysis.audit.state import ScanOffsets
    from spark_trace_analysis.audit.table import TransactionRow

    Numbers = np.ndarray[Any, np.dtype[np.int64]]
    Flags = np.ndarray[Any, np.dtype[np.bool_]]

_STATES = [state.value for state in TransactionState]
_MOST, _LEAST = np.iinfo(np.int64).max, np.iinfo(np.int64).min


class Bucket:
    """The transactions of one bucket.

    Parameters
    ----------
    records, ops
        As the stages before wrote them.
    offsets
        Where the next round begins.

    Attributes
    ----------
    count
        How many transactions there are; all else is by their numbers.
    sizes, op_counts
        How many records and op entries each has.
    is_plain
        Whether its row can be told from columns alone.
    is_odd, agrees
        Whether only Python understood one of its records, and whether they agree with each other.
    puts_back, has_shadow
        Whether it has a copy with a check count, or one at whose place another half was written later.
    """

    def __init__(self, records: pa.Table, ops: pa.Table, offsets: ScanOffsets) -> None:
        self._offsets = offsets
        key, group, at = (records.column(name).to_numpy() for name in ("key", "group", "at"))
        order = np.lexsort((at, group, key))
        self._records = records.take(pa.array(order)).combine_chunks()
        self._key, self._group, self._at = key[order], group[order], at[order]
        is_first = np.ones(len(order), bool)
        is_first[1:] = (np.diff(self._key) != 0) | (np.diff(self._group) != 0)
        self._starts = np.flatnonzero(is_first)
        self.count = len(self._starts)
        self._owner = np.cumsum(is_first) - 1
        self.sizes = np.diff(np.append(self._starts, len(order)))
        self._join_ops(ops)
        self._look()

    def _column(self, name: str) -> Any:
        return self._records.column(name).to_numpy()

    def _join_ops(self, ops: pa.Table) -> None:
        half_at, is_shadow = ops.column("half_at").to_numpy(), ops.column("is_shadow").to_numpy()
        by_at = np.argsort(self._at, kind="stable")
        record = by_at[np.searchsorted(self._at[by_at], half_at)] if len(half_at) else half_at
        self.shadowed_at = {int(at) for at in half_at[is_shadow]}
        self.has_shadow = np.zeros(self.count, bool)
        self.has_shadow[self._owner[record[is_shadow]]] = True
        chosen = np.flatnonzero(~is_shadow)
        at = ops.column("at").to_numpy()
        chosen = chosen[np.lexsort((at[chosen], record[chosen]))]
        self._ops = ops.take(pa.array(chosen)).combine_chunks()
        self._op_record, self._op_at = record[chosen], at[chosen]
        self._op_owner = self._owner[self._op_record]
        self.op_counts = np.bincount(self._op_owner, minlength=self.count)
        self._op_starts = np.cumsum(self.op_counts) - self.op_counts

    def _sum(self, values: Any) -> Numbers:
        return np.add.reduceat(values.astype(np.int64), self._starts) if self.count else np.zeros(0, np.int64)

    def _highest(self, values: Any) -> Numbers:
        return np.maximum.reduceat(values, self._starts) if self.count else np.zeros(0, np.int64)

    def _are_one(self, name: str, *, may_lack: bool) -> Flags:
        """Whether the records of each transaction have one value; 0 says that a record has none."""
        values = self._column(name)
        lacks = (values == 0) & may_lack
        high = self._highest(np.where(lacks, _LEAST, values))
        low = -self._highest(-np.where(lacks, _MOST, values))
        return np.asarray(high <= low)

    def _look(self) -> None:
        """Find the plain transactions."""
        kind, place = self._column("kind"), np.arange(len(self._at))
        first_halves = self._sum(kind == Kind.FIRST_HALF)
        deliveries = self._sum(kind == Kind.DELIVERED)
        self.puts_back = self._sum(kind == Kind.PUT_BACK) > 0
        self.is_odd = self._sum(self._column("is_odd")) > 0
        self.agrees = self._are_one("unchanging", may_lack=False)
        for name in ("real_topic", "real_queue", "prepared_queue_offset"):
            self.agrees &= self._are_one(name, may_lack=True)
        self._half = half = self._highest(np.where(kind == Kind.FIRST_HALF, place, -1))
        self._delivery = delivery = self._highest(np.where(kind == Kind.DELIVERED, place, -1))
        is_plain = (first_halves == 1) & (deliveries == self.sizes - 1) & (deliveries <= 1)
        is_plain &= (self.op_counts <= 1) & (deliveries + self.op_counts > 0)
        is_plain &= half == self._starts
        is_plain &= ~self.is_odd & self.agrees & ~self.has_shadow & ~self._has_namesakes()
        queue_id, queue_offset = self._column("queue_id")[half], self._column("queue_offset")[half]
        flag, prepared, checks = self._column("flag"), self._column("prepared_offset"), self._column("check_times")
        from_half = (prepared[delivery] == self._at[half]) & (flag[delivery] == flag[half])
        is_plain &= (deliveries == 0) | (from_half & (checks[delivery] == NOTHING))
        first_op = np.minimum(self._op_starts, max(len(self._op_at) - 1, 0))
        has_op = self.op_counts > 0
        op_at, op_offset = self._first_op(first_op)
        is_plain &= (deliveries == 0) | ~has_op | (op_at > self._at[delivery])
        half_saved = _by_queue(queue_id, self._offsets.half_of)
        op_saved = _by_queue(queue_id, self._offsets.op_of)
        is_plain &= (queue_offset < half_saved) | (has_op & (op_offset >= op_saved))
        self.is_plain = np.asarray(is_plain, bool)
        self.is_delivered = deliveries == 1

    def _first_op(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        if not len(self._op_at):
            nothing = np.full(self.count, -1, np.int64)
            return nothing, nothing
        return self._op_at[numbers], self._ops.column("op_offset").to_numpy()[numbers]

    def _has_namesakes(self) -> Flags:
        """Whether another transaction has the same UNIQ_KEY, in another group."""
        keys = self._key[self._starts]
        same = np.diff(keys) == 0
        result = np.zeros(self.count, bool)
        result[1:] |= same
        result[:-1] |= same
        return result

    def namesakes(self) -> Iterator[list[int]]:
        """The transactions that share a UNIQ_KEY, in the order of their first records."""
        numbers = np.flatnonzero(self._has_namesakes())
        keys = self._key[self._starts[numbers]]
        for part in np.split(numbers, np.flatnonzero(np.diff(keys) != 0) + 1) if len(numbers) else ():
            yield sorted(map(int, part), key=lambda number: int(self._at[self._starts[number]]))

    def birth_of(self, number: int) -> int:
        """The birth of a transaction as a number."""
        return int(self._column("birth")[self._starts[number]])

    def births(self) -> Numbers:
        """The birth of every transaction."""
        births: Numbers = self._column("birth")[self._starts]
        return births

    def rows_of(self, numbers: Numbers) -> dict[str, list[Any]]:
        """The records of some transactions, one behind the other, by column."""
        rows = _ranges(self._starts[numbers], self.sizes[numbers])
        columns: dict[str, list[Any]] = self._records.take(pa.array(rows)).to_pydict()
        return columns

    def ops_of(self, numbers: Numbers) -> dict[str, list[Any]]:
        """Their op entries, by the copy that they name and in the order of the log."""
        rows = _ranges(self._op_starts[numbers], self.op_counts[numbers])
        columns: dict[str, list[Any]] = self._ops.take(pa.array(rows)).to_pydict()
        return columns

    def plain_table(self) -> pa.Table:
        """The rows of the plain transactions."""
        numbers = np.flatnonzero(self.is_plain)
        half, delivery = self._half[numbers], self._delivery[numbers]
        is_delivered, has_op = self.is_delivered[numbers], self.op_counts[numbers] > 0
        op = self._op_starts[numbers]
        count = len(numbers)
        named = self._records.select(["unique_key", "producer_group", "topic"]).take(pa.array(self._starts[numbers]))
        delivered, rolled_back = (_STATES.index(state) for state in ("delivered", "rolled_back"))
        states = pa.array(np.where(is_delivered, delivered, rolled_back).astype(np.int8))
        zeros = pa.array(np.zeros(count, np.int64))
        nothing = pa.ListArray.from_arrays(pa.array(np.zeros(count + 1, np.int32)), pa.array([], pa.string()))
        columns = [
            _flat(named.column("unique_key")),
            _flat(named.column("producer_group")),
            _flat(named.column("topic")),
            pa.DictionaryArray.from_arrays(states, pa.array(_STATES)),
            nothing,
            pa.array(is_delivered.astype(np.int64)),
            zeros,
            zeros,
            _list(np.ones(count, bool), self._column("queue_offset")[half]),
            _list(has_op, self._op_column("op_offset", op)),
            nothing,
            pa.array(self._at[self._starts[numbers]]),
            self._plain_history(half, delivery, op, is_delivered, has_op),
        ]
        arrays = [column.cast(field.type) for column, field in zip(columns, ROW_SCHEMA, strict=True)]
        return pa.Table.from_arrays(arrays, schema=ROW_SCHEMA)

    def _op_column(self, name: str, numbers: Numbers) -> Numbers:
        values = self._ops.column(name).to_numpy()
        column: Numbers = values[np.minimum(numbers, len(values) - 1)] if len(values) else np.zeros(len(numbers), int)
        return column

    def _plain_history(
        self, half: Numbers, delivery: Numbers, op: Numbers, is_delivered: Flags, has_op: Flags
    ) -> pa.ListArray:
        """Half, delivery and op, in the order in which they always stand where all is plain."""
        times = self._column("store_timestamp")
        there = np.stack([np.ones(len(half), bool), is_delivered, has_op], axis=1)
        words = np.broadcast_to([EVENTS.index(word) for word in (HALF, DELIVERED, OP)], there.shape)
        at = np.stack([self._at[half], self._at[delivery], self._op_column("at", op)], axis=1)
        time = np.stack([times[half], times[delivery], self._op_column("store_timestamp", op)], axis=1)
        events = pa.StructArray.from_arrays(
            [
                pa.DictionaryArray.from_arrays(pa.array(words[there].astype(np.int8)), pa.array(EVENTS)).cast(
                    pa.string()
                ),
                pa.array(at[there]),
                pa.array(time[there]),
            ],
            ["event", "at", "time"],
        )
        ends = np.append(0, np.cumsum(there.sum(axis=1))).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(ends), events)


def write_rows(path: Path, bucket: Bucket, rows: Mapping[int, TransactionRow]) -> dict[str, int]:
    """Write the rows of a bucket as Parquet.

    Parameters
    ----------
    rows
        Those of the transactions that are not told from columns.

    Returns
    -------
    dict of str to int
        State to the number of transactions.
    """
    plain = bucket.plain_table()
    told = table_of(list(rows.values()))
    with appearing(path) as unfinished, pq.ParquetWriter(unfinished, ROW_SCHEMA, compression="zstd") as writer:
        writer.write_table(plain)
        writer.write_table(told)
    counts = dict.fromkeys(_STATES, 0)
    delivered = int(np.count_nonzero(bucket.is_plain & bucket.is_delivered))
    counts["delivered"] += delivered
    counts["rolled_back"] += plain.num_rows - delivered
    for row in rows.values():
        counts[row.state.value] += 1
    return counts


def _flat(column: pa.ChunkedArray) -> pa.Array:
    flat = column.combine_chunks()
    return flat.chunk(0) if isinstance(flat, pa.ChunkedArray) else flat


def _list(there: Flags, values: Numbers) -> pa.ListArray:
    """Lists of one value where there is one, and of none elsewhere."""
    ends = np.append(0, np.cumsum(there)).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(values[there].astype(np.int64)))


def _by_queue(queue_ids: Any, offset_of: Any) -> Numbers:
    """A saved offset for each half, by its queue."""
    queues, inverse = np.unique(queue_ids, return_inverse=True)
    return np.array([offset_of(int(queue)) for queue in queues], np.int64)[inverse]


def _ranges(starts: Numbers, sizes: Numbers) -> Numbers:
    """All numbers of some ranges, one behind the other."""
    if not len(starts):
        return np.zeros(0, np.int64)
    ends = np.cumsum(sizes)
    return np.asarray(np.arange(ends[-1]) + np.repeat(starts - (ends - sizes), sizes))
