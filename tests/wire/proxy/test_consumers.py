"""Consumers behind the proxy: what they pop, ack, hide longer, get again, and what becomes a dead letter."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.wire.one_producer import TOPIC, OneProducer
from tests.wire.proxy.one_grpc_client import GROUP, SECONDS, OneGrpcClient, code_of, grpc_broker, key_of
from wire.client.channel import Address, BrokerChannel
from wire.pop import pop_consumption
from wire.proxy.protocol.messages import ClientType, MessageType
from wire.remoting.codes import RequestCode
from wire.requests.request import body_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wire.broker_thread import BrokerThread

NORMAL = MessageType.NORMAL
RETRY_TOPIC = f"%RETRY%{GROUP}_{TOPIC}"


@pytest.fixture
def running(tmp_path: Path) -> Iterator[BrokerThread]:
    with grpc_broker(tmp_path) as one:
        yield one


@pytest.fixture
def client(running: BrokerThread) -> Iterator[OneGrpcClient]:
    with OneGrpcClient(running.grpc_address) as one:
        one.be_consumer()
        yield one


def attempts(messages: list[Any]) -> list[tuple[str, int]]:
    return sorted((key_of(each), each.system_properties.delivery_attempt) for each in messages)


def no_news(client: OneGrpcClient, **more: Any) -> str:
    """What is said where nothing is to be had, after the shortest poll that there is."""
    first = client.receive(long_polling_timeout={"seconds": 5}, **more)[0]
    return f"{code_of(first.status)}: {first.status.message}"


def test_a_message_is_handed_out_once_and_acked(running: BrokerThread, client: OneGrpcClient) -> None:
    client.send("one", NORMAL, message_group="")
    parts = client.receive()
    kinds = [part.WhichOneof("content") for part in parts]
    assert kinds == ["status", "message", "delivery_timestamp"]
    (message,) = [part.message for part in parts if part.WhichOneof("content") == "message"]
    assert (message.body, message.system_properties.tag, key_of(message)) == (b"one", "paid", "one")
    assert message.system_properties.delivery_attempt == 1
    assert running.controller.status()["popped"] == 1
    assert code_of(client.ack(message)) == "OK"
    assert code_of(client.ack(message)) == "OK"  # a second one does nothing
    assert running.controller.status()["popped"] == 0
    running.controller.push_clock(3_600_000)
    assert no_news(client) == "MESSAGE_NOT_FOUND: no new message"


def test_what_is_not_acked_in_time_comes_again_and_is_counted(running: BrokerThread, client: OneGrpcClient) -> None:
    client.send("again", NORMAL)
    assert attempts(client.messages(invisible_s=10)) == [("again", 1)]
    running.controller.push_clock(9_999)
    assert running.controller.status()["popped"] == 1
    running.controller.push_clock(2)
    assert attempts(client.messages(invisible_s=10)) == [("again", 2)]
    running.controller.push_clock(10_001)
    (third,) = client.messages(invisible_s=10)
    assert attempts([third]) == [("again", 3)]
    client.ack(third)
    with OneProducer(running.address) as reader:
        assert reader.keys(RETRY_TOPIC, 0) == ["again", "again"]


def test_a_poll_waits_for_the_message_that_comes(running: BrokerThread, client: OneGrpcClient) -> None:
    found: list[Any] = []
    polling = threading.Thread(target=lambda: found.extend(client.messages(long_polling_timeout={"seconds": 20})))
    polling.start()
    with OneGrpcClient(running.grpc_address, "sender") as sender:
        sender.be_producer()
        sender.send("late", NORMAL)
    polling.join(SECONDS)
    assert attempts(found) == [("late", 1)]


def test_a_poll_wakes_when_a_message_comes_again(running: BrokerThread, client: OneGrpcClient) -> None:
    client.send("again", NORMAL)
    client.messages(invisible_s=10)
    found: list[Any] = []
    polling = threading.Thread(target=lambda: found.extend(client.messages(long_polling_timeout={"seconds": 20})))
    polling.start()
    running.controller.push_clock(10_001)
    polling.join(SECONDS)
    assert attempts(found) == [("again", 2)]


def test_a_message_is_hidden_longer_and_its_old_receipt_is_over(running: BrokerThread, client: OneGrpcClient) -> None:
    client.send("slow", NORMAL)
    (message,) = client.messages(invisible_s=10)
    running.controller.push_clock(5_000)
    fields = {"group": {"name": GROUP}, "topic": {"name": TOPIC}}
    old = message.system_properties.receipt_handle
    changed = client.call("ChangeInvisibleDuration", receipt_handle=old, invisible_duration={"seconds": 60}, **fields)
    assert code_of(changed.status) == "OK"
    assert changed.receipt_handle != old
    again = client.call("ChangeInvisibleDuration", receipt_handle=old, invisible_duration={"seconds": 60}, **fields)
    assert code_of(again.status) == "INVALID_RECEIPT_HANDLE"
    running.controller.push_clock(30_000)
    assert code_of(client.ack(message)) == "INVALID_RECEIPT_HANDLE"  # by now it is expired
    message.system_properties.receipt_handle = changed.receipt_handle
    assert code_of(client.ack(message)) == "OK"
    assert running.controller.status()["popped"] == 0


def test_a_push_consumers_message_is_kept_until_its_stream_ends(running: BrokerThread, client: OneGrpcClient) -> None:
    client.be_consumer(kind=ClientType.PUSH_CONSUMER)
    client.send("long", NORMAL)
    (message,) = client.messages(auto_renew=True)
    running.controller.push_clock(30 * 60_000)
    assert running.controller.status()["popped"] == 1
    assert code_of(client.ack(message)) == "OK"
    client.send("left", NORMAL)
    client.messages(auto_renew=True)
    with OneGrpcClient(running.grpc_address, "other") as other:
        other.be_consumer()
        client.end_stream()
        while running.controller.status()["connections"] > 1:
            time.sleep(0.01)
        running.controller.push_clock(1_001)
        assert attempts(other.messages()) == [("left", 2)]


def test_a_push_consumer_is_renewed_for_three_hours_at_most(running: BrokerThread, client: OneGrpcClient) -> None:
    client.be_consumer(kind=ClientType.PUSH_CONSUMER)
    client.send("stuck", NORMAL)
    client.messages(auto_renew=True)
    running.controller.push_clock(5 * 3_600_000)
    assert attempts(client.messages(auto_renew=True)) == [("stuck", 2)]


def test_a_dead_letter_is_one_that_a_client_forwards(running: BrokerThread, client: OneGrpcClient) -> None:
    client.send("poison", NORMAL)
    (message,) = client.messages()
    system = message.system_properties
    answer = client.call(
        "ForwardMessageToDeadLetterQueue",
        group={"name": GROUP}, topic={"name": TOPIC}, receipt_handle=system.receipt_handle,
        message_id=system.message_id, delivery_attempt=1, max_delivery_attempts=1,
    )  # fmt: skip
    assert code_of(answer.status) == "OK"
    with OneProducer(running.address) as reader:
        assert reader.keys(f"%DLQ%{GROUP}", 0) == ["poison"]
    assert running.controller.status()["popped"] == 0


def test_what_was_delivered_too_often_becomes_a_dead_letter(running: BrokerThread, client: OneGrpcClient) -> None:
    with BrokerChannel(Address.of(running.address)) as operator:
        group = body_of({"groupName": GROUP, "retryMaxTimes": 1})
        operator.ask(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, group)
    client.send("poison", NORMAL)
    for attempt in (1, 2):
        assert attempts(client.messages(invisible_s=10)) == [("poison", attempt)]
        running.controller.push_clock(10_001)
    assert no_news(client) == "MESSAGE_NOT_FOUND: no match message"
    with OneProducer(running.address) as reader:
        assert reader.keys(f"%DLQ%{GROUP}", 0) == ["poison"]


def test_in_order_a_queue_gives_the_next_only_behind_the_ack(running: BrokerThread, client: OneGrpcClient) -> None:
    with BrokerChannel(Address.of(running.address)) as operator:
        group = body_of({"groupName": GROUP, "consumeMessageOrderly": True})
        operator.ask(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, group)
    assert client.be_consumer().subscription.fifo
    for key in ("first", "second"):
        client.send(key, MessageType.FIFO, message_group="order-7")
    (first,) = client.messages(most=1, invisible_s=10)
    running.controller.push_clock(10_001)
    (first,) = client.messages(most=1, invisible_s=10)
    assert attempts([first]) == [("first", 2)]
    assert no_news(client, most=1) == "MESSAGE_NOT_FOUND: no new message"
    client.ack(first)
    assert attempts(client.messages(most=1)) == [("second", 1)]


def test_tags_that_are_not_wanted_are_passed(running: BrokerThread, client: OneGrpcClient) -> None:
    client.send("one", NORMAL, tag="sent")
    client.send("two", NORMAL, tag="paid")
    assert attempts(client.messages(filter_expression={"expression": "paid || returned"})) == [("two", 1)]


def test_a_delayed_message_waits_for_the_brokers_time(running: BrokerThread, client: OneGrpcClient) -> None:
    now_s = running.controller.status()["now"] // 1_000
    sent = client.send("later", MessageType.DELAY, delivery_timestamp={"seconds": now_s + 60})
    assert code_of(sent.status) == "OK"
    running.controller.push_clock(50_000)
    with OneProducer(running.address) as reader:
        assert [reader.keys(queue_id=queue_id) for queue_id in range(4)] == [[]] * 4
    running.controller.push_clock(15_000)
    assert attempts(client.messages()) == [("later", 1)]


def test_each_group_gets_all(running: BrokerThread, client: OneGrpcClient) -> None:
    client.send("one", NORMAL)
    (mine,) = client.messages()
    with OneGrpcClient(running.grpc_address, "other") as other:
        other.be_consumer("other-readers")
        assert attempts(other.messages(group={"name": "other-readers"})) == [("one", 1)]
        status = other.ack(mine, group="third-readers")
        assert code_of(status) == "INVALID_RECEIPT_HANDLE"
    assert running.controller.status()["popped"] == 2


@pytest.mark.parametrize(
    "handle",
    [
        "",
        "x",
        "1 2 3",
        "0 1 2 0 0 broker-a 0 0 0",
        "0 99999999999999 60000 0 0 broker-a 1 0 0",
        "9 " * 9,
        "a" * 100_000,
    ],
)
def test_a_forged_receipt_is_refused(running: BrokerThread, client: OneGrpcClient, handle: str) -> None:
    client.send("one", NORMAL)
    (message,) = client.messages()
    own = message.system_properties.receipt_handle
    message.system_properties.receipt_handle = handle
    answer = client.ack(message)
    assert code_of(answer) == "INVALID_RECEIPT_HANDLE"
    message.system_properties.receipt_handle = own
    assert code_of(client.ack(message)) == "OK"


def test_what_was_acked_is_kept_no_longer_than_its_receipt_holds(
    running: BrokerThread, client: OneGrpcClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pop_consumption, "_LEAST_SWEPT", 8)
    node = running._service.node
    assert node is not None
    pops = node.pops
    assert pops is not None
    pops._sweep_settled_at = 8
    for _ in range(3):
        for number in range(16):
            client.send(f"one-{number}", NORMAL)
            assert code_of(client.ack(*client.messages(invisible_s=10))) == "OK"
            assert len(pops._due) <= 8
        assert len(pops._settled) >= 16  # a second ack of each is answered OK until its receipt is over
        running.controller.push_clock(10_001)
    assert len(pops._settled) <= 2 * 16
