"""Two proxies in cluster mode before one broker: what each knows, and whom the broker asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reference.simulation.virtual_clock import VirtualClock
from tests.wire.one_broker import MINUTE, broker
from tests.wire.one_producer import TOPIC
from tests.wire.proxy.one_grpc_client import (
    GROUP,
    SECONDS,
    OneGrpcClient,
    a_round,
    code_of,
    delivered,
    grpc_broker,
    key_of,
)
from wire.errors import BadOrderError, WireError
from wire.proxy.broker_route import EXPIRE_MS, REFRESH_MS, BrokerRoute
from wire.proxy.protocol.messages import ClientType, MessageType, TransactionResolution

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wire.broker_thread import BrokerThread

COMMIT, ROLLBACK = TransactionResolution.COMMIT, TransactionResolution.ROLLBACK
HEARTBEAT_MS = 20_000
EXPIRED_MS = 120_000
NOT_FOUND = "org.apache.rocketmq.proxy.common.ProxyException: cannot found transaction data"


@pytest.fixture
def running(tmp_path: Path) -> Iterator[BrokerThread]:
    with grpc_broker(tmp_path, "TRANSACTION", proxies=2, transactionCheckInterval=MINUTE) as one:
        yield one


@pytest.fixture
def clients(running: BrokerThread) -> Iterator[tuple[OneGrpcClient, OneGrpcClient]]:
    """A producer at each."""
    first, second = running.grpc_addresses
    with OneGrpcClient(first, "one") as one, OneGrpcClient(second, "two") as two:
        one.be_producer()
        two.be_producer()
        yield one, two


def producers(running: BrokerThread, topic: str = TOPIC) -> list[str]:
    """The producers of a topic that the broker knows."""
    return list(running.controller.status()["producers"].get(topic, []))


def test_each_is_a_producer_from_its_first_heartbeat_on(
    running: BrokerThread, clients: tuple[OneGrpcClient, OneGrpcClient]
) -> None:
    assert clients
    running.controller.push_clock(HEARTBEAT_MS - 1)
    assert producers(running) == []
    running.controller.push_clock(1)
    assert sorted(producers(running)) == sorted(running.grpc_addresses)


def test_an_end_at_the_other_finds_nothing(running: BrokerThread, clients: tuple[OneGrpcClient, OneGrpcClient]) -> None:
    one, two = clients
    one.send("paid")
    assert two.end("paid", COMMIT).message == NOT_FOUND
    assert delivered(running) == []
    assert code_of(one.end("paid", COMMIT)) == "OK"
    assert delivered(running) == ["paid"]


def test_checks_go_to_each_in_turn_and_who_relays_one_knows_its_half(
    running: BrokerThread, clients: tuple[OneGrpcClient, OneGrpcClient]
) -> None:
    one, two = clients
    for key in ("a", "b"):
        one.send(key)
    a_round(running)
    asked = {client.client_id: key_of(client.check().message) for client in clients}
    assert sorted(asked.values()) == ["a", "b"]
    assert [each["transaction_data"] for each in running.controller.status()["proxies"]] == [1, 1]
    assert one.end(asked["two"], COMMIT, source=2).message == NOT_FOUND
    assert code_of(two.end(asked["two"], COMMIT, source=2)) == "OK"
    assert delivered(running) == [asked["two"]]


def test_two_instances_at_two_proxies_deliver_twice(running: BrokerThread) -> None:
    """The broker has asked the other instance, and the sender commits behind that."""
    first, second = running.grpc_addresses
    with OneGrpcClient(first, "sender") as sender, OneGrpcClient(second, "other") as other:
        other.be_producer()
        running.controller.push_clock(MINUTE - 15_000)
        sender.send("late")
        running.controller.push_clock(17_000)
        assert key_of(other.check().message) == "late"
        assert code_of(other.end("late", COMMIT, source=2)) == "OK"
        assert code_of(sender.end("late", COMMIT)) == "OK"
    assert delivered(running) == ["late", "late"]


def test_a_check_before_the_first_heartbeat_is_counted_and_reaches_nobody(tmp_path: Path) -> None:
    with (
        grpc_broker(tmp_path, "TRANSACTION", proxies=1, transactionCheckInterval=10_000) as running,
        OneGrpcClient(running.grpc_address) as client,
    ):
        client.be_producer()
        client.send("early")
        running.controller.push_clock(HEARTBEAT_MS - 1)
        (transaction,) = running.controller.transactions("early")
        assert (transaction["checks"], client.checks()) == (1, [])
        running.controller.push_clock(15_000)
        assert {key_of(check.message) for check in client.checks()} == {"early"}


def test_one_that_restarts_is_no_producer_before_its_next_heartbeat(
    running: BrokerThread, clients: tuple[OneGrpcClient, OneGrpcClient]
) -> None:
    first, second = running.grpc_addresses
    one, two = clients
    one.send("forgotten")
    two.send("kept")
    running.controller.push_clock(HEARTBEAT_MS)
    running.controller.restart_proxy(0)
    assert one.heard.get(timeout=SECONDS) is None  # its stream has ended
    assert producers(running) == [second]
    with OneGrpcClient(first, "anew") as anew:
        assert code_of(anew.call("Heartbeat").status) == "UNRECOGNIZED_CLIENT_TYPE"
        anew.be_producer()
        assert anew.end("forgotten", COMMIT).message == NOT_FOUND
        assert code_of(two.end("kept", COMMIT)) == "OK"
        running.controller.push_clock(HEARTBEAT_MS - 1)
        assert producers(running) == [second]
        running.controller.push_clock(1)
        assert producers(running) == [second, first]
    assert delivered(running) == ["kept"]


def test_streams_and_transactions_outlive_the_brokers_process(
    running: BrokerThread, clients: tuple[OneGrpcClient, OneGrpcClient]
) -> None:
    one, _ = clients
    running.controller.push_clock(HEARTBEAT_MS)
    assert len(producers(running)) == 2
    one.send("paid")
    one.send("asked")
    running.controller.restart()
    assert producers(running) == []
    assert code_of(one.end("paid", COMMIT)) == "OK"
    assert delivered(running) == ["paid"]
    a_round(running)
    assert [key_of(check.message) for client in clients for check in client.checks()] == ["asked"]


def test_an_end_is_lost_behind_ok_where_the_broker_died_and_the_proxy_has_found_it_before(tmp_path: Path) -> None:
    hour = 3_600_000
    with grpc_broker(tmp_path, "TRANSACTION", proxies=2, restart_ms=hour) as running:
        first, second = running.grpc_addresses
        with OneGrpcClient(first) as one, OneGrpcClient(second) as two:
            one.be_producer()
            for client, key in ((one, "before"), (one, "lost"), (two, "unsent")):
                client.send(key)
            one.end("before", COMMIT)
            running.controller.crash()
            assert code_of(one.end("lost", COMMIT)) == "OK"
            assert one.end("lost", COMMIT).message == NOT_FOUND
            refused = two.end("unsent", COMMIT)
            assert code_of(refused) == "BAD_REQUEST"
            assert refused.message.startswith("org.apache.rocketmq.proxy.common.ProxyException: cannot find broker ")


def test_what_is_answered_while_there_is_no_broker(tmp_path: Path) -> None:
    hour = 3_600_000
    with (
        grpc_broker(tmp_path, proxies=1, restart_ms=hour) as running,
        OneGrpcClient(running.grpc_address) as client,
    ):
        client.be_consumer()
        client.send("one", MessageType.NORMAL)
        (message,) = client.messages()
        client.ack(message)
        running.controller.crash()
        no_connection = f"connect to {running.address} failed. RemotingConnectException. "
        sent = client.send("two", MessageType.NORMAL).status
        assert code_of(sent) == "INTERNAL_SERVER_ERROR"
        assert sent.message.startswith(f"{no_connection}org.apache.rocketmq.remoting.netty.NettyRemotingClient")
        received = [part.status for part in client.receive() if part.WhichOneof("content") == "status"]
        assert [code_of(status) for status in received] == ["INTERNAL_SERVER_ERROR"]
        assert received[0].message.startswith(no_connection)
        assert code_of(client.ack(message)) == "INTERNAL_SERVER_ERROR"
        assert code_of(client.call("QueryRoute", topic={"name": TOPIC}).status) == "OK"
        assert code_of(client.call("Heartbeat", group={"name": GROUP}).status) == "OK"
        assert client.be_consumer().subscription.receive_batch_size == 32


def test_receipts_of_one_hold_at_the_other(running: BrokerThread) -> None:
    running.controller.topic(TOPIC, "NORMAL")
    first, second = running.grpc_addresses
    with OneGrpcClient(first, "one") as one, OneGrpcClient(second, "two") as two:
        one.be_consumer()
        two.be_consumer()
        for key in ("a", "b"):
            two.send(key, MessageType.NORMAL)
        popped = one.messages()
        assert sorted(map(key_of, popped)) == ["a", "b"]
        assert code_of(two.ack(*popped)) == "OK"
        assert running.controller.status()["popped"] == 0


def test_what_one_renews_stays_hidden_when_the_same_client_leaves_the_other(running: BrokerThread) -> None:
    running.controller.topic(TOPIC, "NORMAL")
    first, second = running.grpc_addresses
    with OneGrpcClient(first, "same") as one:
        one.be_consumer(kind=ClientType.PUSH_CONSUMER)
        one.send("kept", MessageType.NORMAL)
        (message,) = one.messages(auto_renew=True)
        with OneGrpcClient(second, "same") as two:
            two.be_consumer(kind=ClientType.PUSH_CONSUMER)
            two.call("NotifyClientTermination", group={"name": GROUP})
        running.controller.push_clock(5 * MINUTE)
        assert code_of(one.ack(message)) == "OK"
        assert running.controller.status()["popped"] == 0


def test_a_route_leads_where_its_client_has_asked(running: BrokerThread) -> None:
    first, _ = running.grpc_addresses
    port = int(first.rpartition(":")[2])
    asked = {"scheme": 3, "addresses": [{"host": "proxies.example.org", "port": 8081}]}
    with OneGrpcClient(first) as client:
        for endpoints, hosts in ((asked, [("proxies.example.org", port)]), ({}, [])):
            route = client.call("QueryRoute", topic={"name": TOPIC}, endpoints=endpoints)
            found = route.message_queues[0].broker.endpoints
            assert [(each.host, each.port) for each in found.addresses] == hosts
        missing = client.call("QueryRoute", topic={"name": "None"}).status
        assert code_of(missing) == "TOPIC_NOT_FOUND"


def test_of_a_topic_that_is_mixed_nobody_is_asked(tmp_path: Path) -> None:
    with (
        grpc_broker(tmp_path, "MIXED", proxies=1, transactionCheckInterval=MINUTE) as running,
        OneGrpcClient(running.grpc_address) as client,
    ):
        client.be_producer()
        client.send("never-asked")
        a_round(running)
        assert (producers(running), client.checks()) == ([], [])


def test_a_proxy_whose_producers_are_gone_stays_one_and_drops_the_checks(
    running: BrokerThread, clients: tuple[OneGrpcClient, OneGrpcClient]
) -> None:
    one, two = clients
    one.send("dropped")
    running.controller.push_clock(HEARTBEAT_MS)
    for client in clients:
        client.call("NotifyClientTermination")
    a_round(running)
    (transaction,) = running.controller.transactions("dropped")
    assert (transaction["checks"], one.checks(), two.checks()) == (1, [], [])
    assert len(producers(running)) == 2
    assert running.node is not None
    assert running.node.answers.unanswered() == []


@pytest.mark.parametrize("came_together", [False, True])
def test_a_group_that_is_named_no_more_costs_the_others_their_connection(
    running: BrokerThread, *, came_together: bool
) -> None:
    """It does not where the broker has heard of both in one heartbeat, as it keeps one time for both."""
    running.controller.topic("Invoices", "TRANSACTION")
    first, _ = running.grpc_addresses
    with OneGrpcClient(first, "stays") as stays, OneGrpcClient(first, "goes") as goes:
        stays.be_producer("Invoices")
        running.controller.push_clock(HEARTBEAT_MS - 1)
        if not came_together:
            running.controller.push_clock(HEARTBEAT_MS)
        goes.be_producer()
        running.controller.push_clock(HEARTBEAT_MS)
        assert (producers(running), producers(running, "Invoices")) == ([first], [first])
        goes.call("NotifyClientTermination")
        running.controller.push_clock(EXPIRED_MS - HEARTBEAT_MS)
        assert (producers(running), producers(running, "Invoices")) == ([first], [first])
        running.controller.push_clock(10_001)
        left = [first] if came_together else []
        assert (producers(running), producers(running, "Invoices")) == (left, left)
        running.controller.push_clock(HEARTBEAT_MS)
        assert (producers(running), producers(running, "Invoices")) == (left, [first])


def test_faults_befall_ends_and_checks_of_both(
    running: BrokerThread, clients: tuple[OneGrpcClient, OneGrpcClient]
) -> None:
    one, two = clients
    running.controller.fault("lose_end", key="lost")
    running.controller.fault("double_check", key="lost")
    two.send("lost")
    assert code_of(two.end("lost", COMMIT)) == "OK"
    a_round(running)
    assert [key_of(check.message) for check in [*one.checks(), *two.checks()]] == ["lost", "lost"]
    assert running.controller.status()["befell"] == {"lose_end": 1, "double_check": 1}


def test_an_order_names_one_of_them(running: BrokerThread, clients: tuple[OneGrpcClient, OneGrpcClient]) -> None:
    for client, key in zip(clients, ("one", "two"), strict=True):
        client.send(key)
    assert running.controller.order("drop_transaction_data", proxy=1)["dropped"] == 1
    assert [code_of(client.end(client.client_id, COMMIT)) for client in clients] == ["OK", "INTERNAL_SERVER_ERROR"]
    with pytest.raises(BadOrderError, match=r"restart_proxy: proxy is 2, expected 0 to 1"):
        running.controller.order("restart_proxy", proxy=2)


def test_an_order_to_a_second_one_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with grpc_broker(tmp_path) as running, pytest.raises(BadOrderError, match="there is only proxy 0; start the"):
        running.controller.drop_transaction_data(1)


@pytest.mark.parametrize(
    ("grpc_port", "said"),
    [
        (None, "--proxies 2: they serve gRPC clients; give --grpc-port, too"),
        (65_535, "--grpc-port 65535: the last proxy would have the port 65536; 65535 is the last"),
    ],
)
def test_proxies_that_can_not_be(tmp_path: Path, grpc_port: int | None, said: str) -> None:
    with pytest.raises(WireError, match=said):
        broker(tmp_path, proxies=2, grpc_port=grpc_port).__enter__()


def test_a_route_that_was_not_found_is_kept_as_long_as_one_that_was() -> None:
    clock, there = VirtualClock(), [False]
    route = BrokerRoute(clock, lambda: there[0])
    assert not route.is_known()
    there[0] = True
    clock.advance(REFRESH_MS - 1)
    assert not route.is_known()
    clock.advance(1)
    assert [route.is_known(), route.is_known()] == [False, True]  # who comes too late gets what was known
    there[0] = False
    clock.advance(EXPIRE_MS)
    assert not route.is_known()
