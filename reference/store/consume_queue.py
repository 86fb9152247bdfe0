"""The consume queues: for each topic and queue, 20 bytes a message that point into the commit log.

An entry is the commit log offset (8 bytes), the record's size (4) and the tags code (8), big endian
(``ConsumeQueue#putMessagePositionInfo``). The tags code is the Java hash of the tags, or 0; for a scheduled message it
is the time of delivery, and with ``enableConsumeQueueExt`` it can be an address (``ConsumeQueueExt#isExtAddr``).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple, Self

from reference.store.corrupt_region import CorruptRegion
from reference.store.errors import NotAStoreError
from reference.store.offsets import CommitLogOffset, QueueOffset

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOLDER = "consumequeue"
ENTRY_BYTES = 20
_ENTRY = struct.Struct(">qiq")
_PRE_BLANK_SIZE = 0x7FFFFFFF
"""The size in the entries that fill a file up to where a queue really begins (``ConsumeQueue#fillPreBlank``)."""


class ConsumeQueueEntry(NamedTuple):
    """One entry of a consume queue."""

    commit_log_offset: CommitLogOffset
    size_bytes: int
    tags_code: int


class ConsumeQueue:
    """One queue of one topic, all its files in one piece.

    Attributes
    ----------
    topic, queue_id
        Which queue it is.
    name
        Its folder below the store.
    first
        The queue offset of the first entry that is kept.
    torn_bytes
        What is left at the end of the last file and is not a whole entry.
    """

    def __init__(self, topic: str, queue_id: int, files: list[tuple[int, bytes]]) -> None:
        self.topic = topic
        self.queue_id = queue_id
        self.name = f"{FOLDER}/{topic}/{queue_id}"
        self.first = QueueOffset(files[0][0] // ENTRY_BYTES if files else 0)
        self._data = b"".join(
            data if index + 1 == len(files) else data.ljust(files[index + 1][0] - start, b"\0")
            for index, (start, data) in enumerate(files)
        )
        self._starts = [start for start, _ in files]
        self.torn_bytes = len(self._data) % ENTRY_BYTES

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
        return cls(folder.parent.name, int(folder.name), [(int(path.name), path.read_bytes()) for path in paths])

    @property
    def is_empty(self) -> bool:
        """Whether it has files and they hold nothing; a broker makes them in their full size."""
        return bool(self._starts) and not self._data

    @property
    def end(self) -> QueueOffset:
        """The queue offset behind the last entry; zeros behind it do not count."""
        whole = self._data[: len(self._data) // ENTRY_BYTES * ENTRY_BYTES].rstrip(b"\0")
        return QueueOffset(self.first + -(-len(whole) // ENTRY_BYTES))

    def entry(self, offset: int) -> ConsumeQueueEntry | None:
        """The entry of a queue offset; None where there is none, or one that only fills the file."""
        at = (offset - self.first) * ENTRY_BYTES
        if at < 0 or at + ENTRY_BYTES > len(self._data):
            return None
        commit_log_offset, size, tags_code = _ENTRY.unpack_from(self._data, at)
        if size <= 0 or commit_log_offset < 0 or (size == _PRE_BLANK_SIZE and commit_log_offset == 0):
            return None
        return ConsumeQueueEntry(CommitLogOffset(commit_log_offset), size, tags_code)

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
