"""An index of the half queue from the half offset on: which halves are copies of which, and whose. For repairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.format.properties import ESCAPED_FROM, PREPARED_QUEUE_OFFSET, UNIQUE_KEY
from reference.format.record import LogRecord, QueueOffset
from reference.format.system_topics import HALF_QUEUE_ID, HALF_TOPIC
from reference.java import get_long

if TYPE_CHECKING:
    from reference.store.message_store import MessageStore

_PAGE = 32
"""``pullBatchSize``: so many halves are read at once."""

_NO_HALF = QueueOffset(-1)


class HalfIndex:
    """The last half that knows an original, and the last of a transaction.

    The broker enters each half as it stores it, and reads those of an earlier process when a round first needs them.
    No release has such an index (repairs of B01, B16).
    """

    def __init__(self, store: MessageStore) -> None:
        self._store = store
        self._last_copies: dict[QueueOffset, QueueOffset] = {}
        self._last_halves: dict[str, QueueOffset] = {}
        self._origins: set[str] = set()
        self._covered_from: QueueOffset | None = None

    def enter(self, half: LogRecord) -> None:
        """Take up a half that was stored."""
        at = half.queue_offset
        original = original_of(half)
        if original is not None:
            self._last_copies[original] = max(at, self._last_copies.get(original, _NO_HALF))
        if ESCAPED_FROM in half.properties:
            self._origins.add(half.properties[ESCAPED_FROM])
        key = half.properties.get(UNIQUE_KEY, "")
        self._last_halves[key] = max(at, self._last_halves.get(key, _NO_HALF))

    def cover(self, half_offset: QueueOffset) -> None:
        """Read the halves from an offset on that were not read yet: all after a start, a few where it went back."""
        end = self._store.get_max_offset_in_queue(HALF_TOPIC, HALF_QUEUE_ID)
        if self._covered_from is not None:
            end = self._covered_from
        at = max(half_offset, self._store.cleaning.get_min_offset_in_queue(HALF_TOPIC, HALF_QUEUE_ID))
        while at < end:
            read = self._store.get_message(HALF_TOPIC, HALF_QUEUE_ID, at, _PAGE)
            for half in read.records:
                if half is not None:
                    self.enter(half)
            at = read.next_begin_offset if read.records else end
        self._covered_from = min(half_offset, end)

    def last_copy_of(self, original: QueueOffset) -> QueueOffset:
        """The last half that knows an original; -1 if none does."""
        return self._last_copies.get(original, _NO_HALF)

    def last_half_of(self, unique_key: str) -> QueueOffset:
        """The last half of a transaction; -1 if none is known."""
        return self._last_halves.get(unique_key, _NO_HALF)

    def has_come_from(self, origin: str) -> bool:
        """Whether a half has escaped from there to here."""
        self.cover(QueueOffset(0))
        return origin in self._origins


def original_of(half: LogRecord) -> QueueOffset | None:
    """The half that a copy stands for (TRAN_PREPARED_QUEUE_OFFSET); None if it names none."""
    text = half.properties.get(PREPARED_QUEUE_OFFSET)
    original = -1 if text is None else get_long(text)
    return None if original == -1 else QueueOffset(original)
