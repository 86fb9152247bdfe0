"""The rows of transactions as Arrow tables, as an audit writes them: straight histories by columns, others singly."""

from __future__ import annotations

from itertools import accumulate, chain, compress
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from files.writing import appearing
from spark_trace_analysis.audit.columns.audited_tables import TRANSACTIONS
from spark_trace_analysis.audit.columns.bucket import Bucket, Flags, Numbers, ranges
from spark_trace_analysis.audit.columns.straight_histories import STATES, Straight
from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.audit.rules.transaction_row import (
    EARLIEST_MS,
    EVENTS,
    LATEST_MS,
    HistoryEvent,
    Moments,
    TransactionRow,
)
from spark_trace_analysis.audit.selection import COLUMNS, Selection
from spark_trace_analysis.records.transaction_record import NOTHING, RecordKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from files.remote_path import Location


ROW_SCHEMA = TRANSACTIONS.schema
"""A row of the files that an audit writes, one a transaction."""

_REPEATED = [
    "group", "topic", "tags", "state", "also.list.element", "resembles.list.element", "history.list.element.event",
]  # fmt: skip
"""Columns in which values recur, so that a dictionary makes them small."""

_ROWS_OF_A_GROUP = 1 << 17
_NO_TIME = EARLIEST_MS - 1


def table_of(rows: Sequence[TransactionRow]) -> pa.Table:
    """Rows as they are written into files."""
    *plain, history = ROW_SCHEMA
    times = dict(zip(Moments._fields, zip(*(row.moments for row in rows), strict=True), strict=True)) if rows else {}
    arrays = [
        _times(np.array([_NO_TIME if time is None else time for time in times.get(field.name, ())], np.int64))
        if field.name in Moments._fields
        else pa.array([getattr(row, field.name) for row in rows], field.type)
        for field in plain
    ]
    return pa.Table.from_arrays([*arrays, _histories([row.history for row in rows], history.type)], schema=ROW_SCHEMA)


def _times(milliseconds: Numbers) -> pa.Array:
    """Times as a column; null for none and for what is no date."""
    is_none = (milliseconds < EARLIEST_MS) | (milliseconds > LATEST_MS)
    return pa.array(milliseconds, pa.timestamp("ms", "UTC"), mask=is_none)


def rows_chosen(rows: Sequence[TransactionRow], selection: Selection) -> Iterator[TransactionRow]:
    """The rows that a selection asks for."""
    if selection.is_everything:
        yield from rows
        return
    for start in range(0, len(rows), _ROWS_OF_A_GROUP):
        chunk = rows[start : start + _ROWS_OF_A_GROUP]
        yield from compress(chunk, selection.flags(table_of(chunk).select(COLUMNS)))


def _histories(histories: Sequence[tuple[HistoryEvent, ...]], kind: pa.ListType) -> pa.ListArray:
    """The events of all rows one behind the other, and where each row's end."""
    columns = zip(*chain.from_iterable(histories), strict=True) if any(histories) else ((),) * len(HistoryEvent._fields)
    fields = list(kind.value_type)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, fields, strict=True)]
    ends = pa.array([0, *accumulate(map(len, histories))], pa.int32())
    return pa.ListArray.from_arrays(ends, pa.StructArray.from_arrays(arrays, fields=fields), type=kind)


def straight_table(bucket: Bucket, straight: Straight, chosen: Flags) -> pa.Table:
    """The rows of some straight histories."""
    numbers, put_backs = straight.numbers[chosen], straight.put_backs[chosen]
    starts, sizes, ops = bucket.starts[numbers], bucket.sizes[numbers], bucket.op_counts[numbers]
    count = len(numbers)
    nothing = pa.ListArray.from_arrays(pa.array(np.zeros(count + 1, np.int32)), pa.array([], pa.string()))
    op_places = ranges(bucket.op_starts[numbers], ops)
    immunity = bucket.column("immunity_ms")[starts]
    copies = ranges(starts, put_backs + 1)
    columns = [
        bucket.texts("unique_key", starts),
        bucket.texts("producer_group", starts),
        bucket.texts("topic", starts),
        pa.DictionaryArray.from_arrays(
            pa.array(straight.state[chosen].astype(np.int8)), pa.array([state.value for state in STATES])
        ),
        nothing,
        pa.array((straight.state[chosen] == STATES.index(TransactionState.DELIVERED)).astype(np.int64)),
        pa.array(put_backs),
        pa.array(put_backs),
        _lists(put_backs + 1, pa.array(bucket.column("queue_offset")[copies])),
        _lists(ops, pa.array(bucket.op_column("op_offset")[op_places])),
        nothing,
        bucket.texts("message_keys", starts),
        bucket.texts("message_tags", starts),
        pa.array(bucket.column("born_timestamp")[starts]),
        pa.array(immunity, mask=immunity == NOTHING),
        pa.nulls(count, pa.string()),
        pa.array(bucket.at[starts]),
        pa.array(bucket.at[starts]),
        *_straight_times(bucket, straight, chosen),
        _history(bucket, ranges(starts, sizes), sizes, op_places, ops),
    ]
    arrays = [column.cast(field.type) for column, field in zip(columns, ROW_SCHEMA, strict=True)]
    return pa.Table.from_arrays(arrays, schema=ROW_SCHEMA)


