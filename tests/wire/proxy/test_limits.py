"""What the proxy refuses, with its code and sentence: names, sizes, types, times, and calls that there are not."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import grpc
import pytest

from tests.wire.one_broker import broker
from tests.wire.one_producer import TOPIC
from tests.wire.proxy.one_grpc_client import GROUP, OneGrpcClient, code_of, grpc_broker
from wire.errors import WireError
from wire.proxy.protocol.messages import SERVICE, ClientType, MessageType

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from wire.broker_thread import BrokerThread

NORMAL, HALF = MessageType.NORMAL, MessageType.TRANSACTION
MEGABYTE = 1 << 20


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerThread]:
    with grpc_broker(tmp_path_factory.mktemp("broker")) as one:
        yield one


@pytest.fixture
def client(running: BrokerThread) -> Iterator[OneGrpcClient]:
    with OneGrpcClient(running.grpc_address) as one:
        yield one


@pytest.mark.parametrize(
    ("changed", "code", "sentence"),
    [
        ({"body": b""}, "MESSAGE_BODY_EMPTY", "message body cannot be empty"),
        (
            {"body": b"x" * (4 * MEGABYTE + 1)},
            "MESSAGE_BODY_TOO_LARGE",
            "message body cannot exceed the max 4194304",
        ),
        ({"topic": {"name": ""}}, "ILLEGAL_TOPIC", "The specified topic is blank"),
        ({"topic": {"name": "a b"}}, "ILLEGAL_TOPIC", "contains illegal characters"),
        ({"topic": {"name": "x" * 128}}, "ILLEGAL_TOPIC", "is longer than topic max length 127."),
        ({"topic": {"name": "RMQ_SYS_TRANS_HALF_TOPIC"}}, "ILLEGAL_TOPIC", "cannot access system topic"),
        ({"topic": {"name": "None"}}, "MESSAGE_PROPERTY_CONFLICT_WITH_TYPE", "the expected type is UNSPECIFIED"),
        (
            {"user_properties": {"TRAN_MSG": "x"}},
            "ILLEGAL_MESSAGE_PROPERTY_KEY",
            "property is used by system: TRAN_MSG",
        ),
        ({"user_properties": {"a\1": "x"}}, "ILLEGAL_MESSAGE_PROPERTY_KEY", "the key of property cannot contain"),
        ({"user_properties": {"a": "\2"}}, "ILLEGAL_MESSAGE_PROPERTY_KEY", "the value of property cannot contain"),
        ({"user_properties": {f"k{n}": "" for n in range(129)}}, "MESSAGE_PROPERTIES_TOO_LARGE", "max is 128"),
        ({"user_properties": {"k": "x" * 16_384}}, "MESSAGE_PROPERTIES_TOO_LARGE", "max is 16384"),
        ({"system": {"tag": " "}}, "ILLEGAL_MESSAGE_TAG", "sequence of whitespace"),
        ({"system": {"tag": "a|b"}}, "ILLEGAL_MESSAGE_TAG", "tag cannot contain '|'"),
        ({"system": {"keys": [" "]}}, "ILLEGAL_MESSAGE_KEY", "key cannot be the char sequence of whitespace"),
        ({"system": {"message_id": ""}}, "ILLEGAL_MESSAGE_ID", "message id cannot be empty"),
        ({"system": {"message_group": "g" * 64}}, "ILLEGAL_MESSAGE_GROUP", "message group exceed the max size 64"),
        ({"system": {"delivery_timestamp": {"seconds": 99_999_999_999}}}, "ILLEGAL_DELIVERY_TIME", "max is 86400000"),
        (
            {"system": {"message_type": HALF, "orphaned_transaction_recovery_duration": {"seconds": 3_601}}},
            "BAD_REQUEST",
            "the max transaction recovery time of message is too large, max is 3600",
        ),
    ],
)
def test_a_message_that_may_not_be_sent(
    client: OneGrpcClient, changed: dict[str, Any], code: str, sentence: str
) -> None:
    message = client.message("one", NORMAL)
    message["system_properties"] |= changed.pop("system", {})
    answer = client.call("SendMessage", messages=[message | changed])
    assert (code_of(answer.status), list(answer.entries)) == (code, [])
    assert sentence in answer.status.message


def test_a_topic_takes_messages_of_its_type_alone(running: BrokerThread, client: OneGrpcClient) -> None:
    running.controller.topic("Plain")
    running.controller.topic("Paid", "TRANSACTION")
    refused = client.send("one", HALF, "Plain")
    assert code_of(refused.status) == "MESSAGE_PROPERTY_CONFLICT_WITH_TYPE"
    assert "the expected type is NORMAL, but actual type is TRANSACTION" in refused.status.message
    assert [code_of(client.send(key, kind, topic).status) for key, kind, topic in (
        ("one", NORMAL, "Plain"), ("two", HALF, "Paid"), ("three", NORMAL, "Paid"),
    )] == ["OK", "OK", "MESSAGE_PROPERTY_CONFLICT_WITH_TYPE"]  # fmt: skip


def test_a_route_names_this_port_and_what_a_topic_takes(running: BrokerThread, client: OneGrpcClient) -> None:
    route = client.call("QueryRoute", topic={"name": TOPIC})
    host, port = running.grpc_address.split(":")
    address = route.message_queues[0].broker.endpoints.addresses[0]
    assert (len(route.message_queues), address.host, address.port) == (4, host, int(port))
    assert [MessageType(each).name for each in route.message_queues[0].accept_message_types] == [
        "NORMAL", "FIFO", "DELAY", "TRANSACTION",
    ]  # fmt: skip
    missing = client.call("QueryRoute", topic={"name": "None"}).status
    assert code_of(missing) == "TOPIC_NOT_FOUND"
    assert missing.message.startswith(
        "CODE: 17  DESC: No topic route info in name server for the topic: None\nFor more"
    )
    (one,) = client.call("QueryAssignment", topic={"name": TOPIC}, group={"name": GROUP}).assignments
    assert one.message_queue.id == -1


def test_a_topic_that_clients_ask_for_and_nobody_made_is_said_once(tmp_path: Path) -> None:
    log: list[str] = []
    with grpc_broker(tmp_path, log=log) as running, OneGrpcClient(running.grpc_address) as client:
        for name in ("Forgotten", TOPIC, "Forgotten"):
            client.call("QueryRoute", topic={"name": name})
    (said,) = [line for line in log if "asks for the topic" in line]
    assert "'Forgotten', which is not there" in said
    assert "topic name=Forgotten type=TRANSACTION" in said


def test_settings_come_back_with_what_the_proxy_decides(client: OneGrpcClient) -> None:
    own = client.be_producer()
    assert (own.publishing.max_body_size, own.publishing.validate_message_type) == (4 << 20, True)
    backoff = own.backoff_policy
    assert (backoff.max_attempts, backoff.exponential_backoff.max.ToMilliseconds()) == (3, 1_000)
    own = client.be_consumer()
    assert (own.subscription.receive_batch_size, own.subscription.long_polling_timeout.seconds) == (32, 20)
    assert (own.backoff_policy.max_attempts, len(own.backoff_policy.customized_backoff.next)) == (17, 18)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"invisible_duration": {"seconds": 9}}, "ILLEGAL_INVISIBLE_TIME"),
        ({"invisible_duration": {"seconds": 43_201}}, "ILLEGAL_INVISIBLE_TIME"),
        ({"group": {"name": "a b"}}, "ILLEGAL_CONSUMER_GROUP"),
        ({"group": {"name": "CID_RMQ_SYS_TRANS"}}, "ILLEGAL_CONSUMER_GROUP"),
        ({"group": {"name": "g" * 121}}, "ILLEGAL_CONSUMER_GROUP"),
        ({"message_queue": {"topic": {"name": "None"}}}, "INTERNAL_SERVER_ERROR"),
        ({"filter_expression": {"type": 2, "expression": "a > 1"}}, "NOT_IMPLEMENTED"),
        ({"seconds": 4.9}, "ILLEGAL_POLLING_TIME"),
    ],
)
def test_a_pop_that_may_not_be(client: OneGrpcClient, fields: dict[str, Any], code: str) -> None:
    client.be_consumer()
    parts = client.receive(**fields)
    assert [part.WhichOneof("content") for part in parts] == ["status", "delivery_timestamp"]
    assert code_of(parts[0].status) == code
    client.end_stream()


def test_a_client_that_nobody_knows(client: OneGrpcClient) -> None:
    client.client_id = "stranger"
    for name in ("Heartbeat", "NotifyClientTermination"):
        assert code_of(client.call(name).status) == "UNRECOGNIZED_CLIENT_TYPE"
    assert client.receive()[0].status.message == "cannot find client settings for this client"
    client.client_id = " "
    assert code_of(client.call("Heartbeat").status) == "CLIENT_ID_REQUIRED"


def test_a_lite_consumer_is_none_that_is_served(client: OneGrpcClient) -> None:
    assert client.be_consumer(kind=ClientType.LITE_PUSH_CONSUMER) is None
    while not client.ended:
        time.sleep(0.01)
    assert client.ended == "INVALID_ARGUMENT: process client telemetryCommand failed. LITE_PUSH_CONSUMER"


@pytest.mark.parametrize("name", ["PullMessage", "QueryOffset", "GetOffset", "UpdateOffset", "RecallMessage"])
def test_what_is_not_done_is_said_by_its_name(client: OneGrpcClient, name: str) -> None:
    with pytest.raises(grpc.RpcError) as refused:
        client.raw(f"/{SERVICE}/{name}", b"")
    assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED
    assert refused.value.details() == f"Method {SERVICE}/{name} is unimplemented"


def test_a_release_without_a_proxy_has_no_such_port(tmp_path: Path) -> None:
    with pytest.raises(WireError, match=r"--grpc-port with 4\.9\.7: RocketMQ's proxy came"):
        broker(tmp_path, "4.9.7", grpc_port=0).__enter__()


def test_without_protobuf_remoting_clients_are_served_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wire.proxy.port", None)
    with broker(tmp_path) as running:
        assert running.address
    with pytest.raises(WireError, match=r"wire\.proxy\.port is not installed; pip install .halfcheck\[broker\]"):
        broker(tmp_path, grpc_port=0).__enter__()
