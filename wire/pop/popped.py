"""One message that was handed out, and all of one queue that were to one group."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from reference.format.record import LogRecord
    from wire.pop.receipt_handle import ReceiptHandle

RENEW_AHEAD_MS: Final = 10_000
"""``renewAheadTimeMillis``: so long before a receipt is over, the proxy renews it."""

RENEW_MOST_MS: Final = 3 * 3_600_000
"""``renewMaxTimeMillis``: for longer than this nothing is renewed."""

_RENEWALS_MS: Final = tuple(minutes * 60_000 for minutes in (1, 3, 5, 10, 30, 60))
"""``RenewStrategyPolicy``: for how long the first, the second… renewal hides a message."""


class PopQueue(NamedTuple):
    """A queue as a group reads it."""

    group: str
    topic: str
    queue_id: int


@dataclass(slots=True, eq=False)
class Popped:
    """A message that a group has got, until it is acked or comes again."""

    queue: PopQueue
    record: LogRecord
    handle: ReceiptHandle
    text: str
    """The receipt, and as the client has it."""
    attempt: int
    """The how-manieth delivery this is, from 1."""
    visible_at: int
    """From when on it may be handed out again, by the broker's wall clock."""
    is_ordered: bool
    owner: str = ""
    """The client for which the proxy renews the receipt; empty for none."""
    first_popped: int = 0
    renewals: int = 0

    @property
    def due_at(self) -> int:
        """When something is to be done about it: it is renewed, or comes again."""
        return self.visible_at - RENEW_AHEAD_MS if self.owner else self.visible_at

    def renew(self, now: int) -> bool:
        """Hide it for longer, as the proxy does while its client is there; False if that has gone on for too long.

        ``DefaultReceiptHandleManager#startRenewMessage``.
        """
        if not self.owner or now - self.first_popped >= RENEW_MOST_MS:
            return False
        self.visible_at = now + _RENEWALS_MS[min(self.renewals, len(_RENEWALS_MS) - 1)]
        self.renewals += 1
        return True


@dataclass(slots=True)
class PopProgress:
    """How far a group is in a queue."""

    next: int
    """The offset that nobody of the group has got yet."""
    in_flight: dict[int, Popped] = field(default_factory=dict)
    """By offset, in its order, what was handed out and not acked."""

    @property
    def committed(self) -> int:
        """All before it is acked, or stands in the retry topic."""
        return next(iter(self.in_flight), self.next)
