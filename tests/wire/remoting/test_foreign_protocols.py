"""Other protocols on the port of a broker, and on one that is taken for a broker's, are named in one line."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import ssl
import threading
import time
from typing import TYPE_CHECKING

import pytest

from halfcheck.probe.session import identify
from tests.wire.one_broker import broker
from tests.wire.proxy.one_grpc_client import OneGrpcClient
from wire.client.channel import Address, BrokerChannel, NoAnswerError
from wire.client.queries import NameServerError
from wire.errors import ForeignProtocolError, MalformedFrameError
from wire.remoting.codes import RequestCode, ResponseCode, Serialization
from wire.remoting.command import RESPONSE_FLAG, RemotingCommand, decode, encode
from wire.remoting.frames import FrameReader

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def tls_hello() -> bytes:
    """The first bytes of a TLS client, as the ssl library makes them."""
    sent = ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), sent, server_hostname="broker")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return sent.read()


GRPC = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
REMOTING = [
    encode(RemotingCommand(RequestCode.HEART_BEAT, {}, b"{}", opaque=1, serialization=kind)) for kind in Serialization
]
SETTINGS = b"\0\0\6\4\0\0\0\0\0\0\3\0\0\0\x64"


@pytest.mark.parametrize(
    ("data", "name", "advice"),
    [
        (GRPC, "HTTP/2 (a gRPC client?)", "connect to the port of --grpc-port"),
        (tls_hello(), "TLS", "set tls.enable=false in the client"),
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP", "orders over HTTP go to the control port"),
        (b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n", "the PROXY protocol of a load balancer", "connect without one"),
    ],
    ids=["gRPC", "TLS", "HTTP", "PROXY"],
)
def test_a_client_of_another_protocol_is_named(data: bytes, name: str, advice: str, tmp_path: Path) -> None:
    log: list[str] = []
    with broker(tmp_path, log=log) as running:
        host, port = running.address.split(":")
        with socket.create_connection((host, int(port)), 10) as client:
            client.sendall(data)
            with contextlib.suppress(ConnectionResetError):
                assert client.recv(1) == b""
    (line,) = log
    assert f"connection closed: it speaks {name}, and RocketMQ's remoting protocol was expected; " in line
    assert advice in line


@pytest.mark.parametrize(
    ("data", "name", "advice"),
    [
        *(
            (frame, "RocketMQ's remoting protocol (a client that wants a broker", "that of --port")
            for frame in REMOTING
        ),
        (tls_hello(), "TLS", "set enableSsl(false)"),
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP", "orders over HTTP go to the control port"),
        (b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n", "the PROXY protocol of a load balancer", "connect without one"),
        (b"EHLO a\r\n", "it begins with the bytes 45 48 4c 4f 20", "gRPC (HTTP/2) was expected"),
    ],
)
@pytest.mark.parametrize("at_once", [True, False])
def test_a_client_of_another_protocol_at_the_port_for_grpc_is_named(
    data: bytes, name: str, advice: str, at_once: bool, tmp_path: Path
) -> None:
    log: list[str] = []
    with broker(tmp_path, log=log, grpc_port=0) as running:
        host, port = running.grpc_address.split(":")
        with socket.create_connection((host, int(port)), 10) as client, contextlib.suppress(OSError):
            for part in [data] if at_once else [data[:3], data[3:]]:
                client.sendall(part)
                time.sleep(0.01)
            assert client.recv(1) == b""
        with OneGrpcClient(running.grpc_address) as other:
            assert other.call("Heartbeat").status.message  # nobody else is disturbed
    (line,) = log
    assert re.match(r"127\.0\.0\.1:\d+: connection closed: ", line)
    assert name in line
    assert "gRPC (HTTP/2) was expected" in line
    assert advice in line


@pytest.mark.parametrize("cut", range(1, 12))
@pytest.mark.parametrize("data", [GRPC, SETTINGS, tls_hello(), b"HTTP/1.1 400 Bad Request\r\n"])
def test_bytes_that_come_one_by_one_are_the_same_protocol(data: bytes, cut: int) -> None:
    reader = FrameReader()
    with pytest.raises(ForeignProtocolError):  # noqa: PT012 - it may be known at once
        assert list(reader.feed(data[:cut])) == []
        list(reader.feed(data[cut:]))


def test_a_first_frame_that_is_like_http_2_but_for_its_header_is_a_frame() -> None:
    command = encode(RemotingCommand(RequestCode.HEART_BEAT, {}, b"x" * (0x400 - 150), opaque=1))
    for length in range(0x3F0, 0x430):
        body = b"x" * max(0, length - (len(command) - 4 - (0x400 - 150)))
        frame = encode(RemotingCommand(RequestCode.HEART_BEAT, {}, body, opaque=1))
        assert [decode(one).body for one in FrameReader().feed(frame)] == [body]


def test_another_text_is_shown_and_what_comes_behind_a_frame_is_no_other_protocol() -> None:
    with pytest.raises(MalformedFrameError, match=r"a frame of 1397966893 bytes \(it begins with the text 'SSH-'\)"):
        list(FrameReader().feed(b"SSH-2.0-x\r\n"))
    reader = FrameReader()
    assert list(reader.feed(b"\0\0\0\5\0\0\0\0{")) == [b"\0\0\0\0{"]
    with pytest.raises(MalformedFrameError, match="a frame of 1195725856 bytes"):
        list(reader.feed(b"GET "))


def serve(talk: Callable[[socket.socket], None]) -> Address:
    listening = socket.create_server(("127.0.0.1", 0))

    def run() -> None:
        with listening, listening.accept()[0] as connection:
            talk(connection)

    threading.Thread(target=run, daemon=True).start()
    return Address("127.0.0.1", listening.getsockname()[1])


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (SETTINGS, r"it speaks HTTP/2 \(a gRPC proxy\?\), .*; give the address of a broker's listenPort"),
        (b"HTTP/1.1 400 Bad Request\r\n", r"it speaks HTTP, .*; give the address of a broker"),
        (b"\x15\x03\x03\0\2\2\x46", r"it speaks TLS, .*; give a port that takes plain connections"),
        (b"", r"it closed the connection without a word: is it a port for TLS"),
    ],
    ids=["gRPC", "HTTP", "TLS", "silent"],
)
def test_a_port_of_another_protocol_is_named(data: bytes, said: str) -> None:
    def talk(connection: socket.socket) -> None:
        connection.recv(1 << 16)
        connection.sendall(data)

    channel = BrokerChannel(serve(talk))
    with pytest.raises(NoAnswerError, match=rf"{channel.address}: request 26: {said}"):
        channel.ask(RequestCode.GET_BROKER_CONFIG)


@pytest.mark.parametrize("is_silent", [False, True], ids=["5.x", "4.x"])
def test_a_name_server_in_a_brokers_place_is_named_with_the_brokers_that_it_knows(
    is_silent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BrokerChannel.__init__, "__defaults__", (0.5, BrokerChannel.__init__.__defaults__[1]))  # type: ignore[index]
    body = json.dumps({"brokerAddrTable": {"a": {"brokerAddrs": {"0": "10.0.0.5:10911"}}}}).encode()

    def talk(connection: socket.socket) -> None:
        for frame in FrameReader().feed(connection.recv(1 << 16)):
            asked = decode(frame)
            if not is_silent:
                refused = ResponseCode.REQUEST_CODE_NOT_SUPPORTED
                connection.sendall(encode(RemotingCommand(refused, {}, opaque=asked.opaque, flag=RESPONSE_FLAG)))
        for frame in FrameReader().feed(connection.recv(1 << 16)):
            asked = decode(frame)
            assert asked.code == RequestCode.GET_BROKER_CLUSTER_INFO
            connection.sendall(encode(RemotingCommand(0, {}, body, opaque=asked.opaque, flag=RESPONSE_FLAG)))

    address = serve(talk)
    with pytest.raises(NameServerError) as caught:
        identify(address, None, None)
    assert str(caught.value) == (f"{address} is a name server: give the address of a broker; it knows 10.0.0.5:10911")
