"""The directory that an audit writes: the rows of all transactions as Parquet, and what it says of the whole store."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from model_check.cache_folder import can_be_written
from model_check.errors import BadFile
from spark_trace_analysis.audit.columns.stage_files import appearing, write_facts
from spark_trace_analysis.errors import BadOptionError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from spark_trace_analysis.audit.table import Audit, HistoryEvent, TransactionRow

SUMMARY = "_audit.json"
"""Beside the rows: the audit as ``--json`` prints it, the transactions aside. Readers of Parquet pass over the name."""

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


def require_new(out: Path) -> None:
    """See that a directory is not there yet.

    Raises
    ------
    BadOptionError
        It is.
    """
    if out.exists():
        message = f"--out {out}: it exists already; name a new directory"
        raise BadOptionError(message)


def require_takes_files(option: str, path: Path) -> None:
    """See before an audit that what it ends with can be put into its folder, which need not be there yet.

    Raises
    ------
    BadFile
        It can't.
    """
    if not can_be_written(path.parent):
        message = f"{option} {path}: {path.absolute().parent} can't be written to; name another place"
        raise BadFile(message)


@contextmanager
def new_directory(out: Path) -> Iterator[Path]:
    """A directory under another name, which becomes `out` when the block ends well."""
    unfinished = out.with_name(f".{out.name}.{os.getpid()}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    try:
        yield unfinished
        unfinished.rename(out)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def write_audit(audit: Audit, out: Path) -> None:
    """Write an audit that was made in one process."""
    with new_directory(out) as unfinished:
        table = table_of(list(audit.transactions))
        pq.write_table(table, unfinished / "transactions-00000.parquet", compression="zstd")
        write_facts(unfinished / SUMMARY, audit.to_json(limit=0))


def table_of(rows: Sequence[TransactionRow]) -> pa.Table:
    """Rows as they are written into files."""
    columns: dict[str, list[Any]] = {
        "unique_key": [row.unique_key for row in rows],
        "group": [row.group for row in rows],
        "topic": [row.topic for row in rows],
        "state": [row.state.value for row in rows],
        "also": [[state.value for state in row.also] for row in rows],
        "deliveries": [row.deliveries for row in rows],
        "checks": [row.checks for row in rows],
        "put_backs": [row.put_backs for row in rows],
        "half_offsets": [row.half_offsets for row in rows],
        "op_offsets": [row.op_offsets for row in rows],
        "resembles": [row.resembles for row in rows],
        "first_offset": [row.first_offset for row in rows],
    }
    arrays = [pa.array(columns[name], ROW_SCHEMA.field(name).type) for name in columns]
    return pa.Table.from_arrays([*arrays, _histories([row.history for row in rows])], schema=ROW_SCHEMA)


def _histories(histories: Sequence[tuple[HistoryEvent, ...]]) -> pa.ListArray:
    """The events of all rows one behind the other, and where each row's end."""
    event, at, time = zip(*chain.from_iterable(histories), strict=True) if any(histories) else ((), (), ())
    kind = ROW_SCHEMA.field("history").type
    events = pa.StructArray.from_arrays(
        [pa.array(event, pa.string()), pa.array(at, pa.int64()), pa.array(time, pa.int64())],
        fields=list(kind.value_type),
    )
    ends = pa.array([0, *accumulate(map(len, histories))], pa.int32())
    return pa.ListArray.from_arrays(ends, events, type=kind)


def move(source: Path, target: Path) -> None:
    """Give a file a second name; a copy where that is on another file system."""
    try:
        os.link(source, target)
    except OSError:
        with appearing(target) as unfinished:
            shutil.copyfile(source, unfinished)
