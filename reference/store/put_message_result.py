"""What the store answers when a message is put (``PutMessageResult``)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.format.offsets import CommitLogOffset
    from reference.format.record import Record


class PutMessageStatus(Enum):
    """Whether a message was stored (``org.apache.rocketmq.store.PutMessageStatus``)."""

    PUT_OK = "PUT_OK"
    SERVICE_NOT_AVAILABLE = "SERVICE_NOT_AVAILABLE"
    """The store is not writable: the disk is full, the broker is a slave, or it is shutting down."""
    MESSAGE_ILLEGAL = "MESSAGE_ILLEGAL"
    """The topic or the message is too long."""
    PROPERTIES_SIZE_EXCEEDED = "PROPERTIES_SIZE_EXCEEDED"
    """The properties have more than 32,767 bytes."""
    WHEEL_TIMER_MSG_ILLEGAL = "WHEEL_TIMER_MSG_ILLEGAL"
    """Its timer is no number, or further ahead than three days."""
    CREATE_MAPPED_FILE_FAILED = "CREATE_MAPPED_FILE_FAILED"
    """There is no room for the next file of the commit log."""

    @property
    def is_of_the_message(self) -> bool:
        """Whether it is the message that can't be stored, however often that is tried."""
        return self in (PutMessageStatus.MESSAGE_ILLEGAL, PutMessageStatus.PROPERTIES_SIZE_EXCEEDED)


@dataclass(slots=True, eq=False)
class PutMessageResult:
    """The answer.

    Attributes
    ----------
    status
        Whether the message was stored.
    physical_offset
        Where it stands, None if it was not stored.
    record
        The record, read back from the store when it is asked for; None if there is none.
    """

    status: PutMessageStatus
    look_up: Callable[[CommitLogOffset], Record | None] | None = field(default=None, repr=False)
    physical_offset: CommitLogOffset | None = None
    _record: Record | None = field(default=None, init=False)

    @property
    def record(self) -> Record | None:
        """See the class."""
        if self._record is None and self.look_up is not None and self.physical_offset is not None:
            self._record = self.look_up(self.physical_offset)
        return self._record
