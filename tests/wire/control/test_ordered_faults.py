"""An ordered fault that befell nothing is named, with what came instead; one that befell something is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.wire.one_broker import MINUTE
from tests.wire.one_producer import GROUP, OneProducer
from wire.client.channel import NoAnswerError
from wire.client.transactions import COMMIT
from wire.remoting.codes import ResponseCode

if TYPE_CHECKING:
    from wire.broker_thread import BrokerThread


def unused(running: BrokerThread) -> list[str]:
    return [fault["says"] for fault in running.controller.status()["unused_faults"]]


def test_a_fault_under_a_mistyped_key_says_which_keys_came(running: BrokerThread, producer: OneProducer) -> None:
    control = running.controller
    control.fault("double_end", key="order-77")
    assert unused(running) == ["fault double_end key=order-77 befell nothing; nothing came that it could befall"]
    for key in ("order-7", "order-8"):
        producer.end(producer.half(key), COMMIT)
    said = "fault double_end key=order-77 befell nothing; keys seen: order-7, order-8"
    assert unused(running) == [said]
    control.clear()
    assert unused(running) == [said]  # it stays a test that shows nothing


def test_what_befell_something_and_what_chance_spared_is_not_named(
    running: BrokerThread, producer: OneProducer
) -> None:
    running.controller.fault("lose_end", key="order-7")
    running.controller.fault("double_end", key="order-8", chance=0)
    for key in ("order-7", "order-8"):
        producer.end(producer.half(key), COMMIT, oneway=True)
    assert producer.keys() == ["order-8"]
    assert unused(running) == []


def test_a_refusal_heeds_the_key_of_what_is_sent_and_of_what_is_ended(
    running: BrokerThread, producer: OneProducer
) -> None:
    control = running.controller
    control.fault("refuse", key="order-7")
    assert producer.send_message("order-6", is_half=False).code == ResponseCode.SUCCESS
    assert producer.send_message("order-7", is_half=False).code == ResponseCode.SYSTEM_BUSY
    control.fault("refuse", request="END_TRANSACTION", key="order-8", code=1)
    for key, code in (("order-9", ResponseCode.SUCCESS), ("order-8", ResponseCode.SYSTEM_ERROR)):
        answer = producer.end(producer.half(key), COMMIT)
        assert answer is not None
        assert answer.code == code
    assert unused(running) == []


def test_a_group_that_is_mistyped_and_a_write_that_never_came_are_named(
    running: BrokerThread, producer: OneProducer
) -> None:
    control = running.controller
    control.unreachable_producer("order-servce")
    control.unreachable_producer(GROUP)
    control.crash(at_write=10_000)
    control.step_clock(1)
    producer.half("order-7")
    control.push_clock(MINUTE + 2_000)
    assert unused(running) == [
        f"unreachable_producer group=order-servce befell nothing; producer groups seen: {GROUP}",
        "crash at_write=10000 befell nothing; nothing came that it could befall",
    ]


def test_a_crash_at_a_write_befalls_when_it_comes(running: BrokerThread) -> None:
    given = running.controller.order("crash", at_write=1)["ordered"]
    assert [fault["number"] for fault in running.controller.status()["unused_faults"]] == [given]
    with OneProducer(running.address) as producer, pytest.raises(NoAnswerError):
        producer.half("order-7")
    assert unused(running) == []
