"""A disk in memory, which can be full, stop between any two writes, tear one, and forget what was not flushed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from reference.format.errors import DiskHasStoppedError, NoSpaceLeftError, NotAStoreError
from reference.store.disk import DELETION, LOG_RECORD, MAPPED_FILE, QUEUE_ENTRY, RENAME, SMALL_FILE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_ENTRY_BYTES = 20


class MemoryFile:
    """A mapped file in memory; its buffer grows as it is written."""

    __slots__ = ("_disk", "buffer", "name", "size")

    def __init__(self, disk: MemoryDisk, name: str, size: int, content: bytes = b"") -> None:
        self._disk = disk
        self.name = name
        self.size = size
        self.buffer = bytearray(content)

    def write(self, at: int, data: bytes, kind: str = LOG_RECORD) -> None:
        """Write some bytes at a position."""
        disk, buffer = self._disk, self.buffer
        if at == len(buffer) and not (disk.counts_writes or disk.loses_power):
            buffer += data
            return
        if kind is QUEUE_ENTRY and len(data) > _ENTRY_BYTES:
            for start in range(0, len(data), _ENTRY_BYTES):
                self.write(at + start, data[start : start + _ENTRY_BYTES], kind)
            return
        allowed = disk.begin_write(kind, len(data))
        if allowed < len(data):
            data = data[:allowed]
        end = at + len(data)
        if at == len(buffer) and not disk.loses_power:
            buffer += data
            disk.end_write()
            return
        if end > len(buffer):
            buffer.extend(bytes(end - len(buffer)))
        if disk.loses_power:
            before = bytes(buffer[at:end])
            disk.journal.append((self.name, lambda: buffer.__setitem__(slice(at, end), before)))
        buffer[at:end] = data
        disk.end_write()

    def release(self, end: int) -> None:
        """Nothing: the bytes have no other place."""

    def flush(self) -> None:
        """Let all that was written here survive a loss of power."""
        self._disk.forget(self.name)

    def close(self) -> None:
        """Nothing: the bytes belong to the disk."""


class MemoryDisk:
    """The files of one store, in memory; perhaps with what :meth:`lose_power` has to undo.

    Where no process dies between two writes, they need not be counted, nor made at once.
    """

    def __init__(self, *, loses_power: bool = False, counts_writes: bool = True) -> None:
        self.loses_power = loses_power
        self.counts_writes = counts_writes
        self.space_left: int | None = None
        """Bytes that new files may still take, None for no limit. A mapped file takes its whole size."""
        self.writes: Counter[str] = Counter()
        """How many writes of each kind there were."""
        self.stops_after: int | None = None
        """After that many writes in all, each further one raises :class:`DiskHasStoppedError`: the process died between
        two writes. None for never."""
        self.torn_bytes = 0
        """How much of the write at which the disk stops is still made, at most all but its last byte."""
        self.journal: list[tuple[str, Callable[[], object]]] = []
        self._total = 0
        self._is_tearing = False
        self._mapped: dict[str, MemoryFile] = {}
        self._small: dict[str, bytes] = {}

    @property
    def write_count(self) -> int:
        """All writes so far."""
        return self._total

    # --- Disk ---------------------------------------------------------------------------------------------------------

    def map_file(self, name: str, size: int) -> MemoryFile:
        """See :class:`reference.store.disk.Disk`."""
        file = self._mapped.get(name)
        if file is None:
            self._take_space(size, name)
            self.begin_write(MAPPED_FILE, 0)
            file = self._mapped[name] = MemoryFile(self, name, size)
            self._remember(name, lambda: self._mapped.pop(name, None))
            self.end_write()
        elif len(file.buffer) > size:
            message = f"{name} has {len(file.buffer)} bytes, its files are to have {size}; is the file size right?"
            raise NotAStoreError(message)
        file.size = size
        return file

    def names(self, folder: str) -> list[str]:
        """See :class:`reference.store.disk.Disk`."""
        start = f"{folder}/"
        below = (name[len(start) :] for name in (*self._mapped, *self._small) if name.startswith(start))
        return sorted({rest.partition("/")[0] for rest in below})

    def read(self, name: str) -> bytes | None:
        """See :class:`reference.store.disk.Disk`."""
        return self._small.get(name)

    def write(self, name: str, content: bytes) -> None:
        """See :class:`reference.store.disk.Disk`."""
        before = self._small.get(name)
        self._take_space(len(content) - len(before or b""), name)
        allowed = self.begin_write(SMALL_FILE, len(content))
        self._small[name] = content[:allowed]
        self._remember(name, lambda: self._restore(name, before))
        self.end_write()

    def rename(self, old: str, new: str) -> None:
        """See :class:`reference.store.disk.Disk`."""
        before, content = self._small.get(new), self._small[old]
        self.begin_write(RENAME, 0)
        self._give_space(len(before or b""))
        self._small[new] = self._small.pop(old)

        def undo() -> None:
            self._restore(new, before)
            self._restore(old, content)

        self._remember(new, undo)
        self.end_write()

    def delete(self, name: str) -> None:
        """See :class:`reference.store.disk.Disk`."""
        if name not in self._small and name not in self._mapped:
            return
        self.begin_write(DELETION, 0)
        small, mapped = self._small.pop(name, None), self._mapped.pop(name, None)
        self._give_space(len(small or b"") + (0 if mapped is None else mapped.size))
        self._remember(name, lambda: self._restore(name, small))
        if mapped is not None:
            self._remember(name, lambda: self._mapped.__setitem__(name, mapped))
        self.end_write()

    def used_share(self, *, of_users: bool) -> float:  # noqa: ARG002 - memory has no other users
        """See :class:`reference.store.disk.Disk`; full, or as good as empty."""
        return float(self.space_left == 0)

    def force(self, name: str) -> None:
        """See :class:`reference.store.disk.Disk`."""
        self.forget(name)

    # --- what can go wrong --------------------------------------------------------------------------------------------

    def lose_power(self, survivors: int = 0) -> None:
        """Undo the writes that were not flushed, but for the oldest ``survivors`` of them."""
        while len(self.journal) > survivors:
            self.journal.pop()[1]()
        self.journal.clear()
        self.resume()

    def resume(self) -> None:
        """Work again after it has stopped."""
        self.stops_after = None
        self._is_tearing = False

    def flush(self) -> None:
        """All that was written survives a loss of power."""
        self.journal.clear()

    def forget(self, name: str) -> None:
        """Let all that was written to one file survive a loss of power."""
        if self.journal:
            self.journal = [entry for entry in self.journal if entry[0] != name]

    def copy(self) -> MemoryDisk:
        """A second disk with the same content; it counts from 0 and never stops."""
        other = MemoryDisk(loses_power=self.loses_power, counts_writes=self.counts_writes)
        other.space_left = self.space_left
        other._small = dict(self._small)
        other._mapped = {
            name: MemoryFile(other, name, file.size, bytes(file.buffer)) for name, file in self._mapped.items()
        }
        return other

    def files(self) -> dict[str, bytes]:
        """The content of every file, mapped ones without their zero tails."""
        mapped = {name: bytes(file.buffer).rstrip(b"\0") for name, file in self._mapped.items()}
        return mapped | self._small

    def write_to(self, folder: Path) -> None:
        """Write every file below a directory, mapped ones in their full size."""
        for name, content in self.files().items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                file.write(content)
                if name in self._mapped:
                    file.truncate(self._mapped[name].size)

    # --- for its files ------------------------------------------------------------------------------------------------

    def begin_write(self, kind: str, length: int) -> int:
        """Count a write; gives how many of its bytes are made, or `DiskHasStoppedError` if the process is dead."""
        if self.stops_after is not None and self._total >= self.stops_after:
            if self._is_tearing or not self.torn_bytes or length < 2:
                message = f"the disk has stopped after {self._total} writes; resume() or lose_power() first"
                raise DiskHasStoppedError(message)
            self._is_tearing = True
            return min(self.torn_bytes, length - 1)
        self.writes[kind] += 1
        self._total += 1
        return length

    def end_write(self) -> None:
        """A write is made; it was the last if it was torn."""
        if self._is_tearing:
            message = f"the disk has stopped in the midst of write {self._total + 1}"
            raise DiskHasStoppedError(message)

    def _remember(self, name: str, undo: Callable[[], object]) -> None:
        if self.loses_power:
            self.journal.append((name, undo))

    def _restore(self, name: str, content: bytes | None) -> None:
        if content is None:
            self._small.pop(name, None)
        else:
            self._small[name] = content

    def _give_space(self, size: int) -> None:
        if self.space_left is not None:
            self.space_left += size

    def _take_space(self, size: int, name: str) -> None:
        if self.space_left is None or size <= 0:
            return
        if size > self.space_left:
            message = f"{name} needs {size} bytes, {self.space_left} are left on the disk"
            raise NoSpaceLeftError(message)
        self.space_left -= size
