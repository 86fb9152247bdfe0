"""The folder of the files that an audit's stages hand on, and what tells whether those in it are of the same audit."""

from __future__ import annotations

import hashlib
import json
import shutil
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import reference.format
import spark_trace_analysis
from reference.format.consume_queue import FOLDER as CONSUME_QUEUES
from reference.format.errors import StoreError
from spark_trace_analysis.audit.columns.stage_files import read_facts, write_facts
from spark_trace_analysis.errors import BadOptionError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reference.format.broker_conf import BrokerConf
    from reference.format.commit_log import CommitLog
    from reference.format.consumer_offsets import ConsumerOffsets

_KEY = "key.json"


def key_of(
    store: Path, log: CommitLog, saved: ConsumerOffsets, conf: BrokerConf, options: dict[str, Any]
) -> dict[str, Any]:
    """What the files between the stages depend on: the store's files, the settings, some options and the sources."""
    digest = hashlib.sha256()
    for package in (reference.format, spark_trace_analysis):
        for root in package.__path__:
            for path in sorted(Path(root).rglob("*.py")):
                digest.update(path.read_bytes())
    queues = hashlib.sha256()
    for path in sorted((store / CONSUME_QUEUES).rglob("*")) if (store / CONSUME_QUEUES).is_dir() else ():
        if path.is_file():
            stat = path.stat()
            queues.update(f"{path}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    return {
        "store": str(store),
        "files": [[file.path.name, (stat := file.path.stat()).st_size, stat.st_mtime_ns] for file in log.files],
        "queues": queues.hexdigest(),
        "saved": repr(saved),
        "conf": {name: value for name, value in asdict(conf).items() if value is not None},
        **options,
        "source": digest.hexdigest(),
    }


def place_of(work: Path | None, out: Path | None) -> Path | None:
    """Where the files between the stages go, if that has a name that the same command finds again."""
    return work if work is not None or out is None else out.with_name(f".{out.name}.audit")


def count_finished(folder: Path) -> int:
    """How many tasks are finished, by the files of an audit that was begun."""
    return sum(1 for path in folder.glob("*.json") if path.name != _KEY and not path.name.startswith(("orphans", ".")))


@contextmanager
def work_folder(key: dict[str, Any], folder: Path | None) -> Iterator[Path]:
    """The folder of the files between the stages; it is removed when the audit is done, and kept if it is cut short."""
    if folder is None:
        temporary = Path(mkdtemp(prefix="halfcheck-audit-"))
        try:
            yield temporary
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        return
    folder = folder.absolute()
    told = read_facts(folder / _KEY) if folder.is_dir() else None
    if told != json.loads(json.dumps(key)):
        if folder.exists() and told is None and (not folder.is_dir() or any(folder.iterdir())):
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
