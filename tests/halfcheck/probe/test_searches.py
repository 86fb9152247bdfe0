"""Drawn schedules and shrinking against our own broker.

Its halves are young for a minute, so that nothing depends on how fast a machine is: no round asks about one.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from halfcheck.probe.examples import client_schedules, search_examples
from halfcheck.probe.schedules import Schedule
from halfcheck.probe.session import Session, identify
from halfcheck.probe.shrinking import Failure, Plays, Search, can_be_carried_out, failure_of, shrink
from model_check.clauses import chosen_clauses
from model_check.world import World
from tests.wire.one_broker import broker
from wire.client.channel import Address
from wire.client.transactions import COMMIT
from wire.probe.orders import AwaitCheck, AwaitCopy, AwaitDiscard, AwaitTick, Order, ProbePlan, SendEnd, SendHalf

if TYPE_CHECKING:
    from collections.abc import Iterator

    from halfcheck.probe.session import Played
    from wire.broker_thread import BrokerThread
    from wire.probe.choices import ClientSchedules

SETTINGS = {
    "transactionTimeOut": 60_000,
    "transactionCheckInterval": 100,
    "transactionCheckMax": 3,
    "transactionOpBatchInterval": 50,
    "flushConsumerOffsetInterval": 100,
}
TICK_MS = 100
TWICE = "S1.doubled_request"
UNKNOWN_COMMIT = Failure("message_delivered: driver: the producer logged an END_TRANSACTION that says so")


def commit(transaction: int) -> SendEnd:
    return SendEnd(transaction, transaction, COMMIT, answers_check=False)


DOUBLED: tuple[Order, ...] = (
    SendHalf(0, 0), SendHalf(1, 1), commit(0), AwaitTick(1), commit(1), AwaitTick(2), commit(0),
)  # fmt: skip
SHORTEST: tuple[Order, ...] = (SendHalf(0, 0), commit(0), commit(0))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerThread]:
    with broker(tmp_path_factory.mktemp("broker"), "5.3.3", speed=1, conf=SETTINGS) as found:
        yield found


@pytest.fixture
def session(running: BrokerThread) -> Iterator[Session]:
    given = Session(identify(Address.of(running.address), None, None), tick_ms=TICK_MS)
    yield given
    given.close()


def plays_of(session: Session, most: int = 40, until: float = math.inf) -> Plays:
    return Plays(session, until, lambda *_: None, most)


def played(session: Session, orders: tuple[Order, ...]) -> Played:
    return session.play(Schedule("given", "", ProbePlan(orders)), asks_others=False)


def orders_of(search: Search) -> tuple[Order, ...]:
    assert search.shortest is not None
    return search.shortest.schedule.plan.orders


def clause(name: str) -> Failure:
    return Failure(name, *chosen_clauses([name]))


def test_a_schedule_is_shrunk_to_the_orders_that_break_the_clause(session: Session) -> None:
    first = played(session, DOUBLED)
    assert failure_of(first, chosen_clauses(["S1"])) == clause(TWICE)
    found = shrink(plays_of(session), first, clause(TWICE))
    assert orders_of(found) == SHORTEST
    assert (found.orders, found.came, found.again, found.ended) == (7, 1, 1, "")


def test_a_budget_ends_it_with_the_shortest_so_far(session: Session) -> None:
    found = shrink(plays_of(session, most=1), played(session, DOUBLED), clause(TWICE))
    assert orders_of(found) == tuple(order for order in DOUBLED if not isinstance(order, AwaitTick))
    assert (found.plays, found.ended) == (1, "no plays were left")
    late = shrink(plays_of(session, until=-math.inf), played(session, DOUBLED), clause(TWICE))
    assert (orders_of(late), late.plays, late.again, late.ended) == (DOUBLED, 0, 0, "no time was left")


def test_what_does_not_come_again_is_said_and_left_as_it_is(session: Session, running: BrokerThread) -> None:
    running.controller.fault("double_end", times=1)
    once = played(session, (SendHalf(0, 0), SendHalf(1, 1), commit(0)))
    assert failure_of(once, ()) == UNKNOWN_COMMIT
    found = shrink(plays_of(session), once, UNKNOWN_COMMIT)
    assert found.shortest is once
    assert (found.came, found.again) == (0, 3)


def without_time(session: Session, *faults: str) -> ClientSchedules:
    """Schedules in which no time passes."""
    return replace(client_schedules(World.of("5.3.3", faults), session.tempo, can_die=False), ticks=0)


def drawn(session: Session, *faults: str, examples: int = 30, wanted: str = "S1", seed: int = 7) -> Search:
    return search_examples(
        plays_of(session),
        without_time(session, *faults),
        chosen_clauses([wanted]),
        examples=examples,
        shrinking_plays=30,
        random_seed=seed,
    )


def test_hypothesis_finds_a_commit_that_is_delivered_twice_and_shrinks_it(session: Session) -> None:
    found = drawn(session, "duplicate_end", wanted=TWICE)
    assert found.failure == clause(TWICE)
    assert found.came
    halves = [order.half for order in orders_of(found) if isinstance(order, SendHalf)]
    assert orders_of(found) == (SendHalf(halves[0], halves[0]), *[commit(halves[0])] * 2)
    assert found.drawn <= 30


def test_a_failure_that_stays_away_while_hypothesis_shrinks_it_is_told(session: Session, running: BrokerThread) -> None:
    """Hypothesis asks for the example again, and would call it flaky if it got another answer."""
    running.controller.fault("double_end", times=1_000)
    reasons: list[str] = []

    def report(one: Played, why: str) -> None:
        reasons.append(why)
        if failure_of(one, ()) is not None:
            running.controller.clear()

    plays = Plays(session, math.inf, report)
    found = search_examples(plays, without_time(session), (), examples=30, shrinking_plays=4, random_seed=7)
    assert found.failure is not None
    assert found.failure.clause is None
    assert len(orders_of(found)) == found.orders
    assert [why for why in reasons if why.startswith("shorter, ")], "Hypothesis tried shorter ones"
    assert (found.came, found.again) == (0, 3)


def test_nothing_is_found_where_nothing_that_counts_is_broken(session: Session) -> None:
    found = drawn(session, examples=3, wanted="S5")
    assert (found.failure, found.shortest, found.drawn, found.ended) == (None, None, 3, "")


def test_the_same_seed_draws_the_same(session: Session) -> None:
    told: list[list[str]] = []

    def report(one: Played, _: str) -> None:
        told[-1].append(one.schedule.story)

    for seed in (5, 5, 6):
        told.append([])
        plays = Plays(session, math.inf, report)
        search_examples(plays, without_time(session), (), examples=2, shrinking_plays=0, random_seed=seed)
    assert told[0] == told[1] != told[2]


def test_orders_that_name_what_is_not_known_go_with_the_one_that_is_left_out() -> None:
    answer = SendEnd(0, 2, COMMIT, answers_check=True)
    orders: tuple[Order, ...] = (SendHalf(0, 0), AwaitCopy(0, 1), AwaitCheck(0, 2), answer, AwaitDiscard(0, 2))
    assert tuple(can_be_carried_out(orders)) == orders
    assert tuple(can_be_carried_out(orders[1:])) == ()
    assert tuple(can_be_carried_out((*orders[:2], *orders[3:]))) == (*orders[:2], orders[4])
