"""The workload as a record: who sends how much, how long local transactions take, and what goes wrong how often.

Times are milliseconds, shares lie from 0 to 1. All of it can be pickled and compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from traffic.workload.distributions import Distribution, LogNormal, Recurring


class ListenerAnswer(Enum):
    """What an application's listener says to a check (``LocalTransactionState``)."""

    COMMIT = "commit"
    ROLLBACK = "rollback"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Arrivals:
    """The stream of transactions."""

    per_second: float
    is_poisson: bool
    """Exponential waits between two; else all waits are the same."""
    body_bytes: LogNormal
    immunity_s: int | None
    """CHECK_IMMUNITY_TIME_IN_SECONDS of every message; None for none."""
    producers: int
    """Processes that send, in turn as a load balancer has it: each transaction goes to any one that is there."""
    groups: int
    """Producer groups; producer number n is of group n modulo this."""


@dataclass(frozen=True, slots=True)
class LocalTransactions:
    """What ``executeLocalTransaction`` does."""

    time_ms: Distribution
    rollback: float
    """The share that rolls back; all else commits."""
    unknown: float
    """The share of all whose first END_TRANSACTION says UNKNOWN, whatever a check is told later."""
    hangs: float
    """The share that never ends: its checks are answered with UNKNOWN."""


@dataclass(frozen=True, slots=True)
class CheckAnswers:
    """What ``checkLocalTransaction`` answers, out of a pool of one thread."""

    after_ms: LogNormal
    unknown: float
    """The share of checks of finished transactions that get UNKNOWN all the same."""
    while_running: ListenerAnswer
    """The answer while the local transaction runs."""
    never_run: ListenerAnswer
    """The answer for a half whose local transaction never ran: its send failed, or the producer died in it."""


@dataclass(frozen=True, slots=True)
class NetworkPaths:
    """Both directions between clients and broker."""

    to_broker_ms: LogNormal
    from_broker_ms: LogNormal
    loss_to_broker: float
    loss_from_broker: float
    """The share of requests, and of answers and checks, that never arrive."""


@dataclass(frozen=True, slots=True)
class ClientRetries:
    """How a client sends a half (``DefaultMQProducerImpl#sendDefaultImpl``; ``ProducerImpl#send0`` of the gRPC one)."""

    attempts: int
    attempt_timeout_ms: float
    total_timeout_ms: float | None
    """All attempts together may take so long; None for no such limit."""
    greets_on_connect: bool = True
    """Each new connection brings a heartbeat, so that a broker that has started again knows its producers from their
    next send on; else from their next heartbeat by the clock on."""


@dataclass(frozen=True, slots=True)
class BrokerCrashes:
    """Crashes of the broker's process or of its machine."""

    every_ms: float
    """The mean time between the start of a process and its crash; the times are exponential."""
    power_loss: float
    """The share that is a loss of power: what was not flushed is gone."""
    restart_ms: LogNormal
    """From a crash until the next process serves."""


@dataclass(frozen=True, slots=True)
class PlannedRestarts:
    """Something that stops and starts again by plan: a broker in a rolling restart, a producer that is deployed."""

    every_ms: float
    away_ms: float


@dataclass(frozen=True, slots=True)
class TrafficWorkload:
    """All that a simulation has to know of the clients, the network and the mishaps."""

    name: str
    arrivals: Arrivals
    local: LocalTransactions
    checks: CheckAnswers
    network: NetworkPaths
    client: ClientRetries
    pass_ms: float = 0.0
    """How long one pass of a check round takes."""
    broker_pauses: Recurring | None = None
    producer_pauses: Recurring | None = None
    """Each process stands still."""
    disk_stalls: Recurring | None = None
    """The broker's writes wait; what is read comes from the page cache."""
    crashes: BrokerCrashes | None = None
    restarts: PlannedRestarts | None = None
    deployments: PlannedRestarts | None = None
    """Of each producer, one after the other."""
    clock_deviation_ms: float = 0.0
    """By how much producers' clocks are off the broker's: the deviation of a normal distribution around none."""

    @property
    def left_out(self) -> tuple[str, ...]:
        """The sections that the file does not have: what they speak of never happens."""
        given = {
            "pauses.broker": self.broker_pauses,
            "pauses.producer": self.producer_pauses,
            "disk_stalls": self.disk_stalls,
            "crashes": self.crashes,
            "restarts": self.restarts,
            "deployments": self.deployments,
            "clocks": self.clock_deviation_ms or None,
        }
        return tuple(section for section, value in given.items() if value is None)
