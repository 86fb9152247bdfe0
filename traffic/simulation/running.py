"""What all parts of one simulation share: its time, its chance, its workload, what is under way and what is counted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from traffic.simulation.counts import TrafficCounts
from traffic.simulation.event_queue import EventQueue
from traffic.simulation.ledger import Ledger

if TYPE_CHECKING:
    from traffic.simulation.random_streams import RandomStreams
    from traffic.simulation.simulated_broker import SimulatedBroker
    from traffic.workload.workload import TrafficWorkload


@dataclass(slots=True)
class RunningSimulation:
    """One simulation."""

    broker: SimulatedBroker
    workload: TrafficWorkload
    streams: RandomStreams
    """The one source of chance."""
    events: EventQueue = field(default_factory=EventQueue)
    counts: TrafficCounts = field(default_factory=TrafficCounts)
    ledger: Ledger = field(init=False)
    is_arriving: bool = True
    """Whether transactions are yet to begin; behind the last one no mishap begins any more."""

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.counts, keeps_passed=self.may_stop)

    @property
    def may_stop(self) -> bool:
        """Whether the broker's process may end before the simulation does."""
        return self.workload.crashes is not None or self.workload.restarts is not None
