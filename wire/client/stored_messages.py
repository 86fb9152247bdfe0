"""Messages of a queue as a broker has them in its commit log, which nobody here has decoded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wire.remoting.messages import stored_records

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class QueueStretch:
    """A queue from one queue offset up to another one, which does not belong to it."""

    topic: str
    queue_id: int
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class StoredMessages:
    """The messages that a broker still has of a stretch, in its order, one behind the other."""

    stretch: QueueStretch
    body: bytes

    def records(self) -> Iterator[tuple[int, bytes]]:
        """Each with its commit log offset; raises as :func:`wire.remoting.messages.stored_records`."""
        return stored_records(self.body)
