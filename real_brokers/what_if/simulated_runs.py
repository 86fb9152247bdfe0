"""The same run simulated again and again: the interval in which a run of a real broker should lie.

39 simulated runs of as many transactions, and the real one, are 40 that cannot be told apart if the model is right: then
the real one is neither the least nor the greatest of them with 38 of 40, that is with 95 %, whatever the distribution.
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
from traffic.simulation.simulate import simulate
from traffic.simulation.simulated_broker import SimulatedBroker
from traffic.workload.distributions import LogNormal

if TYPE_CHECKING:
    from real_brokers.what_if.real_run import RunFacts
    from traffic.workload.workload import Workload

RUNS: Final = 39
_TRIES: Final = 400
"""How many seeds are tried for one run with as many crashes."""
COMMIT_TO_DELIVERY: Final = {"commit to delivery, mean": None, "commit to delivery, p90": 0.9}
"""What the producers of a run know besides its store: names, and the quantile that is taken of the times in seconds."""


@dataclass(frozen=True, slots=True)
class SimulatedTrial:
    """A run of a real broker, as it is simulated."""

    broker: SimulatedBroker
    workload: Workload
    transactions: int
    crashes: int
    """How many the real run had: only runs with as many are taken."""

    @classmethod
    def of(cls, broker: SimulatedBroker, workload: Workload, facts: RunFacts) -> SimulatedTrial:
        """With the latency, the restarts and the rate that were seen in the run."""
        median, late = (max(each / 2, 0.05) for each in facts.answered_ms)
        way = LogNormal(median, max(median, late))
        given = replace(workload, network=replace(workload.network, to_broker_ms=way, from_broker_ms=way))
        if facts.per_second:
            given = replace(given, arrivals=replace(given.arrivals, per_second=facts.per_second))
        if given.crashes is not None and facts.away_ms:
            away = LogNormal(sorted(facts.away_ms)[len(facts.away_ms) // 2], max(facts.away_ms))
            given = replace(given, crashes=replace(given.crashes, restart_ms=away))
        return cls(broker, given, facts.transactions, len(facts.deaths))


@dataclass(frozen=True, slots=True)
class _OneRun:
    trial: SimulatedTrial
    seed: int

    def values(self) -> dict[str, float]:
        trial, seed = self.trial, self._seed_with_as_many_crashes()
        with TemporaryDirectory(prefix="halfcheck-what-if-") as folder:
            kept = simulate_and_keep(trial.broker, trial.workload, seed, trial.transactions, Path(folder))
            values = MeasuredStore.of(Path(folder), trial.broker.version, kept.deaths).values()
        times = kept.counts.commit_to_delivery_ms
        if times.total:
            for name, share in COMMIT_TO_DELIVERY.items():
                values[name] = (times.mean if share is None else times.quantile(share)) / 1_000
        return values

    def _seed_with_as_many_crashes(self) -> int:
        trial = self.trial
        if trial.workload.crashes is None:
            return self.seed
        for number in range(_TRIES):
            seed = seed_of(self.seed, number)
            if simulate(trial.broker, trial.workload, seed, trial.transactions).crashes == trial.crashes:
                return seed
        message = f"none of {_TRIES} simulated runs had {trial.crashes} crashes"
        raise ValueError(message)


def simulated_values(trial: SimulatedTrial, seed: int, runs: int = RUNS) -> list[dict[str, float]]:
    """The measures of so many simulated runs."""
    with on_all_cores() as spread:
        return list(spread(_OneRun.values, [_OneRun(trial, seed_of(seed, number)) for number in range(runs)]))
