"""The time of a plan on a broker: its ticks and waits, and the rhythm of the check service's rounds.

A round shows when it moves the half offset. The service waits for its interval behind each round
(``TransactionalMessageCheckService#run``), so that rounds fall behind by what they take; a moment seen lately is best.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reference.format.system_topics import HALF_TOPIC
from wire.client.queries import check_offset
from wire.client.transactions import ROLLBACK
from wire.probe import orders

if TYPE_CHECKING:
    from wire.probe.producers import ProbeProducers
    from wire.probe.view import BrokerView

_A_LOOK_S: Final = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Tempo:
    """The waits of a schedule, in milliseconds, by its ticks and the broker's settings."""

    tick: int
    """One tick of the schedule; whole seconds where messages have an immunity."""
    timeout: int
    check_interval: int
    check_max: int
    save_interval: int
    """``transactionTimeOut``, ``transactionCheckInterval``, ``transactionCheckMax``,
    ``flushConsumerOffsetInterval``."""
    keeping: int = 48 * 3_600_000
    """``fileReservedTime``."""

    def longest(self, immunity_ms: int) -> float:
        """How many seconds a check may take: until the half is old enough, and some rounds."""
        return (max(self.timeout, immunity_ms) + 4 * self.check_interval + 2_000) / 1_000

    def expected(self, plan: orders.ProbePlan) -> float:
        """About how many seconds a plan takes: its ticks, or what it waits for."""
        waits = {
            orders.AwaitCheck: self.timeout + self.check_interval,
            orders.AwaitCopy: self.timeout + self.check_interval,
            orders.AwaitDiscard: self.timeout + (self.check_max + 1) * self.check_interval,
        }
        of_waits = sum(waits.get(type(order), 0) for order in plan.orders)
        return max(of_waits, plan.ticks * self.tick) / 1_000 + self.check_interval / 1_000

    def longest_settling(self) -> float:
        """How many seconds it may take until nobody asks about a half any more: until it is discarded."""
        return self.longest(0) + (self.check_max + 1) * self.check_interval / 1_000


@dataclass(slots=True)
class Rhythm:
    """The rounds of a broker."""

    interval_s: float
    """``transactionCheckInterval``."""
    seen: float | None = None
    """When a round was seen, by the machine's steady clock in seconds; None if none was."""

    def first_from(self, moment: float) -> float:
        """The first round at a moment or behind it; the moment itself where none was seen."""
        if self.seen is None:
            return moment
        return self.seen + max(0, math.ceil((moment - self.seen) / self.interval_s)) * self.interval_s

    def watch(self, view: BrokerView, seconds: float) -> bool:
        """Look until both queues are settled, and keep the moment of the last round that moved the half offset."""
        end, before = time.monotonic() + seconds, check_offset(view.channel, HALF_TOPIC)
        while time.monotonic() < end:
            asked, now = time.monotonic(), check_offset(view.channel, HALF_TOPIC)
            if now != before:
                self.seen, before = asked, now
            if view.is_quiet():
                return True
            time.sleep(_A_LOOK_S)
        return False

    def feel(self, view: BrokerView, producers: ProbeProducers) -> bool:
        """Learn it by a half that is rolled back at once; False if no round came to it in four intervals."""
        producers.send(PILOT, None, 0)
        pilot = producers.halves.pop(PILOT).name
        producers.end(pilot, ROLLBACK, answers_check=False)
        producers.ends.pop()
        view.await_half(pilot.queue_offset)
        return self.watch(view, 4 * self.interval_s + 10)


PILOT: Final = -1
"""The transaction that only shows when rounds come."""
