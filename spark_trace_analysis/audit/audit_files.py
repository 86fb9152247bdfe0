"""The directory that an audit writes: the rows of all transactions as Parquet, and what it says of the whole store."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from model_check.cache_folder import can_be_written
from model_check.errors import BadFile
from spark_trace_analysis.audit.columns.row_tables import table_of
from spark_trace_analysis.audit.columns.stage_files import appearing, write_facts
from spark_trace_analysis.errors import BadOptionError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from spark_trace_analysis.audit.audit import Audit

SUMMARY = "_audit.json"
"""Beside the rows: the audit as ``--json`` prints it, the transactions aside. Readers of Parquet pass over the name."""


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
def writing_audit(audit: Audit, out: Path) -> Iterator[Path]:
    """A directory under another name, for the rows; it becomes `out`, the summary in it, when the block ends well."""
    unfinished = out.with_name(f".{out.name}.{os.getpid()}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    try:
        yield unfinished
        write_facts(unfinished / SUMMARY, replace(audit, transactions=()).to_json(limit=0))
        unfinished.rename(out)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def write_audit(audit: Audit, out: Path) -> None:
    """Write an audit that was made in one process."""
    with writing_audit(audit, out) as unfinished:
        table = table_of(audit.transactions)
        pq.write_table(table, unfinished / "transactions-00000.parquet", compression="zstd")


def move(source: Path, target: Path) -> None:
    """Give a file a second name; a copy where that is on another file system."""
    try:
        os.link(source, target)
    except OSError:
        with appearing(target) as unfinished:
            shutil.copyfile(source, unfinished)