def _straight_times(bucket: Bucket, straight: Straight, chosen: Flags) -> list[pa.Array]:
    """:class:`Moments` of some straight histories, of which the delivery or the discard, if any, is the last record."""
    numbers, state = straight.numbers[chosen], straight.state[chosen]
    starts, ops = bucket.starts[numbers], bucket.op_counts[numbers]
    stored = bucket.column("store_timestamp")
    ends = np.cumsum(bucket.sizes)[numbers] - 1
    settled = np.full(len(numbers), _NO_TIME)
    settled[ops > 0] = bucket.op_column("store_timestamp")[bucket.op_starts[numbers[ops > 0]]]
    latest = np.maximum.reduceat(stored, bucket.starts)[numbers] if bucket.count else stored[starts]
    times = {
        "born_at": bucket.column("born_timestamp")[starts],
        "stored_at": stored[starts],
        "delivered_at": np.where(state == STATES.index(TransactionState.DELIVERED), stored[ends], _NO_TIME),
        "settled_at": settled,
        "discarded_at": np.where(state == STATES.index(TransactionState.PARKED), stored[ends], _NO_TIME),
        "last_at": np.maximum(latest, settled),
    }
    return [_times(times[name]) for name in Moments._fields]


def _history(bucket: Bucket, records: Numbers, sizes: Numbers, op_places: Numbers, ops: Numbers) -> pa.ListArray:
    """The records of each history, and its op, which always comes last where all is straight."""
    lengths = sizes + ops
    is_op = np.zeros(int(lengths.sum()), bool)
    is_op[np.cumsum(lengths)[ops > 0] - 1] = True
    word = np.full(len(is_op), RecordKind.OP, np.int8)
    word[~is_op] = bucket.column("kind")[records]
    at, time, queue, offset = np.empty((4, len(is_op)), np.int64)
    at[~is_op], at[is_op] = bucket.at[records], bucket.op_column("at")[op_places]
    time[~is_op] = bucket.column("store_timestamp")[records]
    time[is_op] = bucket.op_column("store_timestamp")[op_places]
    queue_ids = bucket.column("queue_id")
    queue[~is_op], queue[is_op] = queue_ids[records], queue_ids[bucket.op_record[op_places]]
    offset[~is_op], offset[is_op] = bucket.column("queue_offset")[records], bucket.op_column("op_offset")[op_places]
    words = pa.DictionaryArray.from_arrays(pa.array(word), pa.array(EVENTS)).cast(pa.string())
    columns = [words, *(pa.array(column) for column in (at, time, queue, offset))]
    return _lists(lengths, pa.StructArray.from_arrays(columns, list(HistoryEvent._fields)))


def _lists(lengths: Numbers, values: pa.Array) -> pa.ListArray:
    """Lists of some lengths, out of values that stand one behind the other."""
    ends = np.append(0, np.cumsum(lengths)).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), values)


def write_rows(path: Location, bucket: Bucket, straight: Straight, rows: Iterable[TransactionRow]) -> dict[str, Any]:
    """Write the rows of a bucket as Parquet, those that are not plain in row groups of their own.

    The rows are of the transactions that are not judged from columns. Gives ``counts``, state to the number of
    transactions; ``plain``, how many are plainly delivered or rolled back; and ``plain_groups``, how many row groups
    hold these, at the start of the file.
    """
    rows = list(rows)
    plain = [straight_table(bucket, straight, straight.is_plain), table_of([row for row in rows if row.is_plain])]
    grave = [straight_table(bucket, straight, ~straight.is_plain), table_of([row for row in rows if not row.is_plain])]
    with (
        appearing(path) as unfinished,
        pq.ParquetWriter(unfinished, ROW_SCHEMA, compression="zstd", use_dictionary=_REPEATED) as writer,
    ):
        for table in (*plain, *grave):
            if table.num_rows:
                writer.write_table(table, row_group_size=_ROWS_OF_A_GROUP)
    counts = dict.fromkeys((state.value for state in STATES), 0)
    for state, number in enumerate(np.bincount(straight.state, minlength=len(STATES)).tolist()):
        counts[STATES[state].value] += number
    for row in rows:
        counts[row.state.value] += 1
    return {
        "counts": counts,
        "plain": sum(table.num_rows for table in plain),
        "plain_groups": sum(-(-table.num_rows // _ROWS_OF_A_GROUP) for table in plain),
    }
