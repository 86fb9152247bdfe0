"""The rows of transactions as Arrow tables, the form in which an audit writes them."""

from __future__ import annotations

from itertools import accumulate, chain
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spark_trace_analysis.audit.rules.transaction_row import HistoryEvent, TransactionRow

_WORD = pa.dictionary(pa.int8(), pa.string())
_NAME = pa.dictionary(pa.int32(), pa.string())
ROW_SCHEMA = pa.schema(
    [
        ("unique_key", pa.string()),
        ("group", _NAME),
        ("topic", _NAME),
        ("state", _WORD),
        ("also", pa.list_(pa.string())),
        ("deliveries", pa.int64()),
        ("checks", pa.int64()),
        ("put_backs", pa.int64()),
        ("half_offsets", pa.list_(pa.int64())),
        ("op_offsets", pa.list_(pa.int64())),
        ("resembles", pa.list_(pa.string())),
        ("first_offset", pa.int64()),
        ("history", pa.list_(pa.struct([("event", pa.string()), ("at", pa.int64()), ("time", pa.int64())]))),
    ]
)
"""A row of the files that an audit writes, one a transaction."""


def table_of(rows: Sequence[TransactionRow]) -> pa.Table:
    """Rows as they are written into files."""
    *plain, history = ROW_SCHEMA
    arrays = [pa.array([getattr(row, field.name) for row in rows], field.type) for field in plain]
    return pa.Table.from_arrays([*arrays, _histories([row.history for row in rows], history.type)], schema=ROW_SCHEMA)


def _histories(histories: Sequence[tuple[HistoryEvent, ...]], kind: pa.ListType) -> pa.ListArray:
    """The events of all rows one behind the other, and where each row's end."""
    columns = zip(*chain.from_iterable(histories), strict=True) if any(histories) else ((), (), ())
    fields = list(kind.value_type)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, fields, strict=True)]
    ends = pa.array([0, *accumulate(map(len, histories))], pa.int32())
    return pa.ListArray.from_arrays(ends, pa.StructArray.from_arrays(arrays, fields=fields), type=kind)
