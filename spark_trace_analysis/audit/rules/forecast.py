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

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final, NamedTuple, overload

import numpy as np

from spark_trace_analysis.records.transaction_record import NOTHING

if TYPE_CHECKING:
    from spark_trace_analysis.audit.columns.bucket import Flags, Numbers


_AT_A_TIME: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class PendingHalves:
    """The copies of halves that the next rounds visit, a column each; times in milliseconds by the broker's clock.

    Attributes
    ----------
    born
        By the producer's clock, which the broker takes for its own here.
    stored
        When this copy was.
    checks
        TRANSACTION_CHECK_TIMES; 0 where it has none.
    immunity_ms
        CHECK_IMMUNITY_TIME_IN_SECONDS; ``NOTHING`` where the message does not carry it.
    """

    queue_offset: Numbers
    born: Numbers
    stored: Numbers
    checks: Numbers
    immunity_ms: Numbers

    def part(self, numbers: slice | np.ndarray[Any, Any]) -> PendingHalves:
        """Some of them."""
        return PendingHalves(*(getattr(self, one.name)[numbers] for one in fields(self)))

    def block(self, check_max: int) -> Flags:
        """Whether a round ends at each while it is young."""
        return np.asarray((self.immunity_ms == NOTHING) & (self.checks < check_max), bool)

    def age_of_checks(self, timeout_ms: int) -> Numbers:
        """How old each is before its producer is asked."""
        return np.asarray(np.where(self.immunity_ms == NOTHING, timeout_ms, self.immunity_ms), np.int64)


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

    @overload
    def first_from(self, moment: int) -> int: ...
    @overload
    def first_from(self, moment: Numbers) -> Numbers: ...
    def first_from(self, moment: int | Numbers) -> int | Numbers:
        """When the first round begins that does not begin before a moment, or before each of some.

        Examples
        --------
        >>> CheckRounds(1_000, 60_000).first_from(61_001)
        121000
        """
        return moment + (self.one_at - moment) % self.interval_ms

    def is_underway(self, now: int) -> bool:
        """Whether the round that was seen may go on still."""
        return self.is_seen and self.one_at <= now < self.one_at + self.interval_ms


class ForetoldHalves(NamedTuple):
    """What comes of some pending halves if nobody answers; milliseconds since the epoch, by the broker's clock.

    Attributes
    ----------
    next_check_at
        When the producer of each is asked next; ``NOTHING`` if the half is discarded before.
    checks_left
        How many times that may still be.
    """

    next_check_at: Numbers
    checks_left: Numbers
    discarded_at: Numbers


class Forecasts:
    """What comes of the pending halves of one queue, all of which must be given, in any order.

    A half that a round before `now` should have visited, and has not, is taken to be visited at `now`: that round is
    underway, or late. It may sleep a second where it has read op messages (``SLEEP_WHILE_NO_OP``, 5.1.0).

    Attributes
    ----------
    discarded_at
        When each is discarded; what else is foretold, :meth:`of` says of some.
    """

    def __init__(
        self, halves: PendingHalves, rounds: CheckRounds, *, now: int, timeout_ms: int, check_max: int
    ) -> None:
        self._halves, self._now, self._timeout_ms, self._check_max = halves, now, timeout_ms, check_max
        order = np.argsort(halves.queue_offset)
        ends_of_youth = np.where(halves.block(check_max), halves.born + timeout_ms, 0)  # before, a round ends at it
        reached = np.maximum.accumulate(ends_of_youth[order]) if len(order) else order
        behind = halves.stored[order]
        np.maximum(np.maximum(behind, reached - 1, out=behind), rounds.one_at, out=behind)
        if len(behind) and rounds.first_from(int(behind.min()) + 1) <= now:
            rounds = CheckRounds(now, rounds.interval_ms)
        self._rounds = rounds
        self._blocked_until = int(ends_of_youth.max(initial=0)) or rounds.one_at
        self._reached = ends_of_youth  # whose room is used again, as that of the order is
        self._reached[order] = np.maximum(reached, rounds.one_at)
        self.discarded_at = order
        for begin in range(0, len(order), _AT_A_TIME):
            here = slice(begin, begin + _AT_A_TIME)
            self.discarded_at[here] = self.of(here).discarded_at

    def of(self, numbers: slice | Numbers) -> ForetoldHalves:
        """What comes of some of them."""
        halves, rounds, now = self._halves.part(numbers), self._rounds, self._now
        reached, every = self._reached[numbers], rounds.interval_ms
        is_underway = rounds.is_underway(now)
        is_own = is_underway & (halves.stored >= rounds.one_at)
        is_visited_now = is_underway & (reached <= rounds.one_at) & ~is_own
        first = np.where(is_visited_now, now, rounds.first_from(np.maximum(reached, now + 1)))
        # by the second round all others stand before its copy
        second = rounds.first_from(np.maximum(first + 1, self._blocked_until))
        left = np.maximum(self._check_max - halves.checks, 0)
        discarded = np.where(left > 0, second + (left - 1) * every, first)
        due = halves.born + halves.age_of_checks(self._timeout_ms)
        asked = np.where(due <= first, first, rounds.first_from(np.maximum(second, due)))
        times = np.maximum((discarded - np.maximum(asked, second)) // every, 0) + ((left > 0) & (asked == first))
        last_copy = np.select(
            [left == 1, left > 1, is_own], [first, discarded - every, np.full(len(first), now)], discarded
        )
        return ForetoldHalves(np.where(times > 0, asked, NOTHING), times, (last_copy + discarded) // 2)
