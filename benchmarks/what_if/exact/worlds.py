"""Ten worlds of one transaction at a time, simulated as `what-if` does it, and what their chains say of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks.what_if.exact.one_transaction import GeometricTicks, OneTransaction, expected_of
from fuzz.lockstep.broker_versions import version_of
from model_check.world import Profile
from traffic.rates.answer import TrafficAnswer
from traffic.rates.intervals import RateEstimate, share_of
from traffic.simulation.counts import MEASURES
from traffic.simulation.replications import Replication, seed_of
from traffic.simulation.simulated_broker import SimulatedBroker
from traffic.workload.reading import workload_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from traffic.workload.workload import TrafficWorkload

TICK_MS: Final = 1000
FIXED: Final = "fixed"
NEWEST: Final = "5.5.1"


class ExactWorld(NamedTuple):
    """A release, and the chances of its transactions."""

    release: str
    one: OneTransaction

    @property
    def broker(self) -> SimulatedBroker:
        """Its broker, which stores op entries within a tick."""
        version, release = self.release, self.release
        if version == FIXED:
            version, release = version_of(Profile.of(FIXED)), NEWEST
        broker = SimulatedBroker.of(version, release)
        interval = self.one.ticks * TICK_MS
        settings = replace(
            broker.settings,
            transaction_check_interval_ms=interval,
            transaction_check_max=self.one.checks,
            transaction_timeout_ms=self.one.young_rounds * interval + interval // 2,
            op_batch_interval_ms=10,
        )
        return replace(broker, settings=settings)

    @property
    def workload(self) -> TrafficWorkload:
        """Its clients, that try once, and its network, that takes half a millisecond."""
        one = self.one
        given = workload_of(
            {
                "transactions": {"per_second": 1, "arrivals": "constant", "body_bytes": 100},
                "producers": {"count": 1, "groups": 1},
                "local": {
                    "time": "1ms",
                    "rollback": one.rolls_back,
                    "unknown": one.says_unknown,
                    "hangs": one.hangs,
                },
                "checks": {"after": "5ms", "unknown": one.answers_unknown, "never_run": "rollback"},
                "network": {
                    "to_broker": "0.5ms",
                    "from_broker": "0.5ms",
                    "loss_to_broker": one.loses_to_broker,
                    "loss_from_broker": one.loses_from_broker,
                },
                "client": {"kind": "grpc", "attempts": 1},
            },
            "exact",
            "exact",
        )
        return replace(given, local=replace(given.local, time_ms=GeometricTicks(TICK_MS, one.ends)))


WORLDS: Final = (
    ExactWorld("4.5.1", OneTransaction(0.2, 0.15, 0.08, 10, 4, rolls_back=0.1, hangs=0.05, answers_unknown=0.2)),
    ExactWorld("4.5.1", OneTransaction(0.4, 0.3, 0.2, 12, 2, answers_unknown=0.3)),
    ExactWorld("4.9.7", OneTransaction(0.3, 0.1, 0.03, 10, 5, rolls_back=0.2)),
    ExactWorld("4.9.7", OneTransaction(0.1, 0.4, 0.5, 20, 3, says_unknown=0.3, answers_unknown=0.5)),
    ExactWorld("5.3.3", OneTransaction(0.05, 0.05, 0.01, 10, 8, hangs=0.02)),
    ExactWorld("5.3.3", OneTransaction(0.25, 0.25, 0.1, 10, 3, young_rounds=1, rolls_back=0.3)),
    ExactWorld("5.5.1", OneTransaction(0.1, 0.1, 0.05, 10, 15, answers_unknown=0.7)),
    ExactWorld("5.5.1", OneTransaction(0.5, 0.2, 0.04, 5, 4, young_rounds=2, says_unknown=0.1)),
    ExactWorld(FIXED, OneTransaction(0.2, 0.15, 0.08, 10, 4, rolls_back=0.1, hangs=0.05, answers_unknown=0.2)),
    ExactWorld(FIXED, OneTransaction(0.3, 0.3, 0.02, 10, 3, young_rounds=1, says_unknown=0.2)),
)


@dataclass(frozen=True, slots=True)
class HeldMeasure:
    """A measure of a world: what the chain says, and what the simulation estimates."""

    measure: str
    exact: float
    simulated: RateEstimate

    @property
    def is_held(self) -> bool:
        """Whether the interval holds the exact number."""
        return self.simulated.low <= self.exact <= self.simulated.high


def held_measures(world: ExactWorld, runs: int, seed: int) -> Iterator[HeldMeasure]:
    """Simulate so many transactions, each from an empty store on; every measure with its exact number.

    A measure that the chain never has, and no run had, is left out.
    """
    keeps_discarded = Profile.of(world.release).switches.keeps_discarded
    exact = expected_of(replace(world.one, keeps_discarded=keeps_discarded, is_repaired=world.release == FIXED))
    counts = [Replication(world.broker, world.workload, seed_of(seed, place), 1).run() for place in range(runs)]
    answer = TrafficAnswer(counts, 1.0)
    simulated = {measure: answer.rates(measure).whole.each for measure in MEASURES}
    simulated["checks"] = answer.checks_per_transaction
    for name in ("delivered", "sends_failed"):
        simulated[name] = share_of([getattr(each, name) for each in counts], [each.transactions for each in counts])
    for measure, estimate in simulated.items():
        if estimate is not None and (measure in exact or estimate.value):
            yield HeldMeasure(measure, exact.get(measure, 0.0), estimate)
