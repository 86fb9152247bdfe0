"""A directory whose writes are counted, so that the process can die at one of them (:class:`DirectoryDisk`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.format.errors import DiskHasStoppedError
from reference.store.disk import DELETION, LOG_RECORD, MAPPED_FILE, RENAME, SMALL_FILE, DirectoryDisk, DirectoryFile

if TYPE_CHECKING:
    from pathlib import Path

    from reference.format.record import Source


class CrashingDisk:
    """The files below a directory.

    Attributes
    ----------
    writes
        How many there were.
    stops_at
        The write at which the disk stops: it and each one after it raises :class:`DiskHasStoppedError`. None: never.
    """

    counts_writes = True

    def __init__(self, root: Path) -> None:
        self.writes = 0
        self.stops_at: int | None = None
        self._disk = DirectoryDisk(root)

    def crash_at(self, following: int) -> None:
        """Stop at one of the following writes, 1 being the next."""
        self.stops_at = self.writes + following

    def resume(self) -> None:
        """The next process may write again."""
        self.stops_at = None

    def begin_write(self, kind: str) -> None:
        """A write is about to be made.

        Raises
        ------
        DiskHasStoppedError
            It is not.
        """
        if self.stops_at is not None and self.writes + 1 >= self.stops_at:
            message = f"the process dies before write {self.writes + 1}, a {kind}"
            raise DiskHasStoppedError(message)
        self.writes += 1

    def map_file(self, name: str, size: int) -> _CountedFile:
        """See :class:`reference.store.disk.Disk`."""
        if not (self._disk.root / name).exists():
            self.begin_write(MAPPED_FILE)
        return _CountedFile(self, self._disk.map_file(name, size))

    def names(self, folder: str) -> list[str]:
        """See :class:`reference.store.disk.Disk`."""
        return self._disk.names(folder)

    def read(self, name: str) -> bytes | None:
        """See :class:`reference.store.disk.Disk`."""
        return self._disk.read(name)

    def write(self, name: str, content: bytes) -> None:
        """See :class:`reference.store.disk.Disk`."""
        self.begin_write(SMALL_FILE)
        self._disk.write(name, content)

    def rename(self, old: str, new: str) -> None:
        """See :class:`reference.store.disk.Disk`."""
        self.begin_write(RENAME)
        self._disk.rename(old, new)

    def delete(self, name: str) -> None:
        """See :class:`reference.store.disk.Disk`."""
        self.begin_write(DELETION)
        self._disk.delete(name)

    def force(self, name: str) -> None:
        """See :class:`reference.store.disk.Disk`."""
        self._disk.force(name)


class _CountedFile:
    """A mapped file whose writes are counted."""

    __slots__ = ("_disk", "_file")

    def __init__(self, disk: CrashingDisk, file: DirectoryFile) -> None:
        self._disk = disk
        self._file = file

    @property
    def name(self) -> str:
        return self._file.name

    @property
    def size(self) -> int:
        return self._file.size

    @property
    def buffer(self) -> Source:
        return self._file.buffer

    def write(self, at: int, data: bytes, kind: str = LOG_RECORD) -> None:
        self._disk.begin_write(kind)
        self._file.write(at, data, kind)

    def release(self, end: int) -> None:
        self._file.release(end)

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()
