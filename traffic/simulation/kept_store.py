"""A simulation whose store is kept: the files that its broker has written, as an audit or a fit reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from traffic.simulation.broker_host import BrokerHost
from traffic.simulation.random_streams import RandomStreams
from traffic.simulation.running import RunningSimulation
from traffic.simulation.simulate import run_to_its_end

if TYPE_CHECKING:
    from pathlib import Path

    from traffic.simulation.counts import TrafficCounts
    from traffic.simulation.simulated_broker import SimulatedBroker
    from traffic.workload.workload import TrafficWorkload


@dataclass(frozen=True, slots=True)
class KeptRun:
    """What a simulation has counted, and when processes of its broker were gone, by the broker's clock."""

    counts: TrafficCounts
    deaths: tuple[int, ...]


def simulate_and_keep(
    broker: SimulatedBroker,
    workload: TrafficWorkload,
    seed: int,
    transactions: int,
    folder: Path,
    lives: tuple[tuple[float, float], ...] | None = None,
    quiet_ms: float = 0.0,
    leads_ms: tuple[float, ...] | None = None,
) -> KeptRun:
    """Simulate as :func:`simulate` does, and write the store below a folder, with the settings in its ``broker.conf``.

    All of it lies in memory until then. `lives`, `quiet_ms` and `leads_ms` are those of
    `RunningSimulation`.
    """
    run = RunningSimulation(
        broker, workload, RandomStreams(seed), keeps_store=True, lives=lives, quiet_ms=quiet_ms, leads_ms=leads_ms
    )
    host, deaths = BrokerHost(run), list[int]()
    host.on_death.append(lambda: deaths.append(run.events.clock.now))
    run_to_its_end(run, host, transactions)
    host.write_store(folder)
    settings = broker.settings
    given = {
        "transactionTimeOut": settings.transaction_timeout_ms,
        "transactionCheckMax": settings.transaction_check_max,
        "transactionCheckInterval": settings.transaction_check_interval_ms,
        **({"transactionOpBatchInterval": settings.op_batch_interval_ms} if broker.switches.batches_ops else {}),
    }
    text = "".join(f"{name}={value}\n" for name, value in given.items())
    (folder / "broker.conf").write_text(text, encoding="utf-8")
    return KeptRun(run.counts, tuple(deaths))
