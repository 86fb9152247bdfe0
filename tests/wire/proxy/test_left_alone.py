"""Streams and requests that are begun and left, many of them, large ones, and receipts that are none."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from benchmarks.wire.processes import open_files, own_memory, served
from real_brokers.proxy.topics import BrokerOperator
from tests.wire.one_producer import TOPIC
from tests.wire.proxy.one_grpc_client import GROUP, SECONDS, OneGrpcClient, code_of, grpc_broker, key_of
from tests.wire.proxy.one_http2_client import OneHttp2Client
from wire.client.channel import Address
from wire.proxy import grpc_client_channel, port, server_call
from wire.proxy.http2.errors import Http2Code
from wire.proxy.http2.frames import PREFACE, FrameKind, Http2Setting, frame, settings_frame
from wire.proxy.protocol.messages import (
    CALLS,
    SERVICE,
    ClientType,
    MessageType,
    Settings,
    TelemetryCommand,
    TransactionResolution,
)
from wire.proxy.server_call import GrpcStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from wire.broker_thread import BrokerThread

NORMAL = MessageType.NORMAL
TELEMETRY = f"/{SERVICE}/Telemetry"
SEND = f"/{SERVICE}/SendMessage"
MEGABYTE = 1 << 20
A_STREAM_BYTES = 6_000
"""More than an open stream with its settings takes of the memory."""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerThread]:
    with grpc_broker(tmp_path_factory.mktemp("broker")) as one:
        yield one


@pytest.fixture
def client(running: BrokerThread) -> Iterator[OneGrpcClient]:
    with OneGrpcClient(running.grpc_address) as one:
        one.be_consumer()
        yield one


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


def settings(number: int) -> bytes:
    """The first message of a producer's telemetry."""
    publishing = {"topics": [{"name": TOPIC}]}
    command = TelemetryCommand(settings=Settings(client_type=ClientType.PRODUCER, publishing=publishing))
    raw = bytes(command.SerializeToString())
    return frame(FrameKind.DATA, 0, number, b"\0" + len(raw).to_bytes(4) + raw)


def streams(client: OneHttp2Client, count: int) -> None:
    """Open telemetry streams, each of a client of its own with its settings, and read nothing."""
    for number in range(count):
        stream_id = client.begin({":path": TELEMETRY, "x-mq-client-id": f"{client.socket.getsockname()[1]}-{number}"})
        client.socket.sendall(settings(stream_id))


def test_half_streams_and_half_frames_hold_up_nobody(running: BrokerThread, client: OneGrpcClient) -> None:
    with OneHttp2Client(running.grpc_address) as left, OneHttp2Client(running.grpc_address, b"PRI *") as silent:
        left.begin({":path": TELEMETRY})
        left.call(b"\0\0", {":path": SEND}, 0)
        left.begin(flags=0)  # and no CONTINUATION
        client.send("one", NORMAL)
        (message,) = client.messages()
        assert (key_of(message), code_of(client.ack(message))) == ("one", "OK")
        assert silent.next_stream == 1


def test_a_request_that_does_not_end_and_a_connection_without_calls_end_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(port, "MOST_IDLE_MS", 300)
    with (
        grpc_broker(tmp_path) as running,
        OneHttp2Client(running.grpc_address) as half,
        OneHttp2Client(running.grpc_address) as idle,
        OneHttp2Client(running.grpc_address, b"") as silent,
        OneHttp2Client(running.grpc_address) as standing,
    ):
        standing.begin({":path": TELEMETRY})
        ended = half.ended(half.call(b"\0\0\0\0\x09", {":path": SEND}, 0))
        assert GrpcStatus(ended.code) is GrpcStatus.DEADLINE_EXCEEDED
        assert ended.message == "SendMessage: the request did not come to its end within 300 ms"
        goodbye = idle.goodbye()
        assert (goodbye.code, goodbye.message) == (Http2Code.NO_ERROR, "")
        assert silent.socket.recv(1) == b""
        time.sleep(0.4)
        standing.socket.sendall(settings(1))
        assert any(kind == FrameKind.DATA for kind, *_ in standing.frames())


