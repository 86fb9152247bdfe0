"""The consume queues: for each topic and queue, 20 bytes a message that point into the commit log.

An entry is the commit log offset (8 bytes), the record's size (4) and the tags code (8), big endian
(``ConsumeQueue#putMessagePositionInfo``). The tags code is the Java hash of the tags, or 0; for a scheduled message it
is the time of delivery, and with ``enableConsumeQueueExt`` it can be an address (``ConsumeQueueExt#isExtAddr``).
"""

from __future__ import annotations

import mmap
import struct
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple, Self

from files.reading import map_file
from reference.format.errors import CorruptRegion, NotAStoreError
from reference.format.record import CommitLogOffset, QueueOffset

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    Content = bytes | mmap.mmap

FOLDER = "consumequeue"
ENTRY_BYTES = 20
_ENTRY = struct.Struct(">qiq")
_CHUNK_BYTES = ENTRY_BYTES << 15
PRE_BLANK_SIZE = 0x7FFFFFFF
"""The size in the entries that fill a file up to where a queue really begins (``ConsumeQueue#fillPreBlank``)."""


class ConsumeQueueEntry(NamedTuple):
    """One entry of a consume queue."""

    commit_log_offset: CommitLogOffset
    size_bytes: int
    tags_code: int


class ConsumeQueue:
    """One queue of one topic, its files as if they were one piece; each is mapped when it is first looked into."""

    def __init__(self, topic: str, queue_id: int, files: Sequence[tuple[int, Path | bytes]]) -> None:
        self.topic = topic
        self.queue_id = queue_id
        self.name = f"{FOLDER}/{topic}/{queue_id}"
        """Its folder below the store."""
        self.first = QueueOffset(files[0][0] // ENTRY_BYTES if files else 0)
        """The queue offset of the first entry that is kept."""
        self._starts = [start for start, _ in files]
        self._contents: list[Path | Content] = [content for _, content in files]
        last = files[-1][1] if files else b""
        self._size = (self._starts[-1] - self._starts[0] if files else 0) + (
            len(last) if isinstance(last, bytes) else last.stat().st_size
        )
        self.torn_bytes = self._size % ENTRY_BYTES
        """The rest at the end of the last file that is not a whole entry."""

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open the folder of one queue, ``consumequeue/TOPIC/QUEUE_ID``.

        Raises
        ------
        NotAStoreError
            A file is not named after the offset of its first byte, or the folder not after a queue id.
        """
        paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
        for path in (folder, *paths):
            if not path.name.isdecimal():
                message = f"{path} does not belong into a consume queue: its name is not a number"
                raise NotAStoreError(message)
        return cls(folder.parent.name, int(folder.name), [(int(path.name), path) for path in paths])

    @property
    def is_empty(self) -> bool:
        """Whether it has files and they hold nothing; a broker makes them in their full size."""
        return bool(self._starts) and not self._size

    @property
    def end(self) -> QueueOffset:
        """The queue offset behind the last entry; zeros behind it do not count.

        Looked for from the end of what was written: a broker makes its files in their full size.
        """
        written = self._starts[-1] - self._starts[0] + len(self._content(-1)) if self._starts else 0
        stop = -(-min(written, self._size) // ENTRY_BYTES) * ENTRY_BYTES
        stop = min(stop, self._size // ENTRY_BYTES * ENTRY_BYTES)
        while stop > 0:
            start = max(stop - _CHUNK_BYTES, 0)
            whole = self.read(self.first * ENTRY_BYTES + start, stop - start).rstrip(b"\0")
            if whole:
                return QueueOffset(self.first + -(-(start + len(whole)) // ENTRY_BYTES))
            stop = start
        return self.first

    def read(self, at: int, size: int) -> bytes:
        """Some bytes of the queue, by the offset that files are named after; zeros where a file is too short.

        Bytes behind the end of the last file are left out.
        """
        size = min(size, (self._starts[0] if self._starts else 0) + self._size - at)
        parts = []
        index = max(bisect_right(self._starts, at) - 1, 0)
        while size > 0:
            end = self._starts[index + 1] if index + 1 < len(self._starts) else at + size
            wanted = min(size, end - at)
            from_file = at - self._starts[index]
            parts.append(self._content(index)[from_file : from_file + wanted].ljust(wanted, b"\0"))
            at, size, index = at + wanted, size - wanted, index + 1
        return b"".join(parts)

    def entry(self, offset: int) -> ConsumeQueueEntry | None:
        """The entry of a queue offset; None where there is none, or one that only fills the file."""
        if offset < self.first:
            return None
        raw = self.read(offset * ENTRY_BYTES, ENTRY_BYTES)
        if len(raw) < ENTRY_BYTES:
            return None
        commit_log_offset, size, tags_code = _ENTRY.unpack(raw)
        if size <= 0 or commit_log_offset < 0 or (size == PRE_BLANK_SIZE and commit_log_offset == 0):
            return None
        return ConsumeQueueEntry(CommitLogOffset(commit_log_offset), size, tags_code)

    def _content(self, index: int) -> Content:
        content = self._contents[index]
        if isinstance(content, (bytes, mmap.mmap)):
            return content
        self._contents[index] = mapped = map_file(content)
        return mapped

    def entries(self) -> Iterator[tuple[QueueOffset, ConsumeQueueEntry]]:
        """Every entry with its queue offset."""
        for offset in range(self.first, self.end):
            entry = self.entry(offset)
            if entry is not None:
                yield QueueOffset(offset), entry

    def region(self, offset: int, reason: str) -> CorruptRegion:
        """Damage at the entry of a queue offset."""
        at = offset * ENTRY_BYTES
        start = max((start for start in self._starts if start <= at), default=0)
        return CorruptRegion(f"{self.name}/{start:020d}", at - start, reason)


def open_consume_queues(store: Path) -> dict[tuple[str, int], ConsumeQueue]:
    """Every queue below ``consumequeue/``, by topic and queue id; empty if there is no such folder.

    Raises
    ------
    NotAStoreError
        A folder or file there does not bear a number where it should.
    """
    folder = store / FOLDER
    if not folder.is_dir():
        return {}
    queues = {}
    for topic in sorted(path for path in folder.iterdir() if path.is_dir()):
        for path in sorted(path for path in topic.iterdir() if path.is_dir()):
            queues[topic.name, int(path.name) if path.name.isdecimal() else -1] = ConsumeQueue.open(path)
    return queues
