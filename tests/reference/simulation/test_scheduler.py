"""A run is a seed: the same seed gives the same bytes, another one another order."""

from __future__ import annotations

import pytest

from reference.broker.broker_settings import BrokerSettings
from reference.client.producer_messages import Message
from reference.cluster.cluster import Cluster
from reference.cluster.push_consumer import PushConsumer
from reference.scenarios.scenario import run
from reference.scenarios.scripted_application import COMMIT, ScriptedListener, send_all
from reference.scenarios.walk_throughs import SCENARIOS
from reference.simulation.scheduler import NothingCanRunError, Scheduler, Sleep, Steps, Until
from reference.simulation.virtual_clock import VirtualClock

NAMES = [name for name in SCENARIOS if name != "failed-consumption"]


def bodies_in_order_of_the_log(seed: int) -> list[bytes]:
    """Three producers send at once; what the log holds in the end."""
    cluster = Cluster(seed, "5.3.3", BrokerSettings())
    for name in ("a", "b", "c"):
        listener = ScriptedListener(lambda _body: COMMIT, lambda _body, _asked: COMMIT)
        messages = [Message("T", f"{name}{n}".encode()) for n in range(4)]
        cluster.run_program(name, send_all(cluster, cluster.producer(name, listener), messages, pause_ms=1))
    PushConsumer(cluster, "consumers", "T")
    cluster.scheduler.run(cluster.is_at_rest)
    assert cluster.broker is not None
    return [record.body for record in cluster.broker.message_store.records()]


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_bytes_and_the_same_events(name: str) -> None:
    first, second = run(SCENARIOS[name], 5), run(SCENARIOS[name], 5)
    assert first.cluster.disk.files() == second.cluster.disk.files()
    assert first.cluster.recorder.rows == second.cluster.recorder.rows
    assert first.consumer.consumed == second.consumer.consumed
    assert first.cluster.scheduler.digest == second.cluster.scheduler.digest


@pytest.mark.parametrize("name", NAMES)
def test_another_seed_gives_another_order(name: str) -> None:
    digests = {run(SCENARIOS[name], seed).cluster.scheduler.digest for seed in range(4)}
    assert len(digests) == 4


def test_seeds_decide_whose_record_comes_first() -> None:
    orders = {tuple(bodies_in_order_of_the_log(seed)) for seed in range(8)}
    assert len(orders) == 8
    bodies = [sorted(body for body in order if not body.endswith(b",")) for order in orders]
    assert bodies == [sorted([f"{name}{n}".encode() for name in "abc" for n in range(4)] * 2)] * 8


def test_every_order_of_two_threads_comes_up() -> None:
    def words_by(seed: int) -> str:
        words: list[str] = []
        scheduler = Scheduler(seed, VirtualClock())

        def speak(word: str) -> object:
            for _ in range(2):
                words.append(word)
                yield None

        for word in "ab":
            scheduler.start(word, speak(word))  # type: ignore[arg-type]
        scheduler.run(lambda: not scheduler.threads)
        return "".join(words)

    assert {words_by(seed) for seed in range(60)} == {"aabb", "abab", "abba", "baab", "baba", "bbaa"}


def test_the_clock_goes_to_the_next_instant_and_a_condition_wakes_before_it() -> None:
    clock = VirtualClock(1_000)
    scheduler = Scheduler(1, clock)
    woken: dict[str, int] = {}

    def sleeper() -> object:
        yield Sleep(100_000)
        woken["sleeper"] = clock.now

    def waiter() -> object:
        yield Until(lambda: "sleeper" in woken, 500_000)
        woken["waiter"] = clock.now

    scheduler.start("sleeper", sleeper())  # type: ignore[arg-type]
    scheduler.start("waiter", waiter())  # type: ignore[arg-type]
    scheduler.run(lambda: not scheduler.threads)
    assert 101_000 <= woken["sleeper"] <= woken["waiter"] < 101_010


def test_threads_that_wait_for_nothing_that_comes_are_named() -> None:
    scheduler = Scheduler(1, VirtualClock())

    def waiter() -> object:
        yield Until(lambda: False)

    scheduler.start("the waiter", waiter())  # type: ignore[arg-type]
    with pytest.raises(NothingCanRunError, match="the waiter"):
        scheduler.run(lambda: False)


def test_what_is_due_runs_up_to_an_instant_and_no_further() -> None:
    clock = VirtualClock(1_000)
    scheduler = Scheduler(1, clock, longest_step_ms=0)
    ran: list[tuple[str, int]] = []

    def every(name: str, ms: int) -> Steps[None]:
        while True:
            yield Sleep(ms)
            ran.append((name, clock.elapsed))

    scheduler.start("often", every("often", 100))
    scheduler.start("seldom", every("seldom", 250))
    assert scheduler.run_due(1_300, most_steps=100)
    assert sorted(ran) == [("often", 1_100), ("often", 1_200), ("often", 1_300), ("seldom", 1_250)]
    assert (clock.elapsed, scheduler.next_instant) == (1_300, 1_400)
    assert scheduler.run_due(1_350, most_steps=100)
    assert (clock.elapsed, len(ran)) == (1_350, 4)


def test_a_run_that_takes_too_many_steps_stops_where_it_stands() -> None:
    clock = VirtualClock(0)
    scheduler = Scheduler(1, clock, longest_step_ms=0)
    taken = []

    def spin() -> Steps[None]:
        while True:
            taken.append(clock.elapsed)
            yield None

    scheduler.start("spin", spin())
    assert not scheduler.run_due(50, most_steps=10)
    assert (taken, clock.elapsed) == ([0] * 10, 0)
