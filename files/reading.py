"""The one door for reading files: it checks kind and size of a path before it reads.

A pipe or a device in the place of a file would be waited for, or read for ever; a file of some gigabytes would fill
the memory before anybody could say that it is no file of settings. Tests hold that no other module opens files.
"""

from __future__ import annotations

import errno
import gzip
import io
import mmap
import os
import stat
import zlib
from typing import TYPE_CHECKING, BinaryIO, Final

from files.errors import ANOTHER, BadContentError, UnreadableFileError
from files.remote_path import RemotePath

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from files.remote_path import Location

SETTINGS_BYTES: Final = 1 << 20
"""The most bytes of a file that people write by hand."""

TABLE_BYTES: Final = 64 << 20
"""The most bytes of a file that becomes objects as a whole: tables of a broker, counterexamples."""

WHOLE_BYTES: Final = 1 << 30
"""The most bytes of any file that is read as a whole."""

LINE_BYTES: Final = 16 << 20
"""The most bytes of one line."""

_BLOCK_BYTES: Final = 512
"""The unit of `st_blocks`, whatever the file system's is."""

_GZIP_MAGIC: Final = b"\x1f\x8b"
_KINDS: Final = {stat.S_IFIFO: "a pipe", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device", stat.S_IFSOCK: "a socket"}


def open_file(path: Location) -> BinaryIO:
    """Open a regular file, here or on another file system.

    Raises
    ------
    UnreadableFileError
        It is a pipe, a device or a socket, a loop of links, or bears no name that a file can have.
    FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError
        As Python says it.
    """
    if isinstance(path, RemotePath):
        return path.open_file()
    try:
        _require_file(path, path.stat().st_mode)  # before it is opened, which may do something to a device
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, UnreadableFileError):
        raise
    except OSError as error:
        problem = f"{error.strerror or 'it is not to be opened'}; a regular file was expected: {ANOTHER}"
        raise UnreadableFileError(path, problem, error.errno or errno.EINVAL) from None
    except ValueError:
        raise UnreadableFileError(repr(str(path)), f"not a name that a file can have: {ANOTHER}") from None
    try:
        _require_file(path, os.fstat(descriptor).st_mode)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _require_file(path: Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "something else")
        raise UnreadableFileError(path, f"{kind}; a regular file was expected: {ANOTHER}")


def read_bytes(path: Location, most_bytes: int = WHOLE_BYTES) -> bytes:
    """The content of a file.

    Raises
    ------
    UnreadableFileError
        As :func:`open_file`, or it has more bytes than that.
    """
    if isinstance(path, RemotePath):
        content = path.system.read(path.key)
        size = len(content)
    else:
        size, content = _read_here(path, most_bytes)
    if max(size, len(content)) > most_bytes:
        problem = f"{max(size, len(content)):,} bytes; a file of at most {most_bytes:,} was expected: {ANOTHER}"
        raise UnreadableFileError(str(path), problem, errno.EFBIG)
    return content


def _read_here(path: Path, most_bytes: int) -> tuple[int, bytes]:
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        return size, b"" if size > most_bytes else file.read(most_bytes + 1)


def read_text(path: Location, most_bytes: int = WHOLE_BYTES) -> str:
    """The text of a file in UTF-8, each of its lines ended by a line feed.

    Raises
    ------
    UnreadableFileError
        As :func:`read_bytes`.
    BadContentError
        It is not UTF-8.
    """
    try:
        text = read_bytes(path, most_bytes).decode()
    except UnicodeDecodeError as error:
        message = f"{path}: not UTF-8 text, from byte {error.start} on: write it in UTF-8, or {ANOTHER}"
        raise BadContentError(message) from None
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def read_lines(path: Location) -> Iterator[bytes]:
    """The lines of a file, one after the other; of one that gzip made, what it held.

    Raises
    ------
    UnreadableFileError
        As :func:`open_file`.
    BadContentError
        A line is too long, or gzip's file is cut or broken.
    """
    with open_file(path) as file:
        is_packed = file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
        file.seek(0)
        lines: BinaryIO | gzip.GzipFile = gzip.GzipFile(fileobj=file) if is_packed else file
        number = 0
        try:
            while line := lines.readline(LINE_BYTES + 1):
                number += 1
                if len(line) > LINE_BYTES:
                    message = f"{path}, line {number}: longer than {LINE_BYTES:,} bytes: part it, or {ANOTHER}"
                    raise BadContentError(message)
                yield line
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            message = f"{path}: not readable as gzip ({error}): pack it anew, or give it unpacked"
            raise BadContentError(message) from None
        except OSError as error:
            problem = f"{error.strerror or 'it is not to be read'}; copy it to a sound disk, or {ANOTHER}"
            raise UnreadableFileError(str(path), problem, error.errno or errno.EIO) from None


def decompress(content: bytes) -> bytes:
    """Decompress gzip's data, at most :data:`WHOLE_BYTES` of it.

    Raises
    ------
    BadContentError
        It is cut, broken, or holds more.
    """
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
            unpacked = packed.read(WHOLE_BYTES + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        message = f"not readable as gzip ({error})"
        raise BadContentError(message) from None
    if len(unpacked) > WHOLE_BYTES:
        message = f"gzip has packed more than {WHOLE_BYTES:,} bytes into it"
        raise BadContentError(message)
    return unpacked


def map_file(path: Path, most_bytes: int | None = None) -> mmap.mmap | bytes:
    """Map a file of any size into memory; an end without room, or beyond `most_bytes`, is left out.

    A broker makes its files in full size and writes into them. Where nothing was written, the end is left out: to look
    at it would take room on a disk in memory, and where that is full, end the process.

    Raises
    ------
    UnreadableFileError
        As :func:`open_file`.
    """
    with open_file(path) as file:
        most = os.fstat(file.fileno()).st_size if most_bytes is None else most_bytes
        size = min(written_bytes(file.fileno()), most)
        if size:
            return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
        return bytes(min(os.fstat(file.fileno()).st_size, mmap.PAGESIZE, most))


def size_of(path: Location) -> int | None:
    """The bytes of a file; None if none is there."""
    if isinstance(path, RemotePath):
        found = path.look()
        return None if found is None else found.size
    return path.stat().st_size if path.is_file() else None


def stamp_of(path: Location) -> str:
    """A text that changes with a file's content, though nobody reads it; raises `FileNotFoundError`."""
    if isinstance(path, RemotePath):
        found = path.look()
        if found is None:
            raise FileNotFoundError(errno.ENOENT, "there is no such file", str(path))
        return f"{found.size}\0{found.stamp}"
    there = path.stat()
    return f"{there.st_size}\0{there.st_mtime_ns}"


def room_of(path: Path) -> int:
    """The bytes that a file takes on the disk, whatever its size is."""
    return path.stat().st_blocks * _BLOCK_BYTES


def written_bytes(descriptor: int) -> int:
    """Where the last part of an open file ends that holds data, in whole pages but for the file's own end."""
    size, end = os.fstat(descriptor).st_size, 0
    try:
        if size and os.lseek(descriptor, size - 1, os.SEEK_DATA) == size - 1:
            return size
    except OSError:  # the end is a hole
        pass
    try:
        while end < size:
            end = os.lseek(descriptor, os.lseek(descriptor, end, os.SEEK_DATA), os.SEEK_HOLE)
    except OSError as error:
        if error.errno != errno.ENXIO:  # nothing but a hole follows
            return size
    return min(size, -(-end // mmap.PAGESIZE) * mmap.PAGESIZE)
