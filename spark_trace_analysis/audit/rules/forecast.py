"""When a running broker checks a pending half next, and when it discards it.

A round (``TransactionalMessageServiceImpl#check``) walks the half queue from its saved offset and skips what is
settled. It ends at the first half that is younger than ``transactionTimeOut`` and sets no immunity of its own, so that
nothing behind that one is visited either. Any other half is discarded once it has ``transactionCheckMax`` checks, or
else put back to the end of the queue with one check more, behind all that came meanwhile; its producer is asked unless
the half is still immune, so that checks are counted for which nobody was asked (A09). The next round begins
``transactionCheckInterval`` after the end of the one before (``TransactionalMessageCheckService#run``).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final, NamedTuple, overload

import numpy as np

from spark_trace_analysis.records.transaction_record import NOTHING

if TYPE_CHECKING:
    from spark_trace_analysis.audit.columns.bucket import Flags, Numbers


_AT_A_TIME: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class PendingHalves:
    """The copies of halves that the next round visits, a column each; times in milliseconds by the broker's clock.

    Attributes
    ----------
    born
        By the producer's clock, which the broker takes for its own here.
    checks
        TRANSACTION_CHECK_TIMES; 0 where it has none.
    immunity_ms
        CHECK_IMMUNITY_TIME_IN_SECONDS; ``NOTHING`` where the message does not carry it.
    """

    queue_offset: Numbers
    born: Numbers
    checks: Numbers
    immunity_ms: Numbers

    def part(self, numbers: slice | Numbers) -> PendingHalves:
        """Some of them."""
        return PendingHalves(*(getattr(self, one.name)[numbers] for one in fields(self)))

    def block(self, check_max: int) -> Flags:
        """Whether a round ends at each while it is young."""
        return np.asarray((self.immunity_ms == NOTHING) & (self.checks < check_max), bool)

    def age_of_checks(self, timeout_ms: int) -> Numbers:
        """How old each is before its producer is asked."""
        return np.asarray(np.where(self.immunity_ms == NOTHING, timeout_ms, self.immunity_ms), np.int64)


class CheckRounds(NamedTuple):
    """The rounds to come: one that was, or will be, and how far they lie apart, in milliseconds."""

    one_at: int
    interval_ms: int

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


class Foretold(NamedTuple):
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

    Attributes
    ----------
    discarded_at
        When each is discarded; what else is foretold, :meth:`of` says of some.
    """

    def __init__(
        self, halves: PendingHalves, rounds: CheckRounds, *, now: int, timeout_ms: int, check_max: int
    ) -> None:
        self._halves, self._rounds, self._timeout_ms, self._check_max = halves, rounds, timeout_ms, check_max
        reached = np.where(halves.block(check_max), halves.born + timeout_ms, now)  # before that, a round ends at it
        self._blocked_until = int(reached.max(initial=now))
        order = np.argsort(halves.queue_offset)
        reached[order] = np.maximum.accumulate(np.maximum(reached[order], now))
        self._reached = reached
        self.discarded_at = order  # whose room is used again
        for begin in range(0, len(reached), _AT_A_TIME):
            here = slice(begin, begin + _AT_A_TIME)
            self.discarded_at[here] = self.of(here).discarded_at

    def of(self, numbers: slice | Numbers) -> Foretold:
        """What comes of some of them."""
        halves, rounds = self._halves.part(numbers), self._rounds
        due = halves.born + halves.age_of_checks(self._timeout_ms)
        left = np.maximum(self._check_max - halves.checks, 0)
        first = rounds.first_from(self._reached[numbers])
        # by the second round all others stand before its copy
        second = rounds.first_from(np.maximum(first + rounds.interval_ms, self._blocked_until))
        discarded = np.where(left > 0, second + (left - 1) * rounds.interval_ms, first)
        asked = np.where(due <= first, first, rounds.first_from(np.maximum(second, due)))
        times = np.maximum((discarded - np.maximum(asked, second)) // rounds.interval_ms, 0)
        times += (left > 0) & (asked == first)
        return Foretold(np.where(times > 0, asked, NOTHING), times, discarded)
