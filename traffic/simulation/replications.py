"""Independent replications of a simulation, in processes on all cores: a seed each, and what one adds to the sum."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from math import sqrt
from random import Random
from typing import TYPE_CHECKING, Final

from model_check.processes import on_all_cores
from traffic.errors import TrafficError
from traffic.simulation.simulate import simulate

if TYPE_CHECKING:
    from collections.abc import Callable

    from traffic.simulation.counts import TrafficCounts
    from traffic.simulation.simulated_broker import SimulatedBroker
    from traffic.workload.workload import TrafficWorkload

LEAST_INTERVALS: Final = 10
"""In so many check intervals of traffic, rounds meet halves as those of a broker at work do."""
_MOST: Final = 20
_FEWEST: Final = 8
_GOLDEN: Final = (sqrt(5) - 1) / 2
"""Its multiples, without what stands before the point, are spread evenly, however many of them are taken."""


@dataclass(frozen=True, slots=True)
class Replication:
    """One run of :func:`simulate`, as one value that goes to another process; `quiet_ms` is simulate's."""

    broker: SimulatedBroker
    workload: TrafficWorkload
    seed: int
    transactions: int
    quiet_ms: float = 0.0

    def run(self) -> TrafficCounts:
        """Simulate it."""
        return simulate(self.broker, self.workload, self.seed, self.transactions, self.quiet_ms)


def seed_of(seed: int, number: int) -> int:
    """The seed of a replication, so that those of two seeds have nothing to do with each other.

    Examples
    --------
    >>> seed_of(7, 0) != seed_of(7, 1) != seed_of(8, 0), seed_of(7, 0) == seed_of(7, 0)
    (True, True)
    """
    return int.from_bytes(hashlib.sha256(f"{seed} {number}".encode()).digest()[:8])


def number_of_replications(
    asked: int | None, broker: SimulatedBroker, workload: TrafficWorkload, transactions: int
) -> int:
    """In how many replications so many transactions part: in as many as are asked for, if any.

    Else each has `LEAST_INTERVALS`, as long as there are enough of them to show how much they differ.

    Raises
    ------
    TrafficError
        There are more of them than transactions.
    """
    traffic_ms = 1000 * transactions / workload.arrivals.per_second
    long_ones = int(traffic_ms // (LEAST_INTERVALS * broker.settings.transaction_check_interval_ms))
    number = asked or max(_FEWEST, min(_MOST, long_ones))
    if transactions < number:
        message = f"--transactions {transactions}: fewer than one for each of {number} --replications"
        raise TrafficError(message)
    return number


def replications_of(
    broker: SimulatedBroker, workload: TrafficWorkload, seed: int, transactions: int, number: int
) -> list[Replication]:
    """So many replications of as many transactions together; the first ones have one more where they do not part.

    The broker of each has waited for another share of its check interval when traffic begins: if all began with the
    interval, a run that is shorter than some intervals would meet too few rounds while traffic comes.
    """
    least, more = divmod(transactions, number)
    interval, first = broker.settings.transaction_check_interval_ms, Random(seed).random()
    return [
        Replication(
            broker, workload, seed_of(seed, place), least + (place < more), (first + place * _GOLDEN) % 1 * interval
        )
        for place in range(number)
    ]


def run_all(replications: list[Replication], report: Callable[[TrafficCounts], None]) -> None:
    """Run replications on all cores, and report what each has counted, in their order.

    Raises
    ------
    KeyboardInterrupt
        It was interrupted; what was reported before counts.
    """
    with on_all_cores() as spread:
        for counts in spread(Replication.run, replications):
            report(counts)
