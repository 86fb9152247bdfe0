"""What all parts of one simulation share: its time, its chance, its workload, what is under way and what is counted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from traffic.simulation.counts import TrafficCounts
from traffic.simulation.event_queue import EventQueue
from traffic.simulation.ledger import Ledger

if TYPE_CHECKING:
    from traffic.simulation.random_streams import RandomStreams
    from traffic.simulation.simulated_broker import SimulatedBroker
    from traffic.workload.workload import TrafficWorkload

_HELD_BODY_BYTES: Final = 64
"""So that large messages take no memory."""
_WHOLE_BODY_BYTES: Final = 4 << 20
"""``maxMessageSize``."""


@dataclass(slots=True)
class RunningSimulation:
    """One simulation."""

    broker: SimulatedBroker
    workload: TrafficWorkload
    streams: RandomStreams
    """The one source of chance."""
    keeps_store: bool = False
    """Whether its store is to be read afterwards: then no body is cut, and no file deleted."""
    lives: tuple[tuple[float, float], ...] | None = None
    """For each process of the broker how long it serves until it crashes, and how long nobody does then, in
    milliseconds; None where the workload's chance has it."""
    quiet_ms: float = 0.0
    """How long the first process has run when the first transaction begins: its check rounds do not wait for that."""
    leads_ms: tuple[float, ...] | None = None
    """For each process how long its op batch thread has run when its check service begins to wait; None where chance
    has it."""
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

    @property
    def most_held_bytes(self) -> int:
        """The most bytes of a body that the store holds; the rest is only counted."""
        return _WHOLE_BODY_BYTES if self.keeps_store else _HELD_BODY_BYTES
