"""What a sweep advises, done by a real broker: the same traffic with the settings before and after, and both measured.

`halfcheck what-if --sweep` simulates each point in as many runs of as many transactions as a real run has. A figure
of a real run should lie from the least to the greatest of those of its point, and what the change of settings did from
the least to the greatest difference of two simulated runs in a pair. All of that is said before the broker starts: no
latency, and no time of a crash, is taken from the real runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Final

from halfcheck.sweeping.asked_sweep import AskedSweep
from halfcheck.sweeping.in_words import sentences
from real_brokers.errors import RealBrokerError
from real_brokers.what_if.comparison import commits_to_deliveries
from real_brokers.what_if.measures import MeasuredStore
from real_brokers.what_if.real_run import STORES, RunFacts
from real_brokers.what_if.seen import ComparedAdvice
from real_brokers.what_if.simulated_runs import COMMIT_TO_DELIVERY, RUNS
from real_brokers.what_if.trials import TrafficTrial
from traffic.simulation.simulated_broker import SimulatedBroker
from traffic.sweep.sweep_answer import DOUBLED_OR_LOST, changed
from traffic.sweep.swept_setting import BROKER_KEYS
from traffic.workload.reading import read_workload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from reference.format.java_properties import Setting
    from traffic.simulation.counts import TrafficCounts
    from traffic.sweep.sweep_answer import SweepAnswer, SweptAnswer

FOLDER: Final = STORES / "advice"
"""A folder a workload, in it the sweep and a store of each run."""
BEFORE, AFTER = "before", "after"
_SEED: Final = 7
_DEFAULTS: Final = dict.fromkeys(
    (
        "transactionTimeOut",
        "transactionCheckInterval",
        "transactionCheckMax",
        "transactionOpBatchInterval",
        "flushConsumerOffsetInterval",
    ),
    "",
)
"""Left to the release, where other runs of real brokers have short ones."""


@dataclass(frozen=True, slots=True)
class AdvisedTrial:
    """A workload, the release that it meets, and what is swept."""

    name: str
    story: str
    version: str
    transactions: int
    sweep: tuple[str, ...]

    def lives_s(self) -> tuple[float, ...]:
        """When the broker is killed: drawn from the workload, as long as transactions begin."""
        workload = read_workload(self._trial({}).workload)
        crashes, lives, left_s = workload.crashes, list[float](), self.transactions / workload.arrivals.per_second
        if crashes is None:
            return ()
        random = Random(f"{_SEED} {self.name}")
        while (life_s := random.expovariate(1) * crashes.every_ms / 1_000) < left_s:
            lives.append(round(life_s, 1))
            left_s -= life_s + crashes.restart_ms.p50 / 1_000
        return tuple(lives)

    def led(self, settings: Mapping[str, str]) -> TrafficTrial:
        """What is led, with settings other than the release's."""
        return replace(self._trial(_DEFAULTS | dict(settings)), lives_s=self.lives_s())

    def _trial(self, settings: Mapping[str, str]) -> TrafficTrial:
        return TrafficTrial(self.name, self.story, self.transactions, settings, drains_s=300.0)

    def swept(self) -> SweepAnswer:
        """The answer of the sweep, simulated on Spark where its runs are not kept.

        Raises
        ------
        TrafficError, TraceAnalysisError, OSError
            As :meth:`AskedSweep.simulated`.
        """
        asked = AskedSweep(
            None, self._trial({}).workload, self.sweep, None, self.version, self.transactions * RUNS, RUNS, _SEED
        )
        return asked.simulated(_broker, "local[*]", None, FOLDER / self.name / "sweep", tells_progress=True)


ADVISED: Final = {
    trial.name: trial
    for trial in (
        AdvisedTrial(
            "quick",
            "Quick local transactions (5 ms, p99 80 ms), one in ten answered with UNKNOWN first.",
            "4.5.1",
            2_400,
            ("transactionTimeOut=2s,6s,20s", "transactionCheckInterval=15s,60s"),
        ),
        AdvisedTrial(
            "slow",
            "Slow local transactions (2 s, p99 20 s).",
            "5.3.3",
            1_800,
            ("transactionTimeOut=6s,15s,30s",),
        ),
        AdvisedTrial(
            "crash-prone",
            "Local transactions of 100 ms (p99 1 s), and a broker that is killed (SIGKILL) every 20 s on average.",
            "5.5.0",
            1_800,
            ("transactionOpBatchInterval=50ms,500ms,3s",),
        ),
    )
}
"""By name, in the order of the page."""


