"""When a running broker checks a pending half next, and when it discards it.

A round (``TransactionalMessageServiceImpl#check``) walks the half queue from its saved offset and skips what is
settled. It ends at the first half that is younger than ``transactionTimeOut`` and sets no immunity of its own, so that
nothing behind that one is visited either. Any other half is discarded once it has ``transactionCheckMax`` checks, or
else put back to the end of the queue with one check more, behind all that came meanwhile; its producer is asked unless
the half is still immune, so that checks are counted for which nobody was asked (A09). The next round begins
``transactionCheckInterval`` after the end of the one before (``TransactionalMessageCheckService#run``).

A round that has seen the whole queue goes on into the copies that it has written itself, and ends at the first of them
that may still be checked. It asks for the count before it asks whether a copy is its own, so that last copies which
stand before that one are discarded milliseconds after their last check. A copy's queue entry comes about a millisecond
behind it (``DefaultMessageStore.ReputMessageService``): a round of few halves may have ended by then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


_FEW_HALVES: Final = 8


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
    last_copy_at: int | None
    """When its last copy is written, be it by the round that is underway; None where a round before has done it."""


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
    visits: list[_Visits] = []
    is_underway, reached = rounds.is_underway(now), rounds.one_at
    for half in ordered:
        if half.blocks(check_max):
            reached = max(reached, half.born + timeout_ms)
        is_own = is_underway and half.stored >= rounds.one_at
        is_visited_now = is_underway and reached <= rounds.one_at and not is_own
        first = now if is_visited_now else rounds.first_from(max(reached, now + 1))
        second = rounds.first_from(max(first + 1, blocked_until))  # by then all others stand before its copy
        left = max(check_max - half.checks, 0)
        last_copy_at = first if left == 1 else second + (left - 2) * every if left else now if is_own else None
        visits.append(_Visits(first, half.queue_offset, second, left, last_copy_at))
    whole_from = now if blocked_until <= rounds.one_at else rounds.first_from(max(blocked_until, now + 1))
    at_once = _discarded_at_once(visits, rounds, whole_from, rounds.first_from(max(blocked_until, now + 1)))
    found: dict[int, HalfForecast] = {}
    for half, one in zip(ordered, visits, strict=True):
        due = half.born + (timeout_ms if half.immunity_ms is None else half.immunity_ms)
        discarded = one.second + (one.left - 1) * every if one.left else one.first
        asked = one.first if due <= one.first else rounds.first_from(max(one.second, due))
        times = max((discarded - max(asked, one.second)) // every, 0) + (one.left > 0 and asked == one.first)
        discarded = at_once.get(half.queue_offset, discarded)
        found[half.queue_offset] = HalfForecast(asked if times else None, times, discarded)
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


def _discarded_at_once(visits: Iterable[_Visits], rounds: CheckRounds, whole_from: int, whole: int) -> dict[int, int]:
    """By queue offset when those are discarded whose last copy is seen by the round that writes it.

    From the moment `whole_from` on rounds see the whole queue. In that at `whole`, what was put back before stands
    behind the others, and so it stays. A round gets as far as to the first copy of its own that is not the last one. Of
    few halves it is a matter of a millisecond whether it sees their copies: the middle of it and the next is foretold.
    """
    of_round: dict[int, list[tuple[bool, _Visits]]] = {}
    for one in visits:
        if one.last_copy_at is not None:
            of_round.setdefault(one.last_copy_at, []).append((one.first < whole, one))
    found: dict[int, int] = {}
    staying: tuple[bool, _Visits] | None = None
    copies = 0
    for moment, places in sorted(of_round.items(), reverse=True):
        copies += len(places)
        if moment >= whole_from:
            at = moment if copies > _FEW_HALVES else (moment + rounds.first_from(moment + 1)) // 2
            found |= {
                place[1].queue_offset: at for place in places if staying is None or _place(place) < _place(staying)
            }
        staying = min([*places, *([] if staying is None else [staying])], key=_place)
    return found


def _place(one: tuple[bool, _Visits]) -> tuple[bool, int, int]:
    return one[0], one[1].first, one[1].queue_offset
