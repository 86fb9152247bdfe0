"""When a running broker checks a pending half next, and when it discards it.

A round (``TransactionalMessageServiceImpl#check``) walks the half queue from its saved offset and skips what is
settled. It ends at the first half that is younger than ``transactionTimeOut`` and sets no immunity of its own, so that
nothing behind that one is visited either. Any other half is discarded once it has ``transactionCheckMax`` checks, or
else put back to the end of the queue with one check more, behind all that came meanwhile; its producer is asked unless
the half is still immune, so that checks are counted for which nobody was asked (A09). The next round begins
``transactionCheckInterval`` after the end of the one before (``TransactionalMessageCheckService#run``).

A round that has seen the whole queue goes on into the copies that it has written itself, and ends at the first of them
that may still be checked. It asks for the count before it asks whether a copy is its own. So a last copy may be
discarded milliseconds after its last check, or by the next round: by how many halves are left, whether they are
answered, and whether its queue entry, which comes about a millisecond behind it, is there by then
(``DefaultMessageStore.ReputMessageService``). The middle of both rounds is foretold.
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
    stored
        When this copy was.
    checks
        TRANSACTION_CHECK_TIMES; 0 where it has none.
    immunity_ms
        CHECK_IMMUNITY_TIME_IN_SECONDS; None if the message does not carry it.
    """

    queue_offset: int
    born: int
    stored: int
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
    """The rounds to come, in milliseconds.

    Attributes
    ----------
    one_at
        When one began; or, where none has been seen, the broker.
    interval_ms
        How far the beginnings of two rounds lie apart.
    is_seen
        Whether it was a round, and not the start of the broker.
    """

    one_at: int
    interval_ms: int
    is_seen: bool = True

    def first_from(self, moment: int) -> int:
        """When the first round begins that does not begin before a moment.

        Examples
        --------
        >>> CheckRounds(1_000, 60_000).first_from(61_001)
        121000
        """
        return moment + (self.one_at - moment) % self.interval_ms

    def is_underway(self, now: int) -> bool:
        """Whether the round that was seen may go on still."""
        return self.is_seen and self.one_at <= now < self.one_at + self.interval_ms


def forecasts(
    halves: Iterable[PendingHalf], rounds: CheckRounds, *, now: int, timeout_ms: int, check_max: int
) -> dict[int, HalfForecast]:
    """By queue offset what comes of the pending halves of one queue, all of which must be given.

    A half that a round before `now` should have visited, and has not, is taken to be visited at `now`: that round is
    underway, or late. It may sleep a second where it has read op messages (``SLEEP_WHILE_NO_OP``, 5.1.0).
    """
    ordered, every = sorted(halves), rounds.interval_ms
    if _is_late(ordered, rounds, now, timeout_ms, check_max):
        rounds = CheckRounds(now, every)
    blocked_until = max((half.born + timeout_ms for half in ordered if half.blocks(check_max)), default=rounds.one_at)
    found: dict[int, HalfForecast] = {}
    is_underway, reached = rounds.is_underway(now), rounds.one_at
    for half in ordered:
        if half.blocks(check_max):
            reached = max(reached, half.born + timeout_ms)
        is_own = is_underway and half.stored >= rounds.one_at
        is_visited_now = is_underway and reached <= rounds.one_at and not is_own
        first = now if is_visited_now else rounds.first_from(max(reached, now + 1))
        second = rounds.first_from(max(first + 1, blocked_until))  # by then all others stand before its copy
        left = max(check_max - half.checks, 0)
        discarded = second + (left - 1) * every if left else first
        due = half.born + (timeout_ms if half.immunity_ms is None else half.immunity_ms)
        asked = first if due <= first else rounds.first_from(max(second, due))
        times = max((discarded - max(asked, second)) // every, 0) + (left > 0 and asked == first)
        last_copy = first if left == 1 else discarded - every if left else now if is_own else discarded
        found[half.queue_offset] = HalfForecast(asked if times else None, times, (last_copy + discarded) // 2)
    return found


def _is_late(halves: Iterable[PendingHalf], rounds: CheckRounds, now: int, timeout_ms: int, check_max: int) -> bool:
    """Whether a round behind the one that was seen should have visited one of these, which are in their order."""
    reached = rounds.one_at + 1
    for half in halves:
        if half.blocks(check_max):
            reached = max(reached, half.born + timeout_ms)
        if rounds.first_from(max(reached, half.stored + 1)) <= now:
            return True
    return False
