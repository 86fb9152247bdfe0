"""A call of gRPC over a stream of HTTP/2: its messages, its answer, and the status that it ends with."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from wire.proxy.http2.header_blocks import header_block
from wire.proxy.limits import MOST_REQUEST_BYTES

if TYPE_CHECKING:
    from wire.proxy.http2.stream import Http2Stream

_PREFIX: Final = 5
"""Whether a message is compressed, and its length."""

_HEADERS: Final = ((":status", "200"), ("content-type", "application/grpc"))
_HEADER_BLOCK: Final = header_block([*_HEADERS, ("grpc-accept-encoding", "identity")])
_OK: Final = header_block([("grpc-status", "0")])
_PLAIN: Final = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) != "%")

_TIMEOUT: Final = re.compile(r"(\d{1,8})([HMSmun])")
_UNIT_MS: Final = {"H": 3_600_000.0, "M": 60_000.0, "S": 1_000.0, "m": 1.0, "u": 1e-3, "n": 1e-6}


class GrpcStatus(IntEnum):
    """Codes of gRPC that a call may end with."""

    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    RESOURCE_EXHAUSTED = 8
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14


class ServerCall:
    """A call: whoever handles it is told of its messages by :meth:`take_message` and :meth:`take_end`."""

    __slots__ = ("_came", "_has_sent", "_wanted", "stream")

    def __init__(self, stream: Http2Stream) -> None:
        self.stream = stream
        self._came = bytearray()
        self._wanted = _PREFIX
        self._has_sent = False

    # --- what comes ---------------------------------------------------------------------------------------------------

    def take_message(self, raw: bytes) -> None:
        """A message of the client."""

    def take_end(self) -> None:
        """It sends no more."""

    def take_loss(self) -> None:
        """It has gone, or has broken the call off."""

    def take(self, data: bytes) -> None:
        """See :class:`wire.proxy.http2.stream.Receiver`."""
        if self._came:
            self._came += data
            self.stream.connection.held += len(data)
            if len(self._came) < self._wanted and self._is_within(0):
                return
            data = self._let_go()
        at = 0
        while self.stream.is_open and (end := self._end_of_message(data, at)) <= len(data):
            self.take_message(data[at + _PREFIX : end])
            at = end
        if self.stream.is_open and at < len(data):
            self._came, self._wanted = bytearray(data[at:]), end - at
            self.stream.connection.held += len(self._came)

    def end(self) -> None:
        """See :class:`wire.proxy.http2.stream.Receiver`."""
        if self._came:
            self.refuse(GrpcStatus.INTERNAL, "the call ends within a message")
        else:
            self.take_end()

    def lost(self) -> None:
        """See :class:`wire.proxy.http2.stream.Receiver`."""
        self._let_go()
        self.take_loss()

    def _end_of_message(self, data: bytes, at: int) -> int:
        """Where the message ends that begins there, as far as is known; the call ends where it is too large."""
        if len(data) - at < _PREFIX:
            return at + _PREFIX
        length = int.from_bytes(data[at + 1 : at + _PREFIX])
        if data[at]:
            self.refuse(GrpcStatus.UNIMPLEMENTED, "a compressed message; send it without grpc-encoding")
        elif not self._is_within(length):
            return len(data) + 1
        return at + _PREFIX + length if self.stream.is_open else len(data) + 1

    def _is_within(self, length: int) -> bool:
        """Whether so many bytes more may come; the call ends where they may not."""
        if self.stream.connection.held + length <= MOST_REQUEST_BYTES:
            return True
        message = f"{MOST_REQUEST_BYTES} bytes at most are taken of one connection at once; send a smaller message"
        self.refuse(GrpcStatus.RESOURCE_EXHAUSTED, message)
        return False

    def _let_go(self) -> bytes:
        """What has come of a message; it is held no more."""
        came = bytes(self._came)
        self._came = bytearray()
        self.stream.connection.held -= len(came)
        return came

    # --- what is sent -------------------------------------------------------------------------------------------------

    def send(self, message: bytes) -> None:
        """Send a message."""
        if not self._has_sent:
            self._has_sent = True
            self.stream.send_headers(_HEADER_BLOCK)
        self.stream.send(b"\0" + len(message).to_bytes(4) + message)

    def succeed(self) -> None:
        """End it with OK."""
        if not self._has_sent:
            self._has_sent = True
            self.stream.send_headers(_HEADER_BLOCK)
        self.stream.end(_OK)

    def refuse(self, status: GrpcStatus, message: str) -> None:
        """End it with another status and a sentence; what has come of it is dropped."""
        self._let_go()
        trailers = [("grpc-status", str(int(status))), ("grpc-message", quote(message, safe=_PLAIN))]
        self.stream.end(header_block(trailers if self._has_sent else [*_HEADERS, *trailers]))


def timeout_ms(text: str) -> float | None:
    """For how long a client waits, by its header ``grpc-timeout``; None for ever.

    Examples
    --------
    >>> timeout_ms("15S"), timeout_ms("250000u"), timeout_ms("")
    (15000.0, 250.0, None)
    """
    found = _TIMEOUT.fullmatch(text)
    return None if found is None else int(found[1]) * _UNIT_MS[found[2]]
