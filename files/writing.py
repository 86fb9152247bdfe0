"""The one way in which a file appears: written under a name of its own, then renamed; whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from files.errors import UnwritableFileError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def what_is_no_file(path: Path) -> str:
    """The kind of what stands at a name where a file is to appear by rename; '' if nothing or a file does.

    A link would be replaced, and not what it names: so would ``/dev/stdout``.
    """
    if path.is_symlink():
        return "a link, which the file would replace"
    if path.is_dir():
        return "a directory"
    return "a device or a pipe" if path.exists() and not path.is_file() else ""


@contextmanager
def appearing(path: Path, *, within: Path | None = None) -> Iterator[Path]:
    """A name to write under, which becomes the path's when the block ends well.

    Chance chooses the name: the same task may run twice at a time, on machines whose process ids are the same. The name
    lies in the folder `within`, on the same disk; without it in the path's own.
    """
    unfinished = (within or path.parent) / f".{path.name}.{secrets.token_hex(8)}.unfinished"
    try:
        yield unfinished
        unfinished.replace(path)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise


def write_whole(path: Path, content: str | bytes, *, within: Path | None = None, is_lasting: bool = False) -> None:
    """Write a file that appears by rename, a text as UTF-8; `within` is that of :func:`appearing`.

    Parameters
    ----------
    is_lasting
        Whether the file is on the disk, and found there by its name, when this returns.

    Raises
    ------
    UnwritableFileError
        It cannot be written, or what stands at its name is no file; names it and why.
    """
    kind = what_is_no_file(path)
    if kind:
        raise UnwritableFileError(path, f"it is {kind}")
    try:
        with appearing(path, within=within) as unfinished, unfinished.open("wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            if is_lasting:
                file.flush()
                os.fsync(file.fileno())
        if is_lasting:
            _flush_names(path.parent)
    except OSError as error:
        raise UnwritableFileError(path, error.strerror or str(error), error.errno) from error


def _flush_names(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
