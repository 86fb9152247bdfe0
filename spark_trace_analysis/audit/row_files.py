"""The directory that an audit writes: the rows of all transactions as Parquet, and what it says of the whole store."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from spark_trace_analysis.audit.stage_files import appearing, write_facts
from spark_trace_analysis.errors import BadOptionError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from spark_trace_analysis.audit.table import Audit, TransactionRow

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


def write_audit(audit: Audit, out: Path, limit: int) -> None:
    """Write an audit that was made in one process.

    Parameters
    ----------
    limit
        How much damage the summary lists.
    """
    with new_directory(out) as unfinished:
        table = table_of(list(audit.transactions))
        pq.write_table(table, unfinished / "transactions-00000.parquet", compression="zstd")
        told = audit.to_json(limit=0)
        told["corrupt"] = told["corrupt"][: max(limit, 1)]
        write_facts(unfinished / SUMMARY, told)


def table_of(rows: list[TransactionRow]) -> pa.Table:
    """Rows as they are written into files."""
    return pa.Table.from_pylist(
        [
            {
                "unique_key": row.unique_key,
                "group": row.group,
                "topic": row.topic,
                "state": row.state.value,
                "also": [state.value for state in row.also],
                "deliveries": row.deliveries,
                "checks": row.checks,
                "put_backs": row.put_backs,
                "half_offsets": row.half_offsets,
                "op_offsets": row.op_offsets,
                "resembles": row.resembles,
                "first_offset": row.first_offset,
                "history": [event._asdict() for event in row.history],
            }
            for row in rows
        ],
        ROW_SCHEMA,
    )


def move(source: Path, target: Path) -> None:
    """Give a file a second name; a copy where that is on another file system."""
    try:
        os.link(source, target)
    except OSError:
        with appearing(target) as unfinished:
            shutil.copyfile(source, unfinished)
