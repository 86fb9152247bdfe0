"""A simulation from its beginning to its end: a pure function, whose sum over seeds is what rates are made of."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from traffic.simulation.broker_host import BrokerHost
from traffic.simulation.check_thread import CheckServiceThread
from traffic.simulation.consumer import SimulatedConsumer
from traffic.simulation.op_batch_thread import OpBatchThread
from traffic.simulation.producers import SimulatedProducers
from traffic.simulation.random_streams import RandomStreams
from traffic.simulation.requests import BrokerRequests
from traffic.simulation.running import RunningSimulation
from traffic.simulation.storage_threads import StorageThreads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from traffic.simulation.counts import TrafficCounts
    from traffic.simulation.simulated_broker import SimulatedBroker
    from traffic.workload.distributions import Recurring
    from traffic.workload.workload import TrafficWorkload

_ROUND_MS = 60_000
"""By how much a check round may outlast its interval (``MAX_PROCESS_TIME_LIMIT``)."""


def simulate(
    broker: SimulatedBroker, workload: TrafficWorkload, seed: int, transactions: int, quiet_ms: float = 0.0
) -> TrafficCounts:
    """Simulate so many transactions, and wait until each is settled or given up; the same seed gives the same counts.

    It begins with an empty store, and with the first transaction when the broker has run for `quiet_ms`; it begins no
    transaction more behind the last. What is still under way when all checks of the last one must be over counts as
    open. All arguments can be pickled: a task of any engine can call it.
    """
    with without_collector():
        run = RunningSimulation(broker, workload, RandomStreams(seed), quiet_ms=quiet_ms)
        run_to_its_end(run, BrokerHost(run), transactions)
        return run.counts


@contextmanager
def without_collector() -> Iterator[None]:
    """Let Python's cycle collector rest, which takes up to a quarter of a run's time and finds nothing.

    What is over is forgotten by its reference counts: the ledger takes apart the one cycle that each transaction has.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def run_to_its_end(run: RunningSimulation, host: BrokerHost, transactions: int) -> None:
    """Run so many transactions on a machine that nobody has started yet."""
    workload = run.workload
    op_batch = OpBatchThread(host)
    requests = BrokerRequests(host, op_batch)
    checks, storage = CheckServiceThread(host, requests), StorageThreads(host)
    host.threads += [checks, op_batch, storage]
    producers = SimulatedProducers(run, transactions, host, requests, checks)
    SimulatedConsumer(run, host, requests, storage)
    events, ledger, counts = run.events, run.ledger, run.counts
    host.boot()

    def begin_traffic(_: object) -> None:
        producers.begin()
        _put_mishaps(run, host, producers)

    events.put(run.quiet_ms, begin_traffic, None)
    settings = run.broker.settings
    drain_ms = (settings.transaction_check_max + 3) * (settings.transaction_check_interval_ms + _ROUND_MS)
    immunity = 1000 * (workload.arrivals.immunity_s or 0)

    def goes_on() -> bool:
        if producers.left:
            return True
        return bool(ledger.transactions) and events.now < run.quiet_ms + counts.arriving_ms + drain_ms + immunity

    events.run(goes_on)
    counts.log_bytes += host.log_end
    counts.simulated_ms = events.now - run.quiet_ms
    ledger.close_all()


def _put_mishaps(run: RunningSimulation, host: BrokerHost, producers: SimulatedProducers) -> None:
    """Let each process be paused, stalled or replaced now and then, as long as transactions begin."""
    workload, events = run.workload, run.events
    _recur(run, "broker pauses", workload.broker_pauses, host.pause)
    _recur(run, "disk stalls", workload.disk_stalls, host.stall)
    count = workload.arrivals.producers
    for number in range(count):
        _recur(run, f"pauses of producer {number}", workload.producer_pauses, partial(producers.pause, number))
    deployments = workload.deployments
    if deployments is None:
        return
    every, away = deployments.every_ms, deployments.away_ms
    begun = run.streams.of("deployments").random()

    def replace(number: int) -> None:
        if run.is_arriving:
            producers.go(number)
            events.put(events.now + away, producers.come, number)
            events.put(events.now + every + away, replace, number)

    for number in range(count):
        events.put(events.now + every * (number + begun) / count, replace, number)


def _recur(run: RunningSimulation, what: str, recurring: Recurring | None, befall: Callable[[float], None]) -> None:
    """Let something happen again and again, each time for a while."""
    if recurring is None:
        return
    events, random = run.events, run.streams.of(what)

    def happen(_: object) -> None:
        if run.is_arriving:
            lasts = recurring.lasts_ms.draw(random)
            befall(lasts)
            events.put(events.now + lasts + random.expovariate(1) * recurring.every_ms, happen, None)

    events.put(events.now + random.expovariate(1) * recurring.every_ms, happen, None)
