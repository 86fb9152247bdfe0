"""The one way in which a file appears: whole or not at all, and where it is asked for only as the first of its name.

On a disk it is written under a name of its own, then renamed, or linked if it has to be the first. Other file systems
have their own ways (:mod:`files.remote_path`).
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from files.errors import UnwritableFileError
from files.hdfs import UNFINISHED
from files.remote_path import RemotePath

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future

    from _typeshed import ReadableBuffer

    from files.remote_path import Location

_AT_A_TIME: Final = 4
_MOST_BEHIND: Final = 8


def what_is_no_file(path: Location) -> str:
    """The kind of what stands at a name where a file is to appear by rename; '' if nothing or a file does.

    A link would be replaced, and not what it names: so would ``/dev/stdout``.
    """
    if path.is_symlink():
        return "a link, which the file would replace"
    if path.is_dir():
        return "a directory"
    return "a device or a pipe" if path.exists() and not path.is_file() else ""


@contextmanager
def appearing(path: Location, *, within: Path | None = None) -> Iterator[Path]:
    """A name to write under, which becomes the path's when the block ends well.

    Chance chooses the name: the same task may run twice at a time, on machines whose process ids are the same. The name
    lies in the folder `within`, on the same disk; without it in the path's own. A file of another file system is
    written to a temporary one of this machine.
    """
    if isinstance(path, RemotePath):
        with tempfile.TemporaryDirectory(prefix="halfcheck-file-") as folder:
            written = Path(folder) / path.name
            yield written
            path.system.put(path.key, written.read_bytes())
        return
    unfinished = (within or path.parent) / f".{path.name}.{secrets.token_hex(8)}.unfinished"
    try:
        yield unfinished
        unfinished.replace(path)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise


def write_whole(path: Location, content: str | bytes, *, within: Path | None = None, is_lasting: bool = False) -> None:
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
    if isinstance(path, RemotePath):
        path.system.put(path.key, content.encode() if isinstance(content, str) else bytes(content))
        return
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


def create_whole(path: Location, content: str | bytes) -> bool:
    """Write a file that lasts, if there is none of its name; says whether it was written.

    Of two that write it at a time, on one machine or on two, one is told that it was the first. A file system that
    cannot say so is one that has no hard links (some network disks): there the file is looked for before it is renamed.
    """
    raw = content.encode() if isinstance(content, str) else content
    if isinstance(path, RemotePath):
        return path.system.create(path.key, raw)
    unfinished = path.parent / f".{path.name}.{secrets.token_hex(8)}.unfinished"
    try:
        write_whole(unfinished, raw, is_lasting=True)
        try:
            os.link(unfinished, path)
        except FileExistsError:
            return False
        except OSError:
            if path.exists():
                return False
            unfinished.replace(path)
        _flush_names(path.parent)
    finally:
        unfinished.unlink(missing_ok=True)
    return True


class WrittenBehind:
    """Files of other file systems, written by threads while whoever makes them goes on; at once where it is a disk.

    So many are held at a time at most; :meth:`settle` comes back when all are written.
    """

    def __init__(self) -> None:
        self._threads: ThreadPoolExecutor | None = None
        self._written: list[Future[None]] = []

    def write(self, path: Location, content: ReadableBuffer, *, within: Path | None = None) -> None:
        """Begin to write a file; raises what an earlier one met, as :func:`write_whole`."""
        if not isinstance(path, RemotePath):
            write_whole(path, bytes(content), within=within)
            return
        if self._threads is None:
            self._threads = ThreadPoolExecutor(_AT_A_TIME, "behind")
        while len(self._written) >= _MOST_BEHIND:
            self._written.pop(0).result()
        self._written.append(self._threads.submit(write_whole, path, bytes(content)))

    def settle(self) -> None:
        """Wait until all is written; raises the first failure."""
        written, self._written = self._written, []
        threads, self._threads = self._threads, None
        if threads is not None:
            threads.shutdown()
        for one in written:
            one.result()


def remove_folder(path: Location) -> None:
    """Remove all below a name, as far as it can be removed."""
    if isinstance(path, RemotePath):
        with suppress(OSError):
            path.system.delete_folder(path.key)
    else:
        shutil.rmtree(path, ignore_errors=True)


def remove_unfinished_files(folder: Location) -> None:
    """Remove what writers that died have left in a folder of HDFS, where files are seen while they are written."""
    if isinstance(folder, RemotePath) and folder.scheme == "hdfs":
        remove_folder(folder / UNFINISHED)


def _flush_names(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
