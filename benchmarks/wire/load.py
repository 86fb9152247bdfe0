"""Producers as fast as sockets allow: halves and their commits over many connections, so many of each under way.

It is no client: frames are built once a transaction and answers are searched for three fields, so that what is measured
is the broker. It runs as a process of its own, ``python -m benchmarks.wire.load ADDRESS CONNECTIONS WINDOW SECONDS``.
"""

from __future__ import annotations

import json
import re
import selectors
import socket
import sys
import time
from typing import Final, cast

from wire.remoting.codes import RequestCode
from wire.remoting.command import ONEWAY_FLAG, RemotingCommand, encode
from wire.remoting.messages import properties_text

TOLD: Final = re.compile(rb'"msgId":"[0-9A-F]{16}([0-9A-F]{16})".*?"queueOffset":"(\d+)".*"opaque":(\d+)')
"""Where the half lies, and which one it is, in an answer to SEND_MESSAGE_V2."""

BODY: Final = b"x" * 100


def half(number: int) -> bytes:
    """SEND_MESSAGE_V2 of a half."""
    key = f"{number:032X}"
    properties = {"KEYS": key, "UNIQ_KEY": key, "TRAN_MSG": "true", "PGROUP": "load", "WAIT": "true"}
    fields = {
        "a": "load", "b": "Load", "c": "TBW102", "d": "4", "e": "1", "f": "4", "g": str(int(time.time() * 1_000)),
        "h": "0", "i": properties_text(properties), "j": "0", "k": "false", "m": "false",
    }  # fmt: skip
    return encode(RemotingCommand(RequestCode.SEND_MESSAGE_V2, fields, BODY, opaque=number))


def commit(number: int, queue_offset: str, commit_log_offset: int) -> bytes:
    """END_TRANSACTION of it, one-way as clients send it."""
    key = f"{number:032X}"
    fields = {
        "producerGroup": "load",
        "tranStateTableOffset": queue_offset,
        "commitLogOffset": str(commit_log_offset),
        "commitOrRollback": "8",
        "fromTransactionCheck": "false",
        "msgId": key,
        "transactionId": key,
    }
    return encode(RemotingCommand(RequestCode.END_TRANSACTION, fields, opaque=0, flag=ONEWAY_FLAG))


class Load:
    """All connections, in one thread."""

    def __init__(self, address: str, connections: int, window: int) -> None:
        self.done = 0
        self._sent = 0
        self._selector = selectors.DefaultSelector()
        host, _, port = address.rpartition(":")
        for _ in range(connections):
            connection = socket.create_connection((host, int(port)))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._selector.register(connection, selectors.EVENT_READ, bytearray())
            connection.sendall(b"".join(self._half() for _ in range(window)))

    def run(self, seconds: float) -> float:
        """Go on for some time; gives the seconds that it took."""
        began = time.monotonic()
        while (took := time.monotonic() - began) < seconds:
            for key, _ in self._selector.select(1):
                self._read(cast("socket.socket", key.fileobj), key.data)
        return took

    def _half(self) -> bytes:
        self._sent += 1
        return half(self._sent)

    def _read(self, connection: socket.socket, held: bytearray) -> None:
        held += connection.recv(1 << 16)
        out = []
        while len(held) >= 4 and len(held) >= (end := 4 + int.from_bytes(held[:4])):
            told = TOLD.search(held[:end])
            del held[:end]
            if told is None:
                message = "an answer to a half names no place; is the broker what it is thought to be?"
                raise SystemExit(message)
            out += [commit(int(told[3]), told[2].decode(), int(told[1], 16)), self._half()]
            self.done += 1
        connection.sendall(b"".join(out))


def main(address: str, connections: int, window: int, seconds: float) -> None:
    """Print how many transactions were done, in how many seconds, with how many of the processor's."""
    load = Load(address, connections, window)
    took = load.run(seconds)
    print(json.dumps({"done": load.done, "seconds": took, "processor": time.process_time()}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
