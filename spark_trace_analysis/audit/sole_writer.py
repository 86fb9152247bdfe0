"""A lock by which one audit at a time writes to a place; a second one fails at once, and not when it is done."""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from spark_trace_analysis.errors import BadOptionError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_TAKEN = {errno.EWOULDBLOCK, errno.EACCES}


@contextmanager
def sole_writer(option: str, path: Path | None) -> Iterator[None]:
    """Hold a lock beside a place that is to be written; the lock ends with the process, and its file with the block.

    Raises
    ------
    BadOptionError
        Another process holds it.
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


def another(path: Path, option: str) -> BadOptionError:
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
                raise another(path, option) from None  # a file system without locks stops nobody
        try:
            if os.path.samestat(os.fstat(opened), lock.stat()):
                return opened
        except FileNotFoundError:
            pass
        os.close(opened)