def test_more_streams_than_a_connection_may_have_are_refused(
    running: BrokerThread, client: OneGrpcClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(port, "MOST_STREAMS", 3)
    with OneHttp2Client(running.grpc_address) as greedy:
        opened = [greedy.begin({":path": TELEMETRY}) for _ in range(4)]
        ended = greedy.ended(opened[-1])
        assert GrpcStatus(ended.code) is GrpcStatus.RESOURCE_EXHAUSTED
        assert ended.message == "3 calls of this connection are open; end some, or open another connection"
    assert code_of(client.call("Heartbeat", group={"name": GROUP}).status) == "OK"


def test_an_answer_waits_for_the_windows_of_its_client(running: BrokerThread) -> None:
    question = CALLS["QueryRoute"].request(topic={"name": TOPIC}).SerializeToString()
    small = PREFACE + settings_frame({Http2Setting.INITIAL_WINDOW_SIZE: 7})
    with OneHttp2Client(running.grpc_address, small) as client:
        stream_id = client.call(b"\0" + len(question).to_bytes(4) + question)
        frames = client.frames()
        pieces = [next(content for kind, _, _, content in frames if kind == FrameKind.DATA)]
        client.socket.sendall(frame(FrameKind.WINDOW_UPDATE, 0, stream_id, (3).to_bytes(4)))
        pieces.append(next(content for kind, _, _, content in frames if kind == FrameKind.DATA))
        client.socket.sendall(settings_frame({Http2Setting.INITIAL_WINDOW_SIZE: 1_000_000}))
        ended = client.ended(stream_id)
    assert [len(piece) for piece in pieces] == [7, 3]
    answer = CALLS["QueryRoute"].response.FromString((b"".join(pieces) + ended.data)[5:])
    assert (ended.code, code_of(answer.status), len(answer.message_queues)) == (0, "OK", 4)


def test_a_client_that_reads_no_commands_loses_its_stream(
    running: BrokerThread, client: OneGrpcClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grpc_client_channel, "MOST_WAITING_BYTES", 300)
    with OneHttp2Client(running.grpc_address, PREFACE + settings_frame({Http2Setting.INITIAL_WINDOW_SIZE: 0})) as deaf:
        stream_id = deaf.begin({":path": TELEMETRY, "x-mq-client-id": "deaf"})
        node = running._service.node
        assert node is not None
        deaf.socket.sendall(settings(stream_id))
        wait_until(lambda: "deaf" in node.connections)
        client.send("unanswered")
        for _ in range(4):
            running.controller.push_clock(60_000)
        wait_until(lambda: "deaf" not in node.connections)
        deaf.socket.sendall(settings_frame({Http2Setting.INITIAL_WINDOW_SIZE: 100_000}))
        ended = deaf.ended(stream_id)
    assert GrpcStatus(ended.code) is GrpcStatus.RESOURCE_EXHAUSTED
    assert ended.message == "more than 300 bytes of commands wait to be read"
    client.be_producer()
    running.controller.push_clock(60_000)
    assert key_of(client.check().message) == "unanswered"
    assert code_of(client.end("unanswered", TransactionResolution.ROLLBACK)) == "OK"


def test_many_half_messages_are_more_than_a_connection_may_hold(
    running: BrokerThread, client: OneGrpcClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_call, "MOST_REQUEST_BYTES", 100_000)
    piece = b"\0" + (60_000).to_bytes(4) + bytes(16_000)
    with OneHttp2Client(running.grpc_address) as greedy:
        calls = [greedy.call(piece, {":path": SEND}, 0) for _ in range(4)]
        ended = greedy.ended(calls[-1])
        assert GrpcStatus(ended.code) is GrpcStatus.RESOURCE_EXHAUSTED
        assert ended.message.startswith("100000 bytes at most are taken of one connection at once")
        node = running._service.node
        assert node is not None
        (proxy,) = node.proxies
        assert isinstance(proxy, port.GrpcPort)
        (held,) = [each.held for each in proxy.connections if each.held]
        assert held == 3 * len(piece)
    wait_until(lambda: len(proxy.connections) == 1)
    assert code_of(client.call("Heartbeat", group={"name": GROUP}).status) == "OK"


def test_a_batch_of_large_messages_is_taken_and_one_that_is_too_large_is_not(client: OneGrpcClient) -> None:
    large = [client.message(key, NORMAL) | {"body": bytes(3 * MEGABYTE)} for key in ("one", "two")]
    entries = client.call("SendMessage", messages=large).entries
    assert [code_of(entry.status) for entry in entries] == ["OK", "OK"]
    large[1]["body"] += bytes(MEGABYTE + 1)
    answer = client.call("SendMessage", messages=large)
    assert (code_of(answer.status), list(answer.entries)) == ("MESSAGE_BODY_TOO_LARGE", [])
    found = client.messages()
    assert [(key_of(each), len(each.body)) for each in found] == [("one", 3 * MEGABYTE), ("two", 3 * MEGABYTE)]
    assert code_of(client.ack(*found)) == "OK"


def test_a_receipt_that_is_none_does_nothing_and_its_message_is_not_lost(
    running: BrokerThread, client: OneGrpcClient
) -> None:
    running.controller.topic("Other", "MIXED")
    client.send("kept", NORMAL)
    (message,) = client.messages(invisible_s=10)
    true = message.system_properties.receipt_handle
    words = true.split(" ")
    forged = {
        "": "it has 1 parts, expected 9",
        "x" * 5_000: "it has 0 parts, expected 9",
        " ".join(["x", *words[1:]]): "expected whole numbers but for the topic's type and the broker",
        " ".join(["9" * 30, *words[1:]]): "expected whole numbers",
        " ".join([*words[:7], "77", words[8]]): f"was not given to group {GROUP}",
        " ".join([words[0], "1000", *words[2:]]): "receipt handle is expired",
    }
    cases = [(TOPIC, GROUP, receipt, sentence) for receipt, sentence in forged.items()]
    cases += [(TOPIC, "others", true, "not given to group others"), ("Other", GROUP, true, "not given for topic Other")]
    for topic, group, receipt, sentence in cases:
        of = {"topic": {"name": topic}, "group": {"name": group}}
        entry = {"message_id": message.system_properties.message_id, "receipt_handle": receipt}
        statuses = [
            client.call("AckMessage", entries=[entry], **of).entries[0].status,
            client.call(
                "ChangeInvisibleDuration", invisible_duration={"seconds": 60}, receipt_handle=receipt, **of
            ).status,
            client.call("ForwardMessageToDeadLetterQueue", receipt_handle=receipt, **of).status,
        ]
        assert [code_of(status) for status in statuses] == ["INVALID_RECEIPT_HANDLE"] * 3
        assert all(sentence in status.message for status in statuses), statuses
    assert running.controller.status()["popped"] == 1
    running.controller.push_clock(10_001)
    (again,) = client.messages()
    assert (key_of(again), again.system_properties.delivery_attempt) == ("kept", 2)
    assert code_of(client.ack(again)) == "OK"


@pytest.mark.parametrize(("connections", "each"), [(2, 250), pytest.param(4, 2_500, marks=pytest.mark.sweep)])
def test_streams_that_are_opened_and_left_take_little_and_leave_nothing(
    tmp_path: Path, connections: int, each: int
) -> None:
    with served("5.5.0", tmp_path, with_grpc=True) as broker, OneGrpcClient(broker.grpc_address) as client:
        BrokerOperator(Address.of(broker.address)).make_topic(TOPIC, "MIXED")
        client.be_consumer()
        client.send("before", NORMAL)
        files, before = open_files(broker.pid, broker.store)[1], own_memory(broker.pid)
        opened = [OneHttp2Client(broker.grpc_address) for _ in range(connections)]
        for one in opened:
            streams(one, each)
        operator = BrokerOperator(Address.of(broker.address))
        wait_until(lambda: len(operator.producers(TOPIC)) == connections * each)
        assert own_memory(broker.pid) - before < connections * each * A_STREAM_BYTES + 2 * MEGABYTE
        client.send("beside", NORMAL)
        assert sorted(key_of(message) for message in client.messages()) == ["before", "beside"]
        for one in opened:
            one.socket.close()
        wait_until(lambda: operator.producers(TOPIC) == [])
        wait_until(lambda: open_files(broker.pid, broker.store)[1] == files)
        client.send("behind", NORMAL)
        assert [key_of(message) for message in client.messages()] == ["behind"]
