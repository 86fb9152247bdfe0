"""The same run simulated again and again: the interval in which a run of a real broker should lie.

39 simulated runs of as many transactions, and the real one, are 40 that cannot be told apart if the model is right:
then the real one is neither the least nor the greatest of them with 38 of 40, 95 %, whatever the distribution.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from model_check.processes import on_all_cores
from real_brokers.what_if.measures import MeasuredStore
from traffic.simulation.kept_store import simulate_and_keep
from traffic.simulation.replications import seed_of
from traffic.workload.distributions import LogNormal

if TYPE_CHECKING:
    from real_brokers.what_if.real_run import RunFacts
    from traffic.simulation.simulated_broker import SimulatedBroker
    from traffic.workload.workload import TrafficWorkload

RUNS: Final = 39
COMMIT_TO_DELIVERY: Final = {"commit to delivery, mean": None, "commit to delivery, p90": 0.9}
"""What the producers of a run know besides its store: names, and the quantile that is taken of the times in seconds."""


@dataclass(frozen=True, slots=True)
class SimulatedTrial:
    """A run of a real broker, as it is simulated."""

    broker: SimulatedBroker
    workload: TrafficWorkload
    transactions: int
    lives: tuple[tuple[float, float], ...] | None
    """How long each process of the broker ran until it was killed, and how long there was none; None where none is."""
    quiet_ms: float
    """How long the first process had run when the first transaction began."""
    leads_ms: tuple[float, ...] | None
    """How long the op batch thread of each process had run when its check service began; None where there is none."""

    @classmethod
    def of(cls, broker: SimulatedBroker, workload: TrafficWorkload, facts: RunFacts) -> SimulatedTrial:
        """With the latency and the rate that were seen in the run, and its crashes when they came."""
        median, late = (max(each / 2, 0.05) for each in facts.answered_ms)
        way = LogNormal(median, max(median, late))
        given = replace(workload, network=replace(workload.network, to_broker_ms=way, from_broker_ms=way))
        if facts.per_second:
            given = replace(given, arrivals=replace(given.arrivals, per_second=facts.per_second))
        lives = [
            (float(death - start), float(following - death))
            for start, death, following in zip(facts.starts, facts.deaths, facts.starts[1:], strict=False)
        ]
        quiet_ms = float(max(0, facts.began - facts.starts[0]))
        lived = None if given.crashes is None else tuple(lives)
        return cls(broker, given, facts.transactions, lived, quiet_ms, facts.leads_ms or None)


@dataclass(frozen=True, slots=True)
class _OneRun:
    trial: SimulatedTrial
    seed: int

    def values(self) -> dict[str, float]:
        trial = self.trial
        with TemporaryDirectory(prefix="halfcheck-what-if-") as folder:
            kept = simulate_and_keep(
                trial.broker,
                trial.workload,
                self.seed,
                trial.transactions,
                Path(folder),
                trial.lives,
                trial.quiet_ms,
                trial.leads_ms,
            )
            values = MeasuredStore.of(Path(folder), trial.broker.version, kept.deaths).values()
        times = kept.counts.commit_to_delivery_ms
        if times.total:
            for name, share in COMMIT_TO_DELIVERY.items():
                values[name] = (times.mean if share is None else times.quantile(share)) / 1_000
        return values


def simulated_values(trial: SimulatedTrial, seed: int, runs: int = RUNS) -> list[dict[str, float]]:
    """The measures of so many simulated runs."""
    with on_all_cores() as spread:
        return list(spread(_OneRun.values, [_OneRun(trial, seed_of(seed, number)) for number in range(runs)]))
