"""Bytes that are no command end their connection with one line, and nobody else notices."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from benchmarks.wire.by_bad_bytes import BAD, HALF_A_FRAME
from tests.wire.one_broker import broker
from tests.wire.one_producer import OneProducer
from wire.client.transactions import COMMIT
from wire.remoting.codes import RequestCode, ResponseCode
from wire.remoting.command import RemotingCommand, encode

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("what", BAD)
def test_bad_bytes_end_their_connection_with_one_line(what: str, tmp_path: Path) -> None:
    data, complaint = BAD[what]
    log: list[str] = []
    with broker(tmp_path, log=log) as running, OneProducer(running.address) as producer:
        producer.heartbeat()
        half = producer.half("untouched")
        host, port = running.address.split(":")
        with socket.create_connection((host, int(port)), 10) as bad:
            bad.sendall(data)
            with_reset = b"" if _is_reset(bad) else bad.recv(1)
            assert with_reset == b""
        producer.end(half, COMMIT)
        assert producer.keys() == ["untouched"]
        (line,) = log
        assert "connection closed: " in line
        assert complaint in line


def _is_reset(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_good_commands_before_bad_bytes_are_answered(tmp_path: Path) -> None:
    with broker(tmp_path) as running:
        host, port = running.address.split(":")
        asked = encode(RemotingCommand(RequestCode.GET_MAX_OFFSET, {"topic": "T", "queueId": "0"}, opaque=5))
        with socket.create_connection((host, int(port)), 10) as client:
            client.sendall(asked)
            assert b'"opaque":5' in client.recv(1 << 16)
            client.sendall(b"\0\0\0\1")
            assert _is_reset(client)


def test_half_a_frame_and_a_connection_that_says_nothing_hold_up_nobody(tmp_path: Path) -> None:
    with broker(tmp_path) as running:
        host, port = running.address.split(":")
        silent = [socket.create_connection((host, int(port)), 10) for _ in range(20)]
        for connection in silent[:10]:
            connection.sendall(HALF_A_FRAME)
        with OneProducer(running.address) as producer:
            assert producer.send_message("served", is_half=False).code == ResponseCode.SUCCESS
            assert running.controller.status()["connections"] == 21
        for connection in silent:
            connection.close()


def test_a_frame_that_comes_byte_by_byte_is_a_frame(tmp_path: Path) -> None:
    with broker(tmp_path) as running:
        host, port = running.address.split(":")
        with socket.create_connection((host, int(port)), 10) as slow:
            slow.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in encode(RemotingCommand(RequestCode.GET_BROKER_CLUSTER_INFO, opaque=7)):
                slow.sendall(bytes((byte,)))
            assert b'"brokerName":"broker-a"' in slow.recv(1 << 16)
