"""Each fault does what it says to the messages that it is meant for, and to no others; the same seed does the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.wire.one_broker import MINUTE, broker, wait_until_it_serves
from tests.wire.one_producer import TOPIC, Half, OneProducer, unique_key
from wire.client.transactions import COMMIT
from wire.errors import BadOrderError
from wire.node.faults import KINDS, fault_of
from wire.remoting.codes import RequestCode, ResponseCode

if TYPE_CHECKING:
    from pathlib import Path

    from wire.broker_thread import BrokerThread


def commit_all(producer: OneProducer, *keys: str) -> list[Half]:
    halves = [producer.half(key) for key in keys]
    for half in halves:
        producer.end(half, COMMIT, oneway=True)
    return halves


def checks(running: BrokerThread, producer: OneProducer, rounds: int = 1) -> list[str]:
    """The keys that are checked when so many rounds have gone by; one takes a second or so beside the interval."""
    running.controller.push_clock(rounds * (MINUTE + 2_000))
    return [check.key for check in iter(lambda: producer.check(0.1), None)]


def test_a_lost_end_leaves_its_half_to_the_check(running: BrokerThread, producer: OneProducer) -> None:
    running.controller.fault("lose_end", key="lost")
    commit_all(producer, "lost", "kept")
    assert producer.keys() == ["kept"]
    assert checks(running, producer) == ["lost"]
    assert running.controller.status()["befell"] == {"lose_end": 1}


def test_an_end_that_comes_twice_delivers_twice(running: BrokerThread, producer: OneProducer) -> None:
    running.controller.fault("double_end", key=unique_key("twice"))
    commit_all(producer, "once", "twice", "once-more")
    assert producer.keys() == ["once", "twice", "twice", "once-more"]


def test_a_late_end_comes_when_its_time_has_passed(running: BrokerThread, producer: OneProducer) -> None:
    running.controller.fault("delay_end", delay_ms=3_000)
    commit_all(producer, "late", "in-time")
    assert producer.keys() == ["in-time"]
    running.controller.push_clock(2_999)
    assert producer.keys() == ["in-time"]
    running.controller.push_clock(1)
    assert producer.keys() == ["in-time", "late"]


@pytest.mark.parametrize("kind", ["delay_end", "overtake"])
def test_what_is_under_way_is_lost_with_the_process(kind: str, running: BrokerThread) -> None:
    with OneProducer(running.address) as producer:
        running.controller.fault(kind, delay_ms=3_000)
        commit_all(producer, "under-way")
        assert producer.keys() == []
        running.controller.crash()
    wait_until_it_serves(running)
    running.controller.push_clock(5_000)
    with OneProducer(running.address) as producer:
        commit_all(producer, "after")
        assert producer.keys() == ["after"]


def test_an_end_is_overtaken_by_the_next_one(running: BrokerThread, producer: OneProducer) -> None:
    running.controller.fault("overtake")
    commit_all(producer, "first", "second", "third")
    assert producer.keys() == ["second", "first", "third"]


def test_what_is_held_back_goes_on_when_faults_are_cleared(running: BrokerThread, producer: OneProducer) -> None:
    running.controller.fault("overtake")
    commit_all(producer, "held")
    assert producer.keys() == []
    running.controller.clear()
    assert producer.keys() == ["held"]


@pytest.mark.parametrize(
    ("kind", "first", "second"),
    [
        ("lose_check", ["b"], ["a", "b"]),
        ("double_check", ["a", "a", "b"], ["a", "b"]),
        ("delay_check", ["b"], ["a", "a", "b"]),
        ("overtake_check", ["b", "a"], ["a", "b"]),
    ],
)
def test_a_check_is_lost_doubled_late_or_overtaken(
    running: BrokerThread, producer: OneProducer, kind: str, first: list[str], second: list[str]
) -> None:
    running.controller.fault(kind, delay_ms=MINUTE // 2)
    producer.half("a")
    producer.half("b")
    assert checks(running, producer) == first
    assert sorted(checks(running, producer)[: len(second)]) == sorted(second)


def test_a_refused_send_stores_nothing_and_a_refused_answer_all(running: BrokerThread, producer: OneProducer) -> None:
    running.controller.fault("refuse", request="SEND_MESSAGE_V2", code=2, remark="busy")
    answer = producer.send_message("refused", is_half=False)
    assert (answer.code, answer.remark) == (ResponseCode.SYSTEM_BUSY, "busy")
    running.controller.fault("refuse_answer", code=10)
    assert producer.send_message("unflushed", is_half=False).code == ResponseCode.FLUSH_DISK_TIMEOUT
    assert producer.send_message("sent", is_half=False).code == ResponseCode.SUCCESS
    assert producer.keys() == ["unflushed", "sent"]


def test_no_check_reaches_a_group_that_is_unreachable(running: BrokerThread, producer: OneProducer) -> None:
    producer.half("unheard")
    running.controller.unreachable_producer("order-service")
    assert checks(running, producer) == []
    running.controller.unreachable_producer("order-service", ends=True)
    assert checks(running, producer) == ["unheard"]


def test_a_slave_takes_neither_messages_nor_ends(running: BrokerThread, producer: OneProducer) -> None:
    half = producer.half("before")
    running.controller.role("slave")
    assert producer.send_message("after", is_half=False).code == ResponseCode.SERVICE_NOT_AVAILABLE
    answer = producer.end(half, COMMIT)
    assert answer is not None
    assert answer.code == ResponseCode.SLAVE_NOT_AVAILABLE
    running.controller.role("master")
    producer.end(half, COMMIT)
    assert producer.keys() == ["before"]


def test_a_clock_that_steps_back_makes_halves_younger(running: BrokerThread, producer: OneProducer) -> None:
    producer.half("younger")
    running.controller.step_clock(-10 * MINUTE)
    assert checks(running, producer, 2) == []
    assert checks(running, producer, 10) != []


@pytest.mark.parametrize("seed", [1, 2])
def test_whom_a_fault_with_a_chance_befalls_the_seed_decides(seed: int, tmp_path: Path) -> None:
    keys = [f"half-{number}" for number in range(12)]
    delivered = []
    for attempt in ("one", "two"):
        (tmp_path / attempt).mkdir()
        with broker(tmp_path / attempt, seed=seed) as running, OneProducer(running.address) as producer:
            running.controller.fault("lose_end", times=None, chance=0.5)
            commit_all(producer, *keys)
            delivered.append(producer.keys())
    assert delivered[0] == delivered[1]
    assert 0 < len(delivered[0]) < len(keys)


def test_a_restart_within_the_batch_interval_of_a_commit_delivers_it_twice(tmp_path: Path) -> None:
    with broker(tmp_path, "5.5.1") as running:
        with OneProducer(running.address) as producer:
            producer.end(producer.half("doubled"), COMMIT)
            running.controller.restart()
        with OneProducer(running.address) as producer:
            producer.heartbeat()
            running.controller.push_clock(2 * MINUTE)
            check = producer.check()
            assert check is not None
            producer.end(check, COMMIT, answers_check=True)
            assert producer.keys() == ["doubled", "doubled"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_fault_is_made_of_its_name(kind: str) -> None:
    assert fault_of({"fault": kind}).kind == kind


@pytest.mark.parametrize(
    ("order", "complaint"),
    [
        ({"fault": "explode"}, "fault: fault is 'explode', expected one of delay_check"),
        ({}, "fault: fault is missing, expected one of delay_check"),
        ({"fault": "lose_end", "times": -1}, "times is -1, expected a whole number: how many messages it"),
        ({"fault": "lose_end", "times": True}, "times is True"),
        ({"fault": "lose_end", "chance": 2}, "chance is 2, expected 0 to 1: with which probability"),
        ({"fault": "lose_end", "delay_ms": 10**30}, f"delay_ms is {10**30}, expected 0 to 2592000000: milliseconds"),
        ({"fault": "refuse", "code": 1 << 15}, "code is 32768, expected 0 to 32767: of a refusal: the response code"),
        ({"fault": "refuse", "code": -1}, "code is -1, expected 0 to 32767"),
        ({"fault": "lose_end", "delay_ms": "long"}, "delay_ms is 'long', expected 0 to 2592000000: milliseconds"),
        ({"fault": "lose_end", "is_over": 1}, "'is_over' is nothing that it takes; it takes fault, times"),
        ({"fault": "refuse", "request": "KILL"}, "request is 'KILL', expected of a refusal: the kind of"),
    ],
)
def test_a_fault_that_is_none_is_refused_in_words(order: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadOrderError, match=complaint):
        fault_of(order)


def test_a_refusal_may_name_any_request(running: BrokerThread, producer: OneProducer) -> None:
    running.controller.fault("refuse", request="GET_MAX_OFFSET", code=1)
    fields = {"topic": TOPIC, "queueId": 0}
    assert producer.ask(RequestCode.GET_MAX_OFFSET, fields).code == ResponseCode.SYSTEM_ERROR
    assert producer.ask(RequestCode.GET_MAX_OFFSET, fields).code == ResponseCode.SUCCESS