def advice_of(trial: AdvisedTrial, answer: SweepAnswer) -> SweptAnswer:
    """The point with the fewest messages doubled or lost; raises `RealBrokerError` where none has fewer than yours."""
    best = answer.best(DOUBLED_OR_LOST, answer.points, answer.yours)
    if best is None:
        message = f"{trial.name}: the sweep advises nothing; there is nothing to hold against a real broker"
        raise RealBrokerError(message)
    return best


def settings_at(point: SweptAnswer, answer: SweepAnswer) -> dict[str, str]:
    """What a point changes, as ``broker.conf`` has it."""
    found = {}
    for place in changed(point, answer.yours):
        name, value = answer.settings[place].name, point.point.values[place]
        found[name] = value.text if value.number is None else str(round(value.number / (BROKER_KEYS[name] or 1)))
    return found


def compared_advice(trial: AdvisedTrial, answer: SweepAnswer, folder: Path) -> ComparedAdvice:
    """What the sweep says of the settings before and after, and what the kept runs of a folder show."""
    best, yours = advice_of(trial, answer), answer.yours
    real = [_measured(trial, folder / place) for place in (BEFORE, AFTER)]
    rows = list[tuple[str | float, ...]]()
    for name, measure in _MEASURES.items():
        pairs = [tuple(measure.simulated(counts) for counts in pair) for pair in _pairs(yours, best)]
        before, after = (sorted(pair[place] for pair in pairs) for place in (0, 1))
        gaps = sorted(its - mine for mine, its in pairs)
        seen = real[0][name], real[1][name]
        of_each = ((seen[0], before), (seen[1], after), (seen[1] - seen[0], gaps))
        figures = (
            round(figure, 6)
            for value, drawn in of_each
            for figure in (value, drawn[0], drawn[len(drawn) // 2], drawn[-1])
        )
        rows.append((name, measure.unit, *figures))
    words = next(text for text in sentences(answer) if text.startswith("For fewer messages doubled or lost"))
    return ComparedAdvice(
        name=trial.name,
        release=trial.version,
        transactions=trial.transactions,
        swept=trial.sweep,
        said=(next(iter(sentences(answer))), words),
        killed_after_s=trial.lives_s(),
        runs=RUNS,
        measures=tuple(rows),
    )


def _pairs(yours: SweptAnswer, best: SweptAnswer) -> Iterable[tuple[TrafficCounts, TrafficCounts]]:
    return zip(yours.answer.replications, best.answer.replications, strict=True)


@dataclass(frozen=True, slots=True)
class _AdvisedFigure:
    unit: str
    simulated: Callable[[TrafficCounts], float]


_MEAN_DELAY: Final = next(iter(COMMIT_TO_DELIVERY))
_MEASURES: Final = {
    "doubled": _AdvisedFigure("of all", lambda counts: counts.total("doubled") / counts.transactions),
    "committed and never delivered": _AdvisedFigure(
        "of all", lambda counts: counts.total("lost") / counts.transactions
    ),
    "checks that were sent": _AdvisedFigure("each", lambda counts: counts.checks / counts.transactions),
    _MEAN_DELAY: _AdvisedFigure("s", lambda counts: counts.commit_to_delivery_ms.mean / 1_000),
}
"""What a sweep and a run both know."""


def _measured(trial: AdvisedTrial, store: Path) -> dict[str, float]:
    facts = RunFacts.of(store, trial.led({}))
    measured = MeasuredStore.of(store, trial.version, facts.deaths)
    delivered = {row.unique_key for row in measured.rows if row.deliveries}
    return {
        "doubled": sum(row.deliveries > 1 for row in measured.rows) / facts.transactions,
        "committed and never delivered": len(facts.decided.keys() - delivered) / facts.transactions,
        "checks that were sent": facts.checks / facts.transactions,
        _MEAN_DELAY: commits_to_deliveries(measured, facts)[_MEAN_DELAY],
    }


def _broker(_: Path | None, version: str, more: Iterable[Setting]) -> SimulatedBroker:
    return SimulatedBroker.of(version, version, tuple(more))
