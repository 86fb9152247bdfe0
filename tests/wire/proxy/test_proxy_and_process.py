"""What the proxy loses when it or its broker stops, and what clients find behind that."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from tests.wire.one_broker import MINUTE, broker, wait_until_it_serves
from tests.wire.one_producer import TOPIC, OneProducer
from tests.wire.proxy.one_grpc_client import SECONDS, OneGrpcClient, code_of, grpc_broker, key_of
from wire.errors import BadOrderError, WireError
from wire.proxy.port import GrpcPort
from wire.proxy.protocol.messages import MessageType, TransactionResolution

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wire.broker_thread import BrokerThread

COMMIT = TransactionResolution.COMMIT
NORMAL = MessageType.NORMAL


@pytest.fixture
def running(tmp_path: Path) -> Iterator[BrokerThread]:
    with grpc_broker(tmp_path, transactionCheckInterval=MINUTE) as one:
        yield one


def wait_for_grpc(running: BrokerThread) -> OneGrpcClient:
    """A client of the port behind a restart."""
    wait_until_it_serves(running)
    while not running.controller.status()["is_up"]:
        time.sleep(0.01)
    return OneGrpcClient(running.grpc_address)


def test_a_proxy_that_restarts_knows_nobody_and_nothing(running: BrokerThread) -> None:
    with OneGrpcClient(running.grpc_address) as client:
        client.be_producer()
        client.send("paid")
        running.controller.restart_proxy()
        assert client.heard.get(timeout=SECONDS) is None  # its stream has ended
        assert running.controller.status()["producers"] == {}
    with OneGrpcClient(running.grpc_address) as client:
        assert code_of(client.call("Heartbeat").status) == "UNRECOGNIZED_CLIENT_TYPE"
        client.be_producer()
        assert code_of(client.end("paid", COMMIT)) == "INTERNAL_SERVER_ERROR"
        running.controller.push_clock(MINUTE + 2_000)
        assert key_of(client.check().message) == "paid"
        assert code_of(client.end("paid", COMMIT, source=2)) == "OK"
    with OneProducer(running.address) as reader:
        assert [key for queue_id in range(4) for key in reader.keys(queue_id=queue_id)] == ["paid"]


@pytest.mark.parametrize("how", ["crash", "restart"])
def test_the_proxy_dies_with_its_broker_and_returns_with_it(running: BrokerThread, how: str) -> None:
    with OneGrpcClient(running.grpc_address) as client:
        client.be_producer()
        client.send("paid")
        client.send("plain", NORMAL)
        getattr(running.controller, how)()
        assert client.heard.get(timeout=SECONDS) is None
    with wait_for_grpc(running) as client:
        client.be_producer()
        assert code_of(client.end("paid", COMMIT)) == "INTERNAL_SERVER_ERROR"
        running.controller.push_clock(MINUTE + 2_000)
        assert key_of(client.check().message) == "paid"
        client.be_consumer()
        assert [key_of(each) for each in client.messages()] == ["plain"]


def test_behind_a_crash_what_was_not_acked_comes_again_and_old_receipts_do_nothing(running: BrokerThread) -> None:
    with OneGrpcClient(running.grpc_address) as client:
        client.be_consumer()
        client.send("one", NORMAL)
        client.send("two", NORMAL)
        one, two = sorted(client.messages(invisible_s=60), key=key_of)
        client.ack(one)
        running.controller.push_clock(11_000)  # offsets are saved
        running.controller.crash()
    with wait_for_grpc(running) as client:
        client.be_consumer()
        assert code_of(client.ack(two)) == "OK"
        (again,) = client.messages()
        assert (key_of(again), again.system_properties.delivery_attempt) == ("two", 1)


def test_calls_wait_while_time_is_pushed(running: BrokerThread) -> None:
    hours = 8 * 3_600_000

    def elapsed() -> int:
        return int(running.controller.status()["elapsed"])

    with OneGrpcClient(running.grpc_address) as client:
        before = elapsed()
        pushing = threading.Thread(target=running.controller.push_clock, args=(hours,))
        pushing.start()
        while elapsed() == before:
            time.sleep(0.001)
        client.call("QueryRoute", topic={"name": TOPIC})
        assert elapsed() >= before + hours
        pushing.join()


def test_what_is_asked_while_time_is_pushed_waits_in_the_stream(running: BrokerThread) -> None:
    with OneGrpcClient(running.grpc_address) as client:
        client.be_producer()
        client.send("paid")
        for _ in range(3):
            running.controller.push_clock(MINUTE + 2_000)
        assert [key_of(check.message) for check in client.checks()] == ["paid"] * 3


def test_who_has_no_proxy_can_order_nothing_of_it(tmp_path: Path) -> None:
    with broker(tmp_path) as running:
        assert running.grpc_address == ""
        with pytest.raises(BadOrderError, match="restart_proxy: there is no proxy; start the broker with --grpc-port"):
            running.controller.restart_proxy()


def test_a_port_that_is_taken_is_named(running: BrokerThread, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    port = int(running.grpc_address.rpartition(":")[2])
    with pytest.raises(WireError, match=f"127.0.0.1:{port}: can't listen there; choose another --grpc-port"):
        broker(other, grpc_port=port).__enter__()


def test_a_message_is_born_where_its_client_is(running: BrokerThread) -> None:
    with OneGrpcClient(running.grpc_address) as client:
        client.send("plain", NORMAL)
        node = running._service.node
        assert node is not None
        (record,) = [each for each in node.broker.message_store.records() if each.topic == TOPIC]
        (port,) = node.proxies
        assert isinstance(port, GrpcPort)
        assert [record.born_host] == [each.address for each in port.connections]
