"""The archive of a run, as in ``conformance/golden``: the store without its zero tails, configuration and logs."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, TextIO

from files.reading import read_bytes, read_lines
from real_brokers.rocketmq.configuration import RUN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_ENTRY_BYTES: Final = 20
_OF_TRANSACTIONS: Final = re.compile(r"transact|trans_|boot|recover|error|truncate|normally", re.IGNORECASE)
_NOTHING_WRITTEN: Final = "Send op message queueIds=null"
_EMPTY_PASSES: Final = 3


def without_tail(content: bytes, unit: int = 1) -> bytes:
    r"""A file's content up to its last byte that is not zero, filled up to whole units.

    Examples
    --------
    >>> without_tail(b"ab\0\0"), without_tail(b"a\0b" + bytes(30), 20), without_tail(bytes(8))
    (b'ab', b'a\x00b\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00', b'')
    """
    length = len(content.rstrip(b"\0"))
    return content[: -(-length // unit) * unit]


def write_thinned(log: Iterable[str], thinned: TextIO) -> int:
    r"""Write a transaction log without most of the empty passes of the op batch thread (A17); how many were left out.

    The thread of 5.5.0 and 5.5.1 spins and logs each pass, millions in a run; of those in a row three stay.

    Examples
    --------
    >>> from io import StringIO
    >>> thinned = StringIO()
    >>> lines = ["a\n", *["Send op message queueIds=null\n"] * 5, "b\n"]
    >>> write_thinned(lines, thinned), len(thinned.getvalue().splitlines())
    (2, 5)
    """
    passes = left_out = 0
    for line in log:
        passes = passes + 1 if _NOTHING_WRITTEN in line else 0
        if passes > _EMPTY_PASSES:
            left_out += 1
        else:
            thinned.write(line)
    return left_out


def archive_at_kill(run: Path) -> None:
    """Copy commit log and configuration as they are at a SIGKILL."""
    _copy_files(run / "store" / "commitlog", run / "archive" / "at_kill" / "commitlog")
    shutil.copytree(run / "store" / "config", run / "archive" / "at_kill" / "config", dirs_exist_ok=True)


def archive_before_deletion(run: Path) -> None:
    """Copy the commit log as it is before retention deletes its first files."""
    _copy_files(run / "store" / "commitlog", run / "archive" / "before_deletion" / "commitlog")


def archive_run(run: Path, out: Path, conf: str, meta: Mapping[str, Any]) -> None:
    """Write the folder of a run.

    Parameters
    ----------
    run
        Where it ran; what its ``archive`` folder holds is taken over.
    out
        The folder to write, by rename; one that is there is removed before.
    conf
        The text of ``broker.conf``, with ``@RUN@`` for the folder of the run.
    meta
        What ``meta.json`` says, but for what is counted here.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as folder:
        part = Path(folder) / out.name
        _write(run, part, conf, meta)
        if out.exists():
            shutil.rmtree(out)
        part.replace(out)


def _write(run: Path, part: Path, conf: str, meta: Mapping[str, Any]) -> None:
    store = run / "store"
    part.mkdir()
    _copy_files(store / "commitlog", part / "commitlog")
    _copy_files(store / "consumequeue", part / "consumequeue", _ENTRY_BYTES)
    shutil.copytree(store / "config", part / "config", ignore=shutil.ignore_patterns("*.tmp"))
    if "transRocksDBEnable=true" in conf:
        shutil.copytree(store / "rocksdbstore", part / "rocksdbstore")
        for options in (part / "rocksdbstore").rglob("OPTIONS*"):
            options.write_text("".join(_lines(options, run)), encoding="utf-8")
    for moment in ("at_kill", "before_deletion"):
        if (run / "archive" / moment).is_dir():
            shutil.copytree(run / "archive" / moment, part / moment)
    (part / "broker.conf").write_text(conf, encoding="utf-8")
    with _gzip(part / "transaction.log.gz") as thinned:
        empty_passes = write_thinned(_lines(run / "transaction.log", run), thinned)
    with _gzip(part / "broker.grep.log.gz") as log:
        log.writelines(line for line in _lines(run / "broker.log", run) if _OF_TRANSACTIONS.search(line))
    with _gzip(part / "driver.jsonl.gz") as log:
        log.writelines(_lines(run / "archive" / "driver.jsonl", run))
    counted = {"empty_passes_of_the_batch_thread": empty_passes} if empty_passes else {}
    (part / "meta.json").write_text(f"{json.dumps({**meta, **counted}, indent=1)}\n", encoding="utf-8")


def _copy_files(source: Path, target: Path, unit: int = 1) -> None:
    for path in sorted(source.rglob("*")):
        content = without_tail(read_bytes(path), unit) if path.is_file() else b""
        if content:
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(content)


def _lines(path: Path, run: Path) -> Iterator[str]:
    if path.exists():
        yield from (line.decode(errors="replace").replace(str(run), RUN) for line in read_lines(path))


def _gzip(path: Path) -> TextIO:
    return gzip.open(path, "wt", encoding="utf-8")
