"""The disk under a store: a directory of this machine, or memory (:mod:`reference.store.memory_disk`).

RocketMQ maps its files in their full size and writes into them; a crash of the process leaves what was written in the
page cache, a loss of power only what was flushed. So a disk gives mapped files, and small files that are written whole.
"""

from __future__ import annotations

import errno
import mmap
import os
from typing import TYPE_CHECKING, Protocol

from files.reading import read_bytes, written_bytes
from reference.format.errors import NoSpaceLeftError, NotAStoreError

if TYPE_CHECKING:
    from pathlib import Path

    from reference.format.record import Source

LOG_RECORD = "commit log record"
BLANK_RECORD = "end-of-file record"
QUEUE_ENTRY = "consume queue entry"
MAPPED_FILE = "new mapped file"
SMALL_FILE = "small file"
RENAME = "rename"
DELETION = "deletion"
"""The kinds of write between which a crash can fall (:attr:`MemoryDisk.writes`)."""


_STEPS_BITS = 11
"""A file is given its place in a thousand steps or two."""

_RESERVED_BYTES = 1 << 20
"""Bytes that a record leaves free, so that queues, settings and the next process find room. RocketMQ refuses
messages long before, from a share of the disk on (``diskMaxUsedSpaceRatio``), beyond which a test's machine may be."""


class MappedFile(Protocol):
    """A file of fixed size that is written in place (``DefaultMappedFile``)."""

    @property
    def name(self) -> str:
        """Its path below the store, with slashes."""

    @property
    def size(self) -> int:
        """Its length in bytes."""

    @property
    def buffer(self) -> Source:
        """Its bytes; those of a disk in memory may be fewer than ``size``, and the missing ones are zeros."""

    def write(self, at: int, data: bytes, kind: str = LOG_RECORD) -> None:
        """Write some bytes at a position."""

    def release(self, end: int) -> None:
        """Give the memory before a position back for now; it stays readable."""

    def flush(self) -> None:
        """Bring what was written to where a loss of power can't reach it (``MappedByteBuffer#force``)."""

    def close(self) -> None:
        """Give the mapping up."""


class Disk(Protocol):
    """The files below one ``storePathRootDir``; names are paths below it, with slashes."""

    @property
    def counts_writes(self) -> bool:
        """Whether each write is to be made at once and on its own, so that a crash can fall between any two."""

    def map_file(self, name: str, size: int) -> MappedFile:
        """Open a mapped file, or make it, full of zeros.

        Raises
        ------
        NoSpaceLeftError
            There is no room for a new one.
        NotAStoreError
            It is there and longer than that.
        """

    def names(self, folder: str) -> list[str]:
        """The names in a folder, sorted, without those that begin with a dot; none if there is no such folder."""

    def read(self, name: str) -> bytes | None:
        """A small file's content, or None if there is none."""

    def write(self, name: str, content: bytes) -> None:
        """Write a small file, over what was there (``MixAll#string2FileNotSafe``); `NoSpaceLeftError` without room."""

    def rename(self, old: str, new: str) -> None:
        """Rename a file; what had the new name is gone."""

    def delete(self, name: str) -> None:
        """Delete a file, if it is there."""

    def used_share(self, *, of_users: bool) -> float:
        """How full it is, from 0 to 1, in whole hundredths of what users may have of it, or as it is."""

    def force(self, name: str) -> None:
        """Bring a small file and its name to where a loss of power can't reach them (``MixAll#fsyncDirectory``)."""


