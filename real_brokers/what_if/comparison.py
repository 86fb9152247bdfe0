"""A kept run of a real broker beside its simulated ones: each measure with its interval."""

from __future__ import annotations

from dataclasses import replace
from statistics import NormalDist
from typing import TYPE_CHECKING

from real_brokers.what_if.measures import MEASURES, MeasuredStore
from real_brokers.what_if.real_run import RunFacts
from real_brokers.what_if.seen import ComparedRun
from real_brokers.what_if.simulated_runs import COMMIT_TO_DELIVERY, RUNS, SimulatedTrial, simulated_values
from reference.format.broker_conf import settings
from traffic.simulation.simulated_broker import SimulatedBroker
from traffic.workload.reading import read_workload

if TYPE_CHECKING:
    from pathlib import Path

    from real_brokers.what_if.trials import TrafficTrial

_UNITS = {measure.name: measure.unit for measure in MEASURES} | dict.fromkeys(COMMIT_TO_DELIVERY, "s")
_NORMAL = NormalDist()
_FROM_90_TO_99 = _NORMAL.inv_cdf(0.99) / _NORMAL.inv_cdf(0.9)


def compared_run(store: Path, version: str, trial: TrafficTrial, runs: int = RUNS) -> ComparedRun:
    """Measure a kept run, and simulate it so often."""
    facts = RunFacts.of(store, trial)
    measured = MeasuredStore.of(store, version, facts.deaths)
    if not facts.per_second:
        facts = _told_by_records(facts, measured)
    broker = SimulatedBroker.of(version, version, settings(store / "broker.conf"))
    simulated = simulated_values(
        SimulatedTrial.of(broker, read_workload(trial.workload), facts), trial.seed(version), runs
    )
    real = measured.values() | commits_to_deliveries(measured, facts)
    found: list[tuple[str, str, float, float, float, float]] = []
    for name, value in real.items():
        drawn = sorted(values[name] for values in simulated if name in values)
        if drawn:
            least, middle, most = (round(drawn[place], 6) for place in (0, len(drawn) // 2, -1))
            found.append((name, _UNITS[name], round(value, 6), least, middle, most))
    return ComparedRun(
        release=version,
        trial=trial.name,
        transactions=facts.transactions,
        per_second=round(facts.per_second, 2),
        answered_ms=(round(facts.answered_ms[0], 1), round(facts.answered_ms[1], 1)),
        away_s=tuple(round(away / 1_000, 1) for away in facts.away_ms),
        runs=runs,
        measures=tuple(found),
    )


def _told_by_records(facts: RunFacts, measured: MeasuredStore) -> RunFacts:
    """What a scenario sends is known by its store alone: a send takes twice as long as a half until it is stored.

    The 99th percentile is that of a log-normal time of the same median and 90th: the first sends of a client that has
    just started take far longer than any later one.
    """
    born = [row.born for row in measured.rows]
    sent = sorted(2.0 * (stored - row.born) for row in measured.rows if (stored := row.moments.stored_at) is not None)
    median, tenth = (max(sent[int(len(sent) * share)], 1.0) for share in (0.5, 0.9))
    return replace(
        facts,
        began=min(born),
        per_second=1_000 * (len(born) - 1) / (max(born) - min(born)),
        answered_ms=(median, median * (tenth / median) ** _FROM_90_TO_99),
    )


def commits_to_deliveries(measured: MeasuredStore, facts: RunFacts) -> dict[str, float]:
    """From the commit of the local transaction, as its producer knows it, to the first real message, in seconds."""
    delivered = {row.unique_key: row.moments.delivered_at for row in measured.rows}
    times = sorted(
        max(0.0, (at - decided) / 1_000)
        for key, decided in facts.decided.items()
        if (at := delivered.get(key)) is not None
    )
    if not times:
        return {}
    return {
        name: sum(times) / len(times) if share is None else times[int(share * len(times))]
        for name, share in COMMIT_TO_DELIVERY.items()
    }
