"""What the store answers when a queue is read (``GetMessageResult``)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reference.store.offsets import QueueOffset
    from reference.store.record import Record


class GetMessageStatus(Enum):
    """What was found at a queue offset (``org.apache.rocketmq.store.GetMessageStatus``)."""

    FOUND = "FOUND"
    NO_MESSAGE_IN_QUEUE = "NO_MESSAGE_IN_QUEUE"
    OFFSET_OVERFLOW_ONE = "OFFSET_OVERFLOW_ONE"
    """The offset is the queue's end: the next message will stand there."""
    OFFSET_OVERFLOW_BADLY = "OFFSET_OVERFLOW_BADLY"
    """The offset lies beyond the queue's end."""


@dataclass(frozen=True, slots=True)
class GetMessageResult:
    """The answer.

    Attributes
    ----------
    next_begin_offset
        Where the reader is told to go on.
    max_offset
        The queue's end.
    records
        What was found, in the order of the queue.
    """

    status: GetMessageStatus
    next_begin_offset: QueueOffset
    max_offset: QueueOffset
    records: tuple[Record, ...] = ()
