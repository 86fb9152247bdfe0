"""The folders that an audit writes: the rows of all transactions with a summary, and the files between its stages.

The first has Parquet files and the result for the whole store. The second has a key, by which another audit sees
whether the files in it are its own. One audit at a time writes to a place: a second one fails at once, by a lock.
"""

from __future__ import annotations

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
from files.remote_path import RemotePath
from files.temporary_folder import temporary_folder
from files.writing import appearing, create_whole, remove_folder, remove_unfinished_files, write_whole
from reference.format.consume_queue import FOLDER as CONSUME_QUEUES
from reference.format.errors import StoreError
from spark_trace_analysis.audit.columns.row_tables import table_of
from spark_trace_analysis.audit.columns.stage_files import as_facts, read_facts, write_facts
from spark_trace_analysis.errors import BadOptionError
from spark_trace_analysis.sole_writer import TAKEN, claimed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from files.remote_path import Location
    from reference.format.broker_conf import BrokerConf
    from reference.format.commit_log import CommitLog
    from reference.format.consumer_offsets import ConsumerOffsets
    from reference.format.store_paths import StorePaths
    from spark_trace_analysis.audit.audit import Audit

SUMMARY = "_audit.json"
"""Beside the rows: the audit as ``--json`` prints it, the transactions aside. Readers of Parquet pass over the name."""
_KEY = "key.json"
_BEGUN = ".audit"
"""Beside the rows, until the summary is: what else lies there an audit has begun."""
_ROWS = "transactions-*.parquet"
_AUDIT_TAKES_IT = "another audit is writing there; wait for it, or name another directory"


def require_new(out: Location) -> None:
    """Raise `BadOptionError` for a directory that is there already, unless a command was killed that wrote there."""
    if out.exists() and not (out / _BEGUN).exists():
        message = f"--out {out}: it exists already; name a new directory"
        raise BadOptionError(message)


@contextmanager
def new_folder(out: Location, last: str, content: Callable[[], str | bytes], taken: str = TAKEN) -> Iterator[None]:
    """The directory `out`, for the files of a table; it is whole when its last file is in it, once the block ends well.

    Where the block fails, all of it goes; what a killed writer has left is for the block to remove.

    Raises
    ------
    BadOptionError
        Something is there that nobody has only begun, or another process has written the last file.
    """
    refusal = BadOptionError(f"--out {out}: {taken}")
    if out.exists() and not (out / _BEGUN).exists():
        raise refusal
    out.mkdir(parents=True, exist_ok=True)
    try:
        write_whole(out / _BEGUN, "")
        yield
        if not create_whole(out / last, content()):
            raise refusal
        (out / _BEGUN).unlink(missing_ok=True)
        remove_unfinished_files(out)
    except BaseException:
        if not (out / last).exists():
            remove_folder(out)
        raise


@contextmanager
def writing_audit(audit: Audit, out: Location) -> Iterator[Location]:
    """The directory `out`, for the rows; it is an audit's when the summary is in it, once the block has ended well."""
    with new_folder(out, SUMMARY, lambda: as_facts(replace(audit, transactions=()).to_json(limit=0)), _AUDIT_TAKES_IT):
        for left in out.glob(_ROWS):
            left.unlink(missing_ok=True)
        yield out


def write_audit(audit: Audit, out: Location) -> None:
    """Write an audit that was made record by record."""
    with writing_audit(audit, out) as begun, appearing(begun / "transactions-00000.parquet") as unfinished:
        pq.write_table(table_of(audit.transactions), unfinished, compression="zstd")


def named(folder: Path, name: Path) -> Path:
    """Give a folder that is whole its name, on the same disk; gives that."""
    return folder.rename(name)


def move(source: Location, target: Location) -> None:
    """Give a file a second name; a copy where that is on another file system."""
    if isinstance(source, RemotePath) or isinstance(target, RemotePath):
        write_whole(target, read_bytes(source))
        return
    try:
        os.link(source, target)
    except OSError:
        with appearing(target) as unfinished:
            shutil.copyfile(source, unfinished)


def key_of(
    paths: StorePaths, log: CommitLog, saved: ConsumerOffsets, conf: BrokerConf, options: dict[str, Any]
) -> dict[str, Any]:
    """The cache key of the files between the stages: the store's files, the settings, some options and the sources."""
    digest = hashlib.sha256()
    for package in (reference.format, spark_trace_analysis):
        for root in package.__path__:
            for path in sorted(Path(root).rglob("*.py")):
                digest.update(read_bytes(path))
    queues = hashlib.sha256()
    store = paths.root
    for path in sorted((store / CONSUME_QUEUES).rglob("*")) if (store / CONSUME_QUEUES).is_dir() else ():
        if path.is_file():
            stat = path.stat()
            queues.update(f"{path.relative_to(store)}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    return {
        "store": paths.name,
        "files": [[file.name, *_size_and_time(file.path)] for file in log.files],
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


def count_finished(folder: Location) -> int:
    """The number of finished tasks, by the files of an audit that was begun."""
    return sum(1 for path in folder.glob("*.json") if path.name != _KEY and not path.name.startswith(("orphans", ".")))


@contextmanager
def work_folder(key: dict[str, Any], folder: Location | None) -> Iterator[Location]:
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
        remove_folder(folder)
        folder.mkdir(parents=True, exist_ok=True)
        write_facts(folder / _KEY, key)
    try:
        yield folder
    except StoreError:
        remove_folder(folder)
        raise
    remove_folder(folder)


@contextmanager
def sole_writer(option: str, path: Location | None) -> Iterator[None]:
    """Be the only audit that writes to a place, by files beside it, which go with the block.

    Raises `BadOptionError` if another one is writing there.
    """
    if path is None:
        yield
        return
    folder = path.absolute().with_name(f".{path.name}.owners")
    with claimed(option, path, folder, _AUDIT_TAKES_IT) as claim:
        yield
        claim.require()
