"""Bytes and frames that are none, and calls that are none: each ends with a sentence, and nobody else notices."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING

import pytest

from tests.wire.one_producer import TOPIC
from tests.wire.proxy.one_grpc_client import OneGrpcClient, code_of, grpc_broker, key_of
from tests.wire.proxy.one_http2_client import SECONDS, OneHttp2Client
from wire.proxy.http2.errors import Http2Code
from wire.proxy.http2.frames import (
    END_HEADERS,
    END_STREAM,
    HEAD,
    PADDED,
    PREFACE,
    FrameKind,
    Http2Setting,
    frame,
    settings_frame,
)  # fmt: skip
from wire.proxy.http2.header_blocks import header_block
from wire.proxy.protocol.messages import CALLS, SERVICE, MessageType, Resource
from wire.proxy.server_call import GrpcStatus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wire.broker_thread import BrokerThread

NORMAL = MessageType.NORMAL
QUESTION = CALLS["QueryRoute"].request(topic=Resource(name=TOPIC)).SerializeToString()
LOG: list[str] = []


def message_of(raw: bytes, is_compressed: int = 0) -> bytes:
    return bytes((is_compressed,)) + len(raw).to_bytes(4) + raw


def the_line() -> str:
    """The one line of the log, when it has come."""
    end = time.monotonic() + SECONDS
    while not LOG and time.monotonic() < end:
        time.sleep(0.001)
    (line,) = LOG
    return line


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerThread]:
    with grpc_broker(tmp_path_factory.mktemp("broker"), log=LOG) as one:
        yield one


@pytest.fixture
def others(running: BrokerThread) -> Iterator[None]:
    """A client that has a message before, and gets it behind what is tested, over the same connection."""
    LOG.clear()
    with OneGrpcClient(running.grpc_address, "other") as other:
        other.be_consumer()
        other.send("one", NORMAL)
        yield
        (message,) = other.messages()
        assert key_of(message) == "one"
        assert code_of(other.ack(message)) == "OK"


BAD_FRAMES = {
    "a frame that is too large": (HEAD.pack(1, 0, FrameKind.DATA, 0, 1), 6, "a frame of 65536 bytes, 16384 at most"),
    "data of no call": (frame(FrameKind.DATA, 0, 1, b"x"), 1, "a DATA frame in stream 1, which has not begun"),
    "an even number": (frame(FrameKind.HEADERS, END_HEADERS, 2), 1, "HEADERS in stream 2, an odd number was expected"),
    "the rest of no block": (frame(FrameKind.CONTINUATION, END_HEADERS, 1, b"x"), 1, "a CONTINUATION of no header"),
    "a frame within a block": (
        frame(FrameKind.HEADERS, 0, 1) + frame(FrameKind.PING, 0, 0, bytes(8)), 1, "a frame of kind 6 within a header",
    ),
    "a block without end": (
        frame(FrameKind.HEADERS, 0, 1) + frame(FrameKind.CONTINUATION, 0, 1, bytes(16_384)) * 5, 11,
        "a header block of more than 65536 bytes",
    ),
    "empty parts of a block": (
        frame(FrameKind.HEADERS, 0, 1) + frame(FrameKind.CONTINUATION, 0, 1), 11, "or an empty part of one",
    ),
    "a header of no table": (
        frame(FrameKind.HEADERS, END_HEADERS, 1, b"\xff\x7f"), 9, "block that can't be read: Invalid table index 254",
    ),
    "a block that is cut": (frame(FrameKind.HEADERS, END_HEADERS, 1, b"\0\x05ab"), 9, "that can't be read: Truncated"),
    "a large number": (frame(FrameKind.HEADERS, END_HEADERS, 1, b"\xff" * 19), 9, "be read: Variable integer"),
    "a large table": (frame(FrameKind.HEADERS, END_HEADERS, 1, b"\x3f\xff\x7f"), 9, "Encoder exceeded max allowable"),
    "a bad Huffman code": (
        frame(FrameKind.HEADERS, END_HEADERS, 1, b"\0\x84\xff\xff\xff\xff"), 9, "that can't be read: Invalid Huffman",
    ),
    "a small block of large headers": (
        frame(FrameKind.HEADERS, END_HEADERS, 1, b"\x40\1a\x7f\xa1\x1e" + b"x" * 4_000 + b"\xbe" * 16), 11,
        "headers of more than 65536 bytes",
    ),
    "more padding than frame": (frame(FrameKind.HEADERS, PADDED, 1, b"\xff"), 1, "that is shorter than its padding"),
    "a stream of the server's": (frame(FrameKind.PUSH_PROMISE, 0, 1), 1, "a PUSH_PROMISE in stream 1"),
    "a short PING": (frame(FrameKind.PING, 0, 0, b"x"), 6, "a PING frame of 1 bytes, 8 were expected"),
    "half a setting": (frame(FrameKind.SETTINGS, 0, 0, b"x"), 6, "a SETTINGS frame of 1 bytes, a multiple of 6"),
    "a window beyond all": (settings_frame({Http2Setting.INITIAL_WINDOW_SIZE: 1 << 31}), 3, "a window of 2147483648"),
    "a window that grows by nothing": (frame(FrameKind.WINDOW_UPDATE, 0, 0, bytes(4)), 3, "to grow by 0 bytes"),
    "a window that overflows": (frame(FrameKind.WINDOW_UPDATE, 0, 0, b"\x7f\xff\xff\xff"), 3, "to grow by 2147483647"),
    "a window of no stream": (frame(FrameKind.WINDOW_UPDATE, 0, 1, b"\0\0\0\1"), 1, "a WINDOW_UPDATE frame in stream"),
    "half a window": (frame(FrameKind.WINDOW_UPDATE, 0, 0, b"x"), 6, "a WINDOW_UPDATE frame of 1 bytes, 4 were"),
    "the end of no stream": (frame(FrameKind.RST_STREAM, 0, 9, bytes(4)), 1, "a RST_STREAM frame in stream 9"),
    "random bytes": (bytes(range(1, 200)), 6, "a frame of 66051 bytes"),
}  # fmt: skip


@pytest.mark.usefixtures("others")
@pytest.mark.parametrize("what", BAD_FRAMES)
def test_bad_frames_end_their_connection_with_a_sentence(running: BrokerThread, what: str) -> None:
    data, code, sentence = BAD_FRAMES[what]
    with OneHttp2Client(running.grpc_address) as client:
        client.socket.sendall(data)
        ended = client.goodbye()
    assert (Http2Code(ended.code), sentence in ended.message) == (Http2Code(code), True), ended
    assert the_line().endswith(f"connection closed: {ended.message}")


BAD_CALLS = {
    "a path of no service": (b"", {":path": "/no.such.Service/Call"}, 12, "Method not found: no.such.Service/Call"),
    "a path of no method": (b"", {":path": f"/{SERVICE}/PullMessage"}, 12, "/PullMessage is unimplemented"),
    "another content": (b"", {"content-type": "text/html"}, 13, "'text/html', application/grpc was expected"),
    "many headers": (b"", {f"h{number}": "x" * 50 for number in range(150)}, 8, "the headers have more than 8192"),
    "a large header": (b"", {"x-mq-client-id": "x" * 9_000}, 8, "the headers have more than 8192"),
    "no message": (b"", {}, 13, "QueryRoute: the call ends without a message"),
    "half a message": (message_of(QUESTION)[:-1], {}, 13, "the call ends within a message"),
    "half a length": (b"\0\0", {}, 13, "the call ends within a message"),
    "a compressed message": (message_of(QUESTION, 1), {}, 12, "a compressed message; send it without grpc-encoding"),
    "a message of 4 GB": (b"\0\xff\xff\xff\xff", {}, 8, "136314880 bytes at most are taken of one"),
    "no such message": (message_of(b"\xff" * 9), {}, 3, "QueryRoute: the bytes are no QueryRouteRequest of"),
    "telemetry of nobody": (b"", {":path": f"/{SERVICE}/Telemetry", "x-mq-client-id": " "}, 3, "client id cannot"),
    "telemetry that is none": (
        message_of(b"\xff"), {":path": f"/{SERVICE}/Telemetry"}, 3, "Telemetry: the bytes are no TelemetryCommand of",
    ),
}  # fmt: skip


@pytest.mark.usefixtures("others")
@pytest.mark.parametrize("what", BAD_CALLS)
def test_a_bad_call_ends_with_a_sentence_and_its_connection_stands(running: BrokerThread, what: str) -> None:
    raw, headers, code, sentence = BAD_CALLS[what]
    with OneHttp2Client(running.grpc_address) as client:
        ended = client.ended(client.call(raw, headers))
        assert (GrpcStatus(ended.code), sentence in ended.message) == (GrpcStatus(code), True), ended
        good = client.ended(client.call(message_of(QUESTION)))
    assert (good.code, code_of(CALLS["QueryRoute"].response.FromString(good.data[5:]).status)) == (0, "OK")
    assert LOG == []


@pytest.mark.usefixtures("others")
def test_a_fault_of_the_proxy_ends_one_call_alone(running: BrokerThread, monkeypatch: pytest.MonkeyPatch) -> None:
    from wire.proxy import handlers

    faults = []

    def fail(*_: object) -> None:
        message = "no such thing"
        raise KeyError(message)

    monkeypatch.setitem(handlers.UNARY, "QueryRoute", fail)
    running._loop.set_exception_handler(lambda _, context: faults.append(context["message"]))
    with OneHttp2Client(running.grpc_address) as client:
        ended = client.ended(client.call(message_of(QUESTION)))
        assert (ended.code, ended.message) == (GrpcStatus.UNKNOWN, "QueryRoute: KeyError('no such thing')")
        monkeypatch.undo()
        assert client.ended(client.call(message_of(QUESTION))).code == 0
    assert faults == ["QueryRoute failed"]


def test_messages_may_come_in_pieces_with_padding_and_trailers(running: BrokerThread) -> None:
    raw = message_of(QUESTION)
    with OneHttp2Client(running.grpc_address) as client:
        stream_id = client.begin()
        for octet in raw:
            client.socket.sendall(frame(FrameKind.DATA, PADDED, stream_id, b"\3" + bytes((octet,)) + bytes(3)))
        trailers = header_block([("a", "b")])
        client.socket.sendall(frame(FrameKind.HEADERS, END_HEADERS | END_STREAM, stream_id, trailers))
        assert client.ended(stream_id).code == 0
        blocks = [header_block([(":path", f"/{SERVICE}/QueryRoute"), ("content-type", "application/grpc")])]
        blocks.append(header_block([("x-mq-client-id", "one")]))
        client.next_stream += 2
        client.socket.sendall(
            frame(FrameKind.HEADERS, 0, 3, blocks[0])
            + frame(FrameKind.CONTINUATION, END_HEADERS, 3, blocks[1])
            + frame(FrameKind.DATA, END_STREAM, 3, raw)
        )
        assert client.ended(3).code == 0


@pytest.mark.parametrize(
    ("start", "sentence"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", "it speaks HTTP, and gRPC (HTTP/2) was expected"),
        (b"\x16\x03\x01\x02\0\1", "it speaks TLS, and gRPC (HTTP/2) was expected"),
        (b"\0\0\0\x80\0\0\0\x70{", "it speaks RocketMQ's remoting protocol"),
        (PREFACE[:-3] + b"xxx", "it begins with the bytes 50 52 49 20 2a"),
        (bytes(24), "it begins with the bytes 00 00 00 00 00"),
    ],
)
@pytest.mark.usefixtures("others")
def test_another_protocol_is_named(running: BrokerThread, start: bytes, sentence: str) -> None:
    with OneHttp2Client(running.grpc_address, start) as client:
        assert client.socket.recv(1) == b""
    assert sentence in the_line()


def test_it_listens_on_loopback_alone(running: BrokerThread) -> None:
    host, port = running.grpc_address.split(":")
    assert host == "127.0.0.1"
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", int(port)), SECONDS)
