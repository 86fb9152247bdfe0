"""Paths on file systems that are no disk of this machine: object stores and HDFS, by the names that URIs give them.

A :class:`RemotePath` has those names of `pathlib.Path` that the pipeline asks for, with the same meaning. What differs
by file system stands behind :class:`files.remote_file_system.RemoteFileSystem`: a file is written whole or not at all,
and one that must be the first of its name says whether it was. Nothing is cached, and nothing that decides rests on a
list of names, which may be late.
"""

from __future__ import annotations

import errno
import io
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import unquote, urlsplit

from files.errors import UnreadableFileError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _typeshed import WriteableBuffer

    from files.remote_file_system import RemoteEntry, RemoteFileSystem

SCHEMES: Final = {"s3": "s3", "s3a": "s3", "gs": "gs", "abfs": "abfs", "abfss": "abfss", "hdfs": "hdfs"}
"""The schemes that are taken, and those by which their libraries know them."""

_URI: Final = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]+)://", re.IGNORECASE)
_BUFFER_BYTES: Final = 1 << 20


@lru_cache(maxsize=64)
def _file_system(scheme: str, authority: str) -> RemoteFileSystem:
    if scheme == "hdfs":
        from files.hdfs import Hdfs

        return Hdfs(authority)
    from files.object_store import ObjectStore

    return ObjectStore(f"{SCHEMES[scheme]}://{authority}")


@dataclass(frozen=True, slots=True, order=True)
class RemotePath:
    """A place on a file system that a URI names.

    Examples
    --------
    >>> path = RemotePath.of("s3://bucket/traces/") / "5.3.3"
    >>> str(path), path.name, str(path.parent)
    ('s3://bucket/traces/5.3.3', '5.3.3', 's3://bucket/traces')
    """

    scheme: str
    authority: str
    key: str

    @classmethod
    def of(cls, uri: str) -> RemotePath:
        """The place that a URI of one of the :data:`SCHEMES` names; raises `UnreadableFileError`."""
        parts = urlsplit(uri)
        if not parts.netloc and parts.scheme != "hdfs":
            raise UnreadableFileError(uri, f"it names no bucket: give {parts.scheme}://BUCKET/FOLDER")
        key = "/".join(part for part in unquote(parts.path).split("/") if part)
        return cls(parts.scheme.lower(), parts.netloc, key)

    @property
    def system(self) -> RemoteFileSystem:
        """The file system on which it lies."""
        return _file_system(self.scheme, self.authority)

    @property
    def name(self) -> str:
        """The last part; the bucket's name if there is no other."""
        return self.key.rpartition("/")[2] or self.authority

    @property
    def suffix(self) -> str:
        """What stands behind the last point of the name, with it."""
        return Path(self.name).suffix

    @property
    def parent(self) -> RemotePath:
        """The folder in which it lies."""
        return RemotePath(self.scheme, self.authority, self.key.rpartition("/")[0])

    @property
    def parents(self) -> tuple[RemotePath, ...]:
        """The folders in which it lies, the nearest first."""
        return (self.parent, *self.parent.parents) if self.key else ()

    def __truediv__(self, name: str) -> RemotePath:
        return RemotePath(self.scheme, self.authority, f"{self.key}/{name}" if self.key else name)

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}/{self.key}"

    def with_name(self, name: str) -> RemotePath:
        """Another place in the same folder."""
        return self.parent / name

    def absolute(self) -> RemotePath:
        """Itself: a URI is absolute."""
        return self

    def resolve(self) -> RemotePath:
        """Itself: links are not followed."""
        return self

    def is_relative_to(self, other: Path | RemotePath) -> bool:
        """Whether it is that place, or lies in it."""
        return self == other or other in self.parents

    def is_symlink(self) -> bool:
        """Never."""
        return False

    def look(self) -> RemoteEntry | None:
        """What stands there."""
        return self.system.look(self.key)

    def exists(self) -> bool:
        """Whether a file or a folder is there."""
        return self.look() is not None

    def is_file(self) -> bool:
        """Whether a file is there."""
        found = self.look()
        return found is not None and found.size is not None

    def is_dir(self) -> bool:
        """Whether a folder is there: an object store has those in which something lies."""
        found = self.look()
        return found is not None and found.size is None

    def iterdir(self) -> Iterator[RemotePath]:
        """What lies in the folder, by name."""
        return (self / entry.name for entry in self.system.entries(self.key))

    def glob(self, pattern: str) -> Iterator[RemotePath]:
        """What lies in the folder by a pattern of names, or in its folders by another one: ``*/_manifest.json``."""
        first, _, rest = pattern.partition("/")
        for path in self.iterdir():
            if Path(path.name).match(first):
                if not rest:
                    yield path
                elif "*" in rest:
                    yield from path.glob(rest)
                elif (path / rest).is_file():
                    yield path / rest

    def mkdir(self, *, parents: bool = True, exist_ok: bool = True) -> None:
        """Nothing: a folder is there with the first file in it."""

    def unlink(self, *, missing_ok: bool = False) -> None:
        """Delete the file; raises `FileNotFoundError` where none is there, unless it may be missing."""
        if not missing_ok and not self.exists():
            raise FileNotFoundError(errno.ENOENT, "there is no such file", str(self))
        self.system.delete(self.key)

    def open_file(self) -> io.BufferedReader:
        """The file, opened for reading: pieces are fetched as they are asked for; raises `FileNotFoundError`."""
        found = self.look()
        if found is None:
            raise FileNotFoundError(errno.ENOENT, "there is no such file", str(self))
        if found.size is None:
            raise IsADirectoryError(errno.EISDIR, "it is a folder", str(self))
        return io.BufferedReader(_RemoteFile(self, found.size), _BUFFER_BYTES)


class _RemoteFile(io.RawIOBase):
    def __init__(self, path: RemotePath, size: int) -> None:
        self.name = str(path)
        self._path, self._size, self._at = path, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: WriteableBuffer) -> int:
        room = memoryview(buffer).cast("B")
        end = min(self._at + len(room), self._size)
        if end <= self._at:
            return 0
        content = self._path.system.read(self._path.key, self._at, end)
        room[: len(content)] = content
        self._at += len(content)
        return len(content)


Location: TypeAlias = Path | RemotePath
"""A place on a disk, or on another file system."""


def location(text: str) -> Location:
    """The place that a path or a URI names.

    Raises
    ------
    UnreadableFileError
        The URI has a scheme that is not taken, or names no bucket.

    Examples
    --------
    >>> location("build/traces"), location("file:///srv/traces")
    (PosixPath('build/traces'), PosixPath('/srv/traces'))
    >>> location("ftp://host/traces")
    Traceback (most recent call last):
    files.errors.UnreadableFileError: ftp://host/traces: expected a path, file://, s3://, gs://, abfs:// or hdfs://
    """
    found = _URI.match(text)
    if found is None:
        return Path(text)
    scheme = found["scheme"].lower()
    if scheme == "file":
        return Path(unquote(urlsplit(text).path))
    if scheme not in SCHEMES:
        raise UnreadableFileError(text, "expected a path, file://, s3://, gs://, abfs:// or hdfs://")
    return RemotePath.of(text)
