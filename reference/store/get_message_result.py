"""What the store answers when a queue is read (``GetMessageResult``)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reference.format.offsets import QueueOffset
    from reference.format.record import Record


class GetMessageStatus(Enum):
    """What was found at a queue offset (``org.apache.rocketmq.store.GetMessageStatus``)."""

    FOUND = "FOUND"
    MESSAGE_WAS_REMOVING = "MESSAGE_WAS_REMOVING"
    """The entries are there, their records are not."""
    OFFSET_TOO_SMALL = "OFFSET_TOO_SMALL"
    """The offset lies before the first message that is still kept."""
    NO_MESSAGE_IN_QUEUE = "NO_MESSAGE_IN_QUEUE"
    NO_ANSWER = "NO_ANSWER"
    """Stands for the null that a store returns which is shut down or not readable."""
    OFFSET_OVERFLOW_ONE = "OFFSET_OVERFLOW_ONE"
    """The offset is the queue's end: the next message will stand there."""
    OFFSET_OVERFLOW_BADLY = "OFFSET_OVERFLOW_BADLY"
    """The offset lies beyond the queue's end."""


@dataclass(frozen=True, slots=True)
class GetMessageResult:
    """The answer."""

    status: GetMessageStatus
    next_begin_offset: QueueOffset
    """Where the reader is told to go on."""
    max_offset: QueueOffset
    """The queue's end."""
    records: tuple[Record | None, ...] = ()
    """What was found, in the order of the queue; None for bytes that ``MessageDecoder#decode`` makes nothing of."""
