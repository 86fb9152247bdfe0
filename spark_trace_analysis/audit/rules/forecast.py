"""When a running broker checks a pending half next, and when it discards it.

A round (``TransactionalMessageServiceImpl#check``) walks the half queue from its saved offset and skips what is
settled. It ends at the first half that is younger than ``transactionTimeOut`` and sets no immunity of its own, so that
nothing behind that one is visited either. Any other half is discarded once it has ``transactionCheckMax`` checks, or
else put back to the end of the queue with one check more, behind all that came meanwhile; its producer is asked unless
the half is still immune, so that checks are counted for which nobody was asked (A09). The next round begins
``transactionCheckInterval`` after the end of the one before (``TransactionalMessageCheckService#run``).

A round that has seen the whole queue goes on into the copies that it has written itself, and ends at the first of them
that may still be checked. It asks for the count before it asks whether a copy is its own, so that last copies which
stand before that one are discarded milliseconds after their last check.
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


class _Visits(NamedTuple):
    """The rounds that visit a half: the first, and the second, from which on all do."""

    first: int
    queue_offset: int
    second: int
    left: int
    """How often it is put back before it is discarded."""

    def last_put_back(self, every: int) -> int:
        """When it is put back with as many checks as it may have."""
        return self.first if self.left == 1 else self.second + (self.left - 2) * every


def forecasts(
    halves: Iterable[PendingHalf], rounds: CheckRounds, *, now: int, timeout_ms: int, check_max: int
) -> dict[int, HalfForecast]:
    """By queue offset what comes of the pending halves of one queue, all of which must be given.

    A half that the round before `now` should have visited, and has not, is taken to be visited by it at `now`.
    """
    ordered, every = sorted(halves), rounds.interval_ms
    blocked_until = max((half.born + timeout_ms for half in ordered if half.blocks(check_max)), default=rounds.one_at)
    visits: list[_Visits] = []
    is_underway, reached = rounds.is_underway(now), rounds.one_at
    for half in ordered:
        if half.blocks(check_max):
            reached = max(reached, half.born + timeout_ms)
        is_visited_now = is_underway and reached <= rounds.one_at and half.stored < rounds.one_at
        first = now if is_visited_now else rounds.first_from(max(reached, now + 1))
        second = rounds.first_from(max(first + 1, blocked_until))  # by then all others stand before its copy
        visits.append(_Visits(first, half.queue_offset, second, max(check_max - half.checks, 0)))
    whole_from = now if blocked_until <= rounds.one_at else rounds.first_from(max(blocked_until, now + 1))
    at_once = _discarded_at_once(visits, whole_from, rounds.first_from(max(blocked_until, now + 1)), every)
    found: dict[int, HalfForecast] = {}
    for half, one in zip(ordered, visits, strict=True):
        due = half.born + (timeout_ms if half.immunity_ms is None else half.immunity_ms)
        discarded = one.second + (one.left - 1) * every if one.left else one.first
        asked = one.first if due <= one.first else rounds.first_from(max(one.second, due))
        times = max((discarded - max(asked, one.second)) // every, 0) + (one.left > 0 and asked == one.first)
        at = one.last_put_back(every) if half.queue_offset in at_once else discarded
        found[half.queue_offset] = HalfForecast(asked if times else None, times, at)
    return found


def _discarded_at_once(visits: Iterable[_Visits], whole_from: int, whole: int, every: int) -> set[int]:
    """The queue offsets of those that the round discards that puts them back last.

    From the moment `whole_from` on rounds see the whole queue. In that at `whole`, what was put back before stands
    behind the others, and so it stays. A round gets as far as to the first copy of its own that is not the last one.
    """
    of_round: dict[int, list[tuple[bool, _Visits]]] = {}
    for one in visits:
        if one.left:
            of_round.setdefault(one.last_put_back(every), []).append((one.first < whole, one))
    found: set[int] = set()
    staying: tuple[bool, _Visits] | None = None
    for moment, places in sorted(of_round.items(), reverse=True):
        if moment >= whole_from:
            found.update(one.queue_offset for place in places for one in place[1:] if not staying or place < staying)
        staying = min([*places, *([staying] if staying else [])])
    return found
