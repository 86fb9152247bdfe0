"""A folder for one command; where the command was killed, the next one deletes it."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX: Final = "halfcheck-"

_OWNER: Final = ".owner"
"""A file that the command which uses the folder has locked (``flock``); nobody has where that is dead."""


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder below ``TMPDIR``, deleted with the context, or by the next command where this one is killed."""
    sweep()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    owner = _lock(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(owner)


def stay(folder: Path) -> None:
    """Let a folder of another machine's command be there, with what is in it, as long as this process is."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / _OWNER, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:  # the command itself runs on this machine
        os.close(descriptor)


def sweep() -> None:
    """Delete the folders whose command is gone; those of other users, or without a lock, stay."""
    with suppress(OSError):
        for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
            if _is_left(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _lock(folder: Path) -> int:
    """Lock the file before it bears its name, as whoever sweeps meanwhile takes one that is free for left."""
    unnamed = folder / f"{_OWNER}.new"
    descriptor = os.open(unnamed, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    unnamed.rename(folder / _OWNER)
    return descriptor


def _is_left(folder: Path) -> bool:
    try:
        descriptor = os.open(folder / _OWNER, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        if os.fstat(descriptor).st_uid != os.getuid():
            return False
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
