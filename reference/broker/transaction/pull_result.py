"""What the check service makes of a read: four statuses instead of the store's nine (``PullResult``)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reference.format.offsets import QueueOffset
    from reference.format.record import Record


class PullStatus(Enum):
    """``org.apache.rocketmq.client.consumer.PullStatus``."""

    FOUND = "FOUND"
    NO_NEW_MSG = "NO_NEW_MSG"
    OFFSET_ILLEGAL = "OFFSET_ILLEGAL"


@dataclass(frozen=True, slots=True)
class PullResult:
    """The outcome of one pull.

    Attributes
    ----------
    next_begin_offset
        Where the next pull begins.
    found
        The records, or None when none was found (``msgFoundList``); empty when none of those found can be decoded.
    """

    status: PullStatus
    next_begin_offset: QueueOffset
    found: tuple[Record, ...] | None = None
