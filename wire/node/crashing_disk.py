"""A directory whose writes are counted, so that the process can die at one of them (:class:`DirectoryDisk`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.format.errors import DiskHasStoppedError
from reference.store.disk import DELETION, LOG_RECORD, MAPPED_FILE, RENAME, SMALL_FILE, DirectoryDisk, DirectoryFile

if TYPE_CHECKING:
    from pathlib import Path

    from wire.node.ordered_faults import OrderedFault


class CrashingDisk(DirectoryDisk):
    """The files below a directory."""

    counts_writes = True

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.writes = 0
        self.stops_at: int | None = None
        """The write at which the disk stops: it and each one after it raises :class:`DiskHasStoppedError`. None:
        never."""
        self.crash: OrderedFault | None = None
        """The order by which it stops there."""

    def crash_at(self, following: int, crash: OrderedFault) -> None:
        """Stop at one of the following writes, 1 being the next, as was ordered."""
        self.stops_at, self.crash = self.writes + following, crash

    def resume(self) -> None:
        """The next process may write again."""
        self.stops_at = self.crash = None

    def begin_write(self, kind: str) -> None:
        """A write is about to be made; `DiskHasStoppedError` if it is not."""
        if self.stops_at is not None and self.writes + 1 >= self.stops_at:
            message = f"the process dies before write {self.writes + 1}, a {kind}"
            raise DiskHasStoppedError(message)
        self.writes += 1

    def map_file(self, name: str, size: int) -> DirectoryFile:
        """See :class:`reference.store.disk.Disk`."""
        path = self.root / name
        if not path.exists():
            self.begin_write(MAPPED_FILE)
        return _CountedFile(self, path, name, size)

    def write(self, name: str, content: bytes) -> None:
        """See :class:`reference.store.disk.Disk`."""
        self.begin_write(SMALL_FILE)
        super().write(name, content)

    def rename(self, old: str, new: str) -> None:
        """See :class:`reference.store.disk.Disk`."""
        self.begin_write(RENAME)
        super().rename(old, new)

    def delete(self, name: str) -> None:
        """See :class:`reference.store.disk.Disk`."""
        self.begin_write(DELETION)
        super().delete(name)


class _CountedFile(DirectoryFile):
    """A mapped file whose writes are counted."""

    __slots__ = ("_disk",)

    def __init__(self, disk: CrashingDisk, path: Path, name: str, size: int) -> None:
        super().__init__(path, name, size)
        self._disk = disk

    def write(self, at: int, data: bytes, kind: str = LOG_RECORD) -> None:
        self._disk.begin_write(kind)
        super().write(at, data, kind)
