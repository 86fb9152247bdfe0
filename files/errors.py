"""Errors of a file: its kind, its size, its content; or why it cannot be written."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path


ANOTHER: Final = "name another file"
"""The remedy for a file that is none of those that were expected."""


class UnreadableFileError(OSError):
    """A path that can't be read as a file: a pipe, a device, a loop of links, or a file that is too large.

    It is an :class:`OSError`, so that whoever reads for somebody says it as any other; its ``strerror`` says what was
    found, what was expected and what to do.
    """

    exit_code: int = 150

    def __init__(self, path: Path | str, problem: str, number: int = errno.EINVAL) -> None:
        super().__init__(number, problem, os.fspath(path))

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


class UnwritableFileError(OSError):
    """A file that cannot be written; its ``strerror`` says why.

    It is an :class:`OSError`, so that whoever writes for somebody says it as any other.
    """

    exit_code: int = 150

    def __init__(self, path: Path | str, why: str, number: int | None = None) -> None:
        super().__init__(number or errno.EINVAL, why, os.fspath(path))

    def __str__(self) -> str:
        return f"{self.filename}: cannot be written: {self.strerror}"


class BadContentError(ValueError):
    """A content that is not what it was read as: no UTF-8, no JSON, no TOML, no Parquet, nested too deep.

    It is a :class:`ValueError`; its message says what was found, and where the path is known, that and what to do.
    """

    exit_code: int = 150
