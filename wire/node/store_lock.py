"""The file by which a broker keeps a second one out of its store."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from wire.errors import WireError

if TYPE_CHECKING:
    from pathlib import Path

LOCK: str = "lock"
"""The file by which a broker keeps a second one out of its store (``DefaultMessageStore#start``)."""


def lock_store(store: Path) -> TextIO:
    """Keep a second broker out of the store.

    Raises
    ------
    WireError
        Another one is in it, or the file can't be written.
    """
    path = store / LOCK
    try:
        file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC, 0o644), "w")
    except OSError as error:
        raise WireError(_not_written(path, error)) from None
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        message = f"{store}: another broker uses this store; stop it, or give --store another place"
        raise WireError(message) from None
    try:
        file.write("lock")
        file.flush()
    except OSError as error:
        with suppress(OSError):
            file.close()
        raise WireError(_not_written(path, error)) from None
    return file


def _not_written(path: Path, error: OSError) -> str:
    return f"{path}: can't be written: {error.strerror}; free some room, or give --store another place"
