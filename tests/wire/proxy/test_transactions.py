"""Transactions of a gRPC client: its ENDs, the checks that it gets, and what the proxy knows of both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.wire.one_broker import MINUTE
from tests.wire.one_producer import unique_key
from tests.wire.proxy.one_grpc_client import OneGrpcClient, a_round, code_of, delivered, grpc_broker, key_of
from wire.proxy.protocol.messages import MessageType, TransactionResolution

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wire.broker_thread import BrokerThread

COMMIT, ROLLBACK = TransactionResolution.COMMIT, TransactionResolution.ROLLBACK


@pytest.fixture
def running(tmp_path: Path) -> Iterator[BrokerThread]:
    with grpc_broker(tmp_path, transactionCheckInterval=MINUTE) as one:
        yield one


@pytest.fixture
def client(running: BrokerThread) -> Iterator[OneGrpcClient]:
    with OneGrpcClient(running.grpc_address) as one:
        one.be_producer()
        yield one


def test_a_commit_is_delivered_and_a_rollback_is_not(running: BrokerThread, client: OneGrpcClient) -> None:
    sent = client.send("paid")
    assert (sent.transaction_id, sent.offset) == (unique_key("paid"), 0)
    client.send("refused")
    assert [code_of(client.end("paid", COMMIT)), code_of(client.end("refused", ROLLBACK))] == ["OK", "OK"]
    assert delivered(running) == ["paid"]
    a_round(running)
    assert client.checks() == []


def test_each_message_has_its_id_as_that_of_a_transaction(client: OneGrpcClient) -> None:
    """So a real proxy answers a plain one, too, as its broker does (``SendMessageProcessor``)."""
    assert client.send("plain", MessageType.NORMAL).transaction_id == unique_key("plain")


def test_a_check_goes_to_a_producer_of_the_topic_and_its_answer_counts(
    running: BrokerThread, client: OneGrpcClient
) -> None:
    client.send("asked")
    a_round(running)
    check = client.check()
    assert (check.transaction_id, key_of(check.message), check.message.body) == (unique_key("asked"), "asked", b"asked")
    assert check.message.topic.name == "Orders"
    assert code_of(client.end("asked", TransactionResolution.TRANSACTION_RESOLUTION_UNSPECIFIED, source=2)) == "OK"
    assert delivered(running) == []
    a_round(running)
    client.check()
    client.end("asked", COMMIT, source=2)
    assert delivered(running) == ["asked"]


def test_any_producer_of_the_topic_is_asked(running: BrokerThread, client: OneGrpcClient) -> None:
    client.send("asked")
    client.end_stream()
    with OneGrpcClient(running.grpc_address, "other") as other:
        other.be_producer()
        a_round(running)
        assert key_of(other.check().message) == "asked"


def test_a_lost_end_is_answered_ok_and_its_half_is_checked(running: BrokerThread, client: OneGrpcClient) -> None:
    running.controller.fault("lose_end", key="lost")
    client.send("lost")
    assert code_of(client.end("lost", COMMIT)) == "OK"
    assert delivered(running) == []
    a_round(running)
    assert key_of(client.check().message) == "lost"
    assert running.controller.status()["befell"] == {"lose_end": 1}


def test_a_doubled_end_is_carried_out_twice_and_a_late_one_later(running: BrokerThread, client: OneGrpcClient) -> None:
    running.controller.fault("double_end", key="twice")
    running.controller.fault("delay_end", key="late", delay_ms=5_000)
    for key in ("twice", "late"):
        client.send(key)
        assert code_of(client.end(key, COMMIT)) == "OK"
    assert delivered(running) == ["twice", "twice"]
    running.controller.push_clock(5_001)
    assert sorted(delivered(running)) == ["late", "twice", "twice"]


def test_faults_befall_checks_on_their_way_to_a_stream(running: BrokerThread, client: OneGrpcClient) -> None:
    running.controller.fault("double_check", key="twice")
    running.controller.fault("lose_check", key="never")
    client.send("twice")
    client.send("never")
    a_round(running)
    assert [key_of(check.message) for check in client.checks()] == ["twice", "twice"]


def test_the_first_end_takes_the_entry_and_the_second_finds_none(running: BrokerThread, client: OneGrpcClient) -> None:
    client.send("once")
    assert running.controller.status()["proxies"][0]["transaction_data"] == 1
    assert code_of(client.end("once", COMMIT)) == "OK"
    second = client.end("once", COMMIT)
    assert code_of(second) == "INTERNAL_SERVER_ERROR"
    assert second.message == "org.apache.rocketmq.proxy.common.ProxyException: cannot found transaction data"
    assert running.controller.status()["proxies"][0]["transaction_data"] == 0


@pytest.mark.parametrize(("late_ms", "code"), [(30_000, "OK"), (30_001, "INTERNAL_SERVER_ERROR")])
def test_an_entry_lives_for_half_a_minute_of_the_brokers_time(
    running: BrokerThread, client: OneGrpcClient, late_ms: int, code: str
) -> None:
    client.send("slow")
    running.controller.push_clock(late_ms)
    assert code_of(client.end("slow", COMMIT)) == code


def test_a_relayed_check_adds_an_entry_so_that_a_late_end_is_carried_out(
    running: BrokerThread, client: OneGrpcClient
) -> None:
    client.send("slow")
    a_round(running)
    client.check()
    assert code_of(client.end("slow", COMMIT)) == "OK"
    assert delivered(running) == ["slow"]


def test_what_is_known_of_transactions_can_be_dropped(running: BrokerThread, client: OneGrpcClient) -> None:
    client.send("forgotten")
    assert running.controller.order("drop_transaction_data")["dropped"] == 1
    assert code_of(client.end("forgotten", COMMIT)) == "INTERNAL_SERVER_ERROR"
    assert delivered(running) == []


def test_an_end_for_another_topic_finds_nothing(running: BrokerThread, client: OneGrpcClient) -> None:
    running.controller.topic("Invoices", "TRANSACTION")
    client.send("paid")
    assert code_of(client.end("paid", COMMIT, topic="Invoices")) == "INTERNAL_SERVER_ERROR"
    assert code_of(client.end("paid", COMMIT)) == "OK"
