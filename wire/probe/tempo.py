"""The tempo of a plan: its ticks and a broker's settings as waits, and the time that it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wire.probe import orders

if TYPE_CHECKING:
    from wire.probe.orders import ProbePlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Tempo:
    """The waits of a schedule, in milliseconds, by its ticks and the broker's settings.

    Attributes
    ----------
    tick
        One tick of the schedule; whole seconds where messages have an immunity.
    timeout, check_interval, check_max, save_interval
        ``transactionTimeOut``, ``transactionCheckInterval``, ``transactionCheckMax``, ``flushConsumerOffsetInterval``.
    keeping
        ``fileReservedTime``.
    """

    tick: int
    timeout: int
    check_interval: int
    check_max: int
    save_interval: int
    keeping: int = 48 * 3_600_000

    def longest(self, immunity_ms: int) -> float:
        """How many seconds a check may take: until the half is old enough, and some rounds."""
        return (max(self.timeout, immunity_ms) + 4 * self.check_interval + 2_000) / 1_000

    def expected(self, plan: ProbePlan) -> float:
        """About how many seconds a plan takes: its ticks, or what it waits for."""
        waits = {
            orders.AwaitCheck: self.timeout + self.check_interval,
            orders.AwaitCopy: self.timeout + self.check_interval,
            orders.AwaitDiscard: self.timeout + (self.check_max + 1) * self.check_interval,
        }
        of_waits = sum(waits.get(type(order), 0) for order in plan.orders)
        ticks = max((order.ticks for order in plan.orders if isinstance(order, orders.AwaitTick)), default=0)
        return max(of_waits, ticks * self.tick) / 1_000 + self.check_interval / 1_000

    def longest_settling(self) -> float:
        """How many seconds it may take until nobody asks about a half any more: until it is discarded."""
        return self.longest(0) + (self.check_max + 1) * self.check_interval / 1_000
