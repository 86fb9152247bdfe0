"""Independent replications of a simulation, in processes on all cores: a seed each, and what one adds to the sum."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from model_check.processes import on_all_cores
from traffic.simulation.simulate import simulate

if TYPE_CHECKING:
    from collections.abc import Callable

    from traffic.simulation.counts import TrafficCounts
    from traffic.simulation.simulated_broker import SimulatedBroker
    from traffic.workload.workload import TrafficWorkload


@dataclass(frozen=True, slots=True)
class Replication:
    """One run of :func:`simulate`, as one value that goes to another process."""

    broker: SimulatedBroker
    workload: TrafficWorkload
    seed: int
    transactions: int

    def run(self) -> TrafficCounts:
        """Simulate it."""
        return simulate(self.broker, self.workload, self.seed, self.transactions)


def seed_of(seed: int, number: int) -> int:
    """The seed of a replication, so that those of two seeds have nothing to do with each other.

    Examples
    --------
    >>> seed_of(7, 0) != seed_of(7, 1) != seed_of(8, 0), seed_of(7, 0) == seed_of(7, 0)
    (True, True)
    """
    return int.from_bytes(hashlib.sha256(f"{seed} {number}".encode()).digest()[:8])


def replications_of(
    broker: SimulatedBroker, workload: TrafficWorkload, seed: int, transactions: int, number: int
) -> list[Replication]:
    """So many replications of as many transactions together; the first ones have one more where they do not part."""
    least, more = divmod(transactions, number)
    return [Replication(broker, workload, seed_of(seed, place), least + (place < more)) for place in range(number)]


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
