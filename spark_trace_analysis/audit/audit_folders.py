"""The folders that an audit writes: the rows of all transactions with a summary, and the files between its stages.

The first has Parquet files and the result for the whole store. The second has a key, by which another audit sees
whether the files in it are its own. One audit at a time writes to a place: a second one fails at once, by a lock.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

import reference.format
import spark_trace_analysis
from files.content import parse_json
from files.reading import read_bytes
from files.temporary_folder import temporary_folder
from files.writing import appearing
from reference.format.consume_queue import FOLDER as CONSUME_QUEUES
from reference.format.errors import StoreError
from spark_trace_analysis.audit.columns.row_tables import table_of
from spark_trace_analysis.audit.columns.stage_files import read_facts, write_facts
from spark_trace_analysis.errors import BadOptionError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reference.format.broker_conf import BrokerConf
    from reference.format.commit_log import CommitLog
    from reference.format.consumer_offsets import ConsumerOffsets
    from spark_trace_analysis.audit.audit import Audit

SUMMARY = "_audit.json"
"""Beside the rows: the audit as ``--json`` prints it, the transactions aside. Readers of Parquet pass over the name."""
_KEY = "key.json"
_TAKEN = {errno.EWOULDBLOCK, errno.EACCES}


def require_new(out: Path) -> None:
    """Raise `BadOptionError` for a directory that is there already."""
    if out.exists():
        message = f"--out {out}: it exists already; name a new directory"
        raise BadOptionError(message)


@contextmanager
def writing_audit(audit: Audit, out: Path) -> Iterator[Path]:
    """A directory under another name, for the rows; it becomes `out`, the summary in it, when the block ends well."""
    unfinished = out.with_name(f".{out.name}.{os.getpid()}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    try:
        yield unfinished
        write_facts(unfinished / SUMMARY, replace(audit, transactions=()).to_json(limit=0))
        try:
            unfinished.rename(out)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise
            raise _another(out, "--out") from None
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def write_audit(audit: Audit, out: Path) -> None:
    """Write an audit that was made record by record."""
    with writing_audit(audit, out) as unfinished:
        table = table_of(audit.transactions)
        pq.write_table(table, unfinished / "transactions-00000.parquet", compression="zstd")


def named(folder: Path, name: Path) -> Path:
    """Give a folder that is whole its name, on the same disk; gives that."""
    return folder.rename(name)


def move(source: Path, target: Path) -> None:
    """Give a file a second name; a copy where that is on another file system."""
    try:
        os.link(source, target)
    except OSError:
        with appearing(target) as unfinished:
            shutil.copyfile(source, unfinished)


def key_of(
    store: Path, log: CommitLog, saved: ConsumerOffsets, conf: BrokerConf, options: dict[str, Any]
) -> dict[str, Any]:
    """The cache key of the files between the stages: the store's files, the settings, some options and the sources."""
    digest = hashlib.sha256()
    for package in (reference.format, spark_trace_analysis):
        for root in package.__path__:
            for path in sorted(Path(root).rglob("*.py")):
                digest.update(read_bytes(path))
    queues = hashlib.sha256()
    for path in sorted((store / CONSUME_QUEUES).rglob("*")) if (store / CONSUME_QUEUES).is_dir() else ():
        if path.is_file():
            stat = path.stat()
            queues.update(f"{path}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    return {
        "store": str(store),
        "files": [[str(file.path), *_size_and_time(file.path)] for file in log.files],
        "queues": queues.hexdigest(),
        "saved": repr(saved),
        "conf": {name: value for name, value in asdict(conf).items() if value is not None},
        **options,
        "source": digest.hexdigest(),
    }


def _size_and_time(path: Path) -> tuple[int, int]:
    """Of a file that may be missing."""
    if not path.exists():
        return -1, -1
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns


def place_of(work: Path | None, out: Path | None) -> Path | None:
    """The folder of the files between the stages, if it has a name that the same command finds again."""
    return work if work is not None or out is None else out.with_name(f".{out.name}.audit")


def count_finished(folder: Path) -> int:
    """The number of finished tasks, by the files of an audit that was begun."""
    return sum(1 for path in folder.glob("*.json") if path.name != _KEY and not path.name.startswith(("orphans", ".")))


@contextmanager
def work_folder(key: dict[str, Any], folder: Path | None) -> Iterator[Path]:
    """The folder of the files between the stages; removed when the audit is done, and left if it is cut short."""
    if folder is None:
        with temporary_folder() as temporary:
            yield temporary
        return
    folder = folder.absolute()
    found_key = read_facts(folder / _KEY) if folder.is_dir() else None
    if found_key != parse_json(json.dumps(key)):
        if folder.exists() and found_key is None and (not folder.is_dir() or any(folder.iterdir())):
            message = f"--work {folder}: it holds other things than an audit's files; name a new directory"
            raise BadOptionError(message)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        write_facts(folder / _KEY, key)
    try:
        yield folder
    except StoreError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def sole_writer(option: str, path: Path | None) -> Iterator[None]:
    """Hold a lock beside a place that is to be written; the lock ends with the process, and its file with the block.

    Raises `BadOptionError` where another process holds it.
    """
    if path is None:
        yield
        return
    lock = path.absolute().with_name(f".{path.name}.lock")
    lock.parent.mkdir(parents=True, exist_ok=True)
    opened = _locked(option, path, lock)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        os.close(opened)


def _another(path: Path, option: str) -> BadOptionError:
    """The error for a place that another audit writes to."""
    return BadOptionError(f"{option} {path}: another audit is writing there; wait for it, or name another directory")


def _locked(option: str, path: Path, lock: Path) -> int:
    """The lock's file, open; one that its holder removed while it was opened is none."""
    while True:
        opened = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _TAKEN:
                os.close(opened)
                raise _another(path, option) from None  # a file system without locks stops nobody
        try:
            if os.path.samestat(os.fstat(opened), lock.stat()):
                return opened
        except FileNotFoundError:
            pass
        os.close(opened)
