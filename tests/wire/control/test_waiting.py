"""Orders that wait for a producer, a round or a message, one that takes a whole round, and the order to stop."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest

from tests.wire.one_broker import MINUTE, broker
from tests.wire.one_producer import GROUP, TOPIC, OneProducer, unique_key
from wire.broker_thread import BrokerThread
from wire.client.transactions import COMMIT
from wire.errors import BadOrderError, WireError
from wire.node.start import Start
from wire.remoting.codes import RequestCode

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wire.node.broker_node import BrokerNode

ONE_INTERVAL = 30_000


def test_a_push_of_one_interval_may_end_within_a_round_and_the_order_round_does_not(tmp_path: Path) -> None:
    with broker(tmp_path, transactionCheckInterval=ONE_INTERVAL) as running, OneProducer(running.address) as producer:
        producer.heartbeat()
        control = running.controller
        producer.end(producer.half("before"), COMMIT)
        control.push_clock(5_000)
        producer.half("order-7")
        control.push_clock(ONE_INTERVAL - 5_000)
        assert control.status()["rounds_ended"] == 0  # it sleeps for want of op messages
        assert producer.check(0.1) is None
        passed = control.round()
        assert control.status()["rounds_ended"] == 2
        assert producer.check() is not None
        assert ONE_INTERVAL < passed < 2 * ONE_INTERVAL


def test_a_round_in_real_time_or_on_a_slave_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    with broker(tmp_path / "real", speed=1.0) as running, pytest.raises(BadOrderError, match="wait rounds=1 waits"):
        running.controller.round()
    with broker(tmp_path) as running:
        running.controller.role("slave")
        with pytest.raises(WireError, match="no check round begins: a slave checks nothing"):
            running.controller.round()


def test_it_is_waited_for_rounds_while_time_is_pushed(tmp_path: Path) -> None:
    with broker(tmp_path) as running:
        came: list[bool] = []
        waiting = threading.Thread(target=lambda: came.append(running.controller.wait(rounds=2)))
        waiting.start()
        while len(came) == 0:
            running.controller.round()
        waiting.join()
        assert came == [True]
        assert running.controller.status()["rounds_ended"] >= 2
        assert running.controller.wait(rounds=1, timeout_ms=0) is False


def test_it_is_waited_for_a_message_in_its_topic_and_for_a_producer(tmp_path: Path) -> None:
    with broker(tmp_path) as running, OneProducer(running.address) as producer:
        control = running.controller
        half = producer.half("order-7")
        assert control.wait(delivered="order-7", timeout_ms=0) is False
        producer.end(half, COMMIT)
        assert control.wait(delivered="order-7", timeout_ms=0) is True
        assert control.wait(delivered=unique_key("order-7")) is True
        assert control.wait(producer=GROUP, timeout_ms=0) is False
        producer.heartbeat()
        assert control.wait(producer=GROUP) is True


def test_it_is_waited_until_a_group_has_consumed_a_message(tmp_path: Path) -> None:
    with broker(tmp_path) as running, OneProducer(running.address) as producer:
        control = running.controller

        def has_consumed(times: int = 1) -> bool:
            return control.wait(consumed="order-7", group="shipping", times=times, timeout_ms=0)

        control.fault("double_end", key="order-7")
        producer.end(producer.half("order-7"), COMMIT)
        offset = {"consumerGroup": "shipping", "topic": TOPIC, "queueId": 1}
        assert not has_consumed()
        for times in (1, 2):
            producer.ask(RequestCode.UPDATE_CONSUMER_OFFSET, offset | {"commitOffset": times})
            assert has_consumed(times)
            assert not has_consumed(times + 1)
        assert control.transactions("order-7")[0]["consumed"] == {"shipping": 2}
        given_back = {"group": "shipping", "offset": producer.pulled()[0].physical_offset, "delayLevel": 1}
        producer.ask(RequestCode.CONSUMER_SEND_MSG_BACK, given_back)
        assert not has_consumed(2)
        control.push_clock(5_000)  # it lies in the retry topic
        assert not has_consumed(2)
        again = {"consumerGroup": "shipping", "topic": "%RETRY%shipping", "queueId": 0, "commitOffset": 1}
        producer.ask(RequestCode.UPDATE_CONSUMER_OFFSET, again)
        assert has_consumed(2)
        with pytest.raises(BadOrderError, match="wait: group is missing"):
            control.wait(consumed="order-7")


def test_what_came_instead_is_said(tmp_path: Path) -> None:
    with broker(tmp_path) as running, OneProducer(running.address) as producer:
        producer.heartbeat()
        producer.heartbeat(group="CLIENT_INNER_PRODUCER")
        producer.heartbeat("shipping")
        producer.end(producer.half("order-7"), COMMIT)

        def said(**what: object) -> str:
            return str(running.controller.order("wait", timeout_ms=0, **what)["says"])

        assert said(delivered="order-8") == "no message with the key order-8 was delivered; delivered: order-7"
        assert said(producer="orders") == f"no producer of orders has come; producers: {GROUP}"
        assert said(consumed="order-7", group="stock") == (
            "stock has consumed order-7 0 of 1 times; consumer groups there: shipping"
        )
        assert running.controller.status()["consumers"]["shipping"] == [f"{producer.own_address}@test"]


@pytest.mark.parametrize("arguments", [{}, {"rounds": 1, "producer": GROUP}, {"rounds": 0}])
def test_one_thing_is_waited_for(arguments: dict[str, object], tmp_path: Path) -> None:
    with broker(tmp_path) as running, pytest.raises(BadOrderError, match="wait: "):
        running.controller.order("wait", **arguments)


def test_a_stop_is_answered_to_all_who_have_ordered_it_behind_its_end(tmp_path: Path) -> None:
    with broker(tmp_path) as running:
        let_both_arrive(running)
        answers: list[object] = []
        threads = [threading.Thread(target=lambda: answers.append(running.controller.stop())) for _ in range(2)]
        waiting = threading.Thread(target=wait_in_vain, args=(running.controller.wait,))
        for thread in (waiting, *threads):
            thread.start()
        for thread in (waiting, *threads):
            thread.join()
        running.join(10)
        assert answers == [{}, {}]  # a thread that judges nothing
        with pytest.raises(WireError, match="no control port answers there"):
            running.controller.status()


def test_why_there_is_no_verdict_is_answered_and_raised(tmp_path: Path) -> None:
    def judge(node: BrokerNode) -> dict[str, object]:
        message = f"no {node.start.release}"
        raise LookupError(message)

    start = Start.of("5.5.1", tmp_path / "store", speed=None)
    running = BrokerThread(start, judge=judge).__enter__()
    with pytest.raises(WireError, match=r"stop: there is no verdict: no 5\.5\.1"):
        running.controller.stop()
    with pytest.raises(LookupError, match=r"no 5\.5\.1"):
        running.stop()


def let_both_arrive(running: BrokerThread) -> None:
    """The first order to stop is taken when the second has come, as the port closes behind one."""
    node = running._service.node
    assert node is not None
    take, come, both = node.on_stop, 0, asyncio.Event()

    async def take_both() -> dict[str, object]:
        nonlocal come
        come += 1
        if come == 2:
            both.set()
        await both.wait()
        return await take()

    node.on_stop = take_both


def wait_in_vain(wait: Callable[..., object]) -> None:
    with pytest.raises(WireError):
        wait(producer="nobody", timeout_ms=10 * MINUTE)