class DirectoryFile:
    """A mapped file of this machine.

    It is made in its full size, and takes room on the disk as it is written: a part of it has its place before
    anything is written there, as the system ends a process (SIGBUS) that writes into a page for which there is none.
    """

    __slots__ = ("_path", "_placed", "_step", "buffer", "name", "size")

    def __init__(self, path: Path, name: str, size: int) -> None:
        self.name = name
        self.size = size
        self._path = path
        self._step = max(mmap.PAGESIZE, 1 << max(size.bit_length() - _STEPS_BITS, 0))
        self._placed: set[int] = set()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            message = f"{path} can't be made: {error.strerror}"
            raise NoSpaceLeftError(message) from error
        try:
            length = os.fstat(descriptor).st_size
            if length > size:
                message = f"{path} has {length} bytes, its files are to have {size}; is the configured file size right?"
                raise NotAStoreError(message)
            if length < size:
                os.ftruncate(descriptor, size)
            self.buffer = mmap.mmap(descriptor, size)
            self._place(
                descriptor, written_bytes(descriptor), 0
            )  # which is looked at, to see that nothing stands there
        except OSError as error:
            message = f"{path} can't be made in its size of {size} bytes: {error.strerror}"
            raise NoSpaceLeftError(message) from error
        finally:
            os.close(descriptor)

    def write(self, at: int, data: bytes, kind: str = LOG_RECORD) -> None:
        """Write some bytes at a position.

        Raises
        ------
        NoSpaceLeftError
            There is no room for them, or only what queues and settings need besides a record.
        """
        end = at + len(data)
        if at // self._step not in self._placed or end // self._step not in self._placed:
            self._make_room(at, end, _RESERVED_BYTES if kind is LOG_RECORD else 0)
        self.buffer[at:end] = data

    def _make_room(self, at: int, end: int, reserved: int) -> None:
        try:
            descriptor = os.open(self._path, os.O_RDWR)
            try:
                for step in range(at // self._step, end // self._step + 1):
                    if step not in self._placed:
                        self._place(descriptor, step * self._step, reserved)
            finally:
                os.close(descriptor)
        except OSError as error:
            message = f"{self._path} has no room for {end - at} bytes more: {error.strerror}"
            raise NoSpaceLeftError(message) from error

    def _place(self, descriptor: int, at: int, reserved: int) -> None:
        """Give the step of the file in which a position is its place on the disk, if that leaves so much free."""
        step = at // self._step
        start = step * self._step
        length = min(self._step, self.size - start)
        if length <= 0:
            return
        if reserved:
            disk = os.fstatvfs(descriptor)
            if disk.f_bavail * disk.f_frsize < length + reserved:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        try:
            os.posix_fallocate(descriptor, start, length)
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):  # a file system that can't
                raise
        self._placed.add(step)

    def release(self, end: int) -> None:
        """Give the pages back to the page cache (``madvise``), so that the process does not grow with the store."""
        length = end // mmap.PAGESIZE * mmap.PAGESIZE
        if length:
            self.buffer.madvise(mmap.MADV_DONTNEED, 0, length)

    def flush(self) -> None:
        """``msync``."""
        self.buffer.flush()

    def close(self) -> None:
        """Unmap it."""
        self.buffer.close()


class DirectoryDisk:
    """A directory of this machine, which is made if it is missing."""

    counts_writes = False

    def __init__(self, root: Path) -> None:
        self.root = root
        self._small_files: dict[str, tuple[os.stat_result, bytes]] = {}
        try:
            root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"{root} can't be a store directory: {error.strerror}"
            raise NotAStoreError(message) from error

    def map_file(self, name: str, size: int) -> DirectoryFile:
        """See :class:`Disk`."""
        return DirectoryFile(self.root / name, name, size)

    def names(self, folder: str) -> list[str]:
        """See :class:`Disk`."""
        path = self.root / folder
        return sorted(entry.name for entry in path.iterdir() if entry.name[0] != ".") if path.is_dir() else []

    def read(self, name: str) -> bytes | None:
        """See :class:`Disk`."""
        known = self._known(name)
        if known is not None:
            return known
        path = self.root / name
        return read_bytes(path) if path.is_file() else None

    def write(self, name: str, content: bytes) -> None:
        """See :class:`Disk`; a file that holds that already stays, as a broker saves its tables over and over."""
        if self._known(name) == content:
            return
        path = self.root / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_over(path, content)
            self._small_files[name] = path.stat(), content
        except OSError as error:
            message = f"{path} can't be written: {error.strerror}"
            raise NoSpaceLeftError(message) from error

    def rename(self, old: str, new: str) -> None:
        """See :class:`Disk`."""
        try:
            (self.root / old).replace(self.root / new)
        except OSError as error:
            message = f"{self.root / new} can't be made: {error.strerror}"
            raise NoSpaceLeftError(message) from error
        moved = self._small_files.pop(old, None)
        if moved is not None:
            self._small_files[new] = moved

    def delete(self, name: str) -> None:
        """See :class:`Disk`."""
        (self.root / name).unlink(missing_ok=True)

    def used_share(self, *, of_users: bool) -> float:
        """See :class:`Disk`."""
        disk = os.statvfs(self.root)
        used = disk.f_blocks - disk.f_bfree
        return -(-100 * used // (used + disk.f_bavail)) / 100 if of_users else used / disk.f_blocks

    def force(self, name: str) -> None:
        """See :class:`Disk`."""
        path = self.root / name
        for forced in (path, path.parent):
            descriptor = os.open(forced, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def _known(self, name: str) -> bytes | None:
        """The content of a small file, if it is still the file that was written."""
        if name not in self._small_files:
            return None
        before, content = self._small_files[name]
        try:
            now = (self.root / name).stat()
        except OSError:
            return None
        is_same = (now.st_ino, now.st_size, now.st_mtime_ns) == (before.st_ino, before.st_size, before.st_mtime_ns)
        return content if is_same else None


def _write_over(path: Path, content: bytes) -> None:
    """Write a file; one of that size keeps its place on the disk, so that this can't fail for want of room."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK, 0o644)  # a pipe is not waited for
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.truncate()
