"""When a running broker checks a pending half next, and when it discards it.

A round (``TransactionalMessageServiceImpl#check``) walks the half queue from its saved offset and skips what is
settled. It ends at the first half that is younger than ``transactionTimeOut`` and sets no immunity of its own, so that
nothing behind that one is visited either. Any other half is discarded once it has ``transactionCheckMax`` checks, or
else put back to the end of the queue with one check more, behind all that came meanwhile; its producer is asked unless
the half is still immune, so that checks are counted for which nobody was asked (A09). The next round begins
``transactionCheckInterval`` after the end of the one before (``TransactionalMessageCheckService#run``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class PendingHalf(NamedTuple):
    """The copy of a half that the next round visits; times in milliseconds by the broker's clock.

    Attributes
    ----------
    born
        By the producer's clock, which the broker takes for its own here.
    checks
        TRANSACTION_CHECK_TIMES; 0 where it has none.
    immunity_ms
        CHECK_IMMUNITY_TIME_IN_SECONDS; None if the message does not carry it.
    """

    queue_offset: int
    born: int
    checks: int
    immunity_ms: int | None

    def blocks(self, check_max: int) -> bool:
        """Whether a round ends at it while it is young."""
        return self.immunity_ms is None and self.checks < check_max


class HalfForecast(NamedTuple):
    """What comes of a pending half if nobody answers; milliseconds since the epoch, by the broker's clock.

    Attributes
    ----------
    next_check_at
        When its producer is asked next; None if the half is discarded before.
    checks_left
        How many times that may still be.
    """

    next_check_at: int | None
    checks_left: int
    discarded_at: int


class CheckRounds(NamedTuple):
    """The rounds to come: one that was, or will be, and how far they lie apart, in milliseconds."""

    one_at: int
    interval_ms: int

    def first_from(self, moment: int) -> int:
        """When the first round begins that does not begin before a moment.

        Examples
        --------
        >>> CheckRounds(1_000, 60_000).first_from(61_001)
        121000
        """
        return moment + (self.one_at - moment) % self.interval_ms


def forecasts(
    halves: Iterable[PendingHalf], rounds: CheckRounds, *, now: int, timeout_ms: int, check_max: int
) -> dict[int, HalfForecast]:
    """By queue offset what comes of the pending halves of one queue, all of which must be given."""
    ordered = sorted(halves)
    every = rounds.interval_ms
    blocked_until = max((half.born + timeout_ms for half in ordered if half.blocks(check_max)), default=now)
    found: dict[int, HalfForecast] = {}
    reached = now
    for half in ordered:
        if half.blocks(check_max):
            reached = max(reached, half.born + timeout_ms)
        due = half.born + (timeout_ms if half.immunity_ms is None else half.immunity_ms)
        left = max(check_max - half.checks, 0)
        first = rounds.first_from(reached)
        second = rounds.first_from(max(first + every, blocked_until))  # by then all others stand before its copy
        discarded = second + (left - 1) * every if left else first
        asked = first if due <= first else rounds.first_from(max(second, due))
        times = max((discarded - max(asked, second)) // every, 0) + (left > 0 and asked == first)
        found[half.queue_offset] = HalfForecast(asked if times else None, times, discarded)
    return found
