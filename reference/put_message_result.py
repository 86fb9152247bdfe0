"""What the store answers when a message is put (``PutMessageResult``)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reference.store.record import Record


class PutMessageStatus(Enum):
    """Whether a message was stored (``org.apache.rocketmq.store.PutMessageStatus``)."""

    PUT_OK = "PUT_OK"
    SERVICE_NOT_AVAILABLE = "SERVICE_NOT_AVAILABLE"
    """The store is not writable: the disk is full, or the broker is shutting down."""


@dataclass(frozen=True, slots=True)
class PutMessageResult:
    """The answer, with the record if there is one."""

    status: PutMessageStatus
    record: Record | None = None
