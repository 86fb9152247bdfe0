"""One connection to a broker: requests with their answers, and the broker's own requests."""

from __future__ import annotations

import queue
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from wire.errors import ForeignProtocolError, MalformedFrameError, WireError
from wire.remoting.codes import Serialization, version_of
from wire.remoting.command import ONEWAY_FLAG, RemotingCommand, decode, encode, java_text
from wire.remoting.frames import FrameReader

if TYPE_CHECKING:
    from collections.abc import Mapping

_OWN_VERSION: Final = version_of("5.5.0")
_MOST: Final = 1 << 16
_SILENT: Final = (
    "it closed the connection without a word: is it a port for TLS (tls.server.mode=enforcing), or no broker's at all?"
)


class NoAnswerError(WireError):
    """The broker can't be reached, or gives no answer in time."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a broker listens."""

    host: str
    port: int

    @classmethod
    def of(cls, text: str) -> Self:
        """Read ``HOST:PORT``; raises `ValueError` for anything else.

        Examples
        --------
        >>> Address.of("[::1]:10911")
        Address(host='::1', port=10911)
        """
        host, colon, port = text.rpartition(":")
        if not colon or not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
            message = f"{text!r}: expected HOST:PORT, such as 127.0.0.1:10911"
            raise ValueError(message)
        return cls(host.strip("[]"), int(port))

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class BrokerChannel:
    """A connection that stands until it is closed, by either side (``NettyRemotingClient``).

    An answer may take `patience` seconds.

    Raises
    ------
    NoAnswerError
        Nobody listens there; by each request: there is no answer in time, or the connection has ended.
    """

    def __init__(
        self, address: Address, patience: float = 10.0, serialization: Serialization = Serialization.JSON
    ) -> None:
        self.address = address
        self._patience = patience
        self._serialization = serialization
        self._lock = threading.Lock()
        self._opaque = 0
        self._waiting: dict[int, tuple[int, queue.SimpleQueue[RemotingCommand | None]]] = {}
        self._requests: queue.SimpleQueue[RemotingCommand] = queue.SimpleQueue()
        self._ended = ""
        try:
            self._socket = socket.create_connection((address.host, address.port), patience)
        except OSError as error:
            message = f"{address}: no connection: {error.strerror or error}; is a broker (not a name server) listening?"
            raise NoAnswerError(message) from error
        self._socket.settimeout(None)
        threading.Thread(target=self._receive, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, code: int, fields: Mapping[str, object] | None = None, body: bytes = b"") -> RemotingCommand:
        """Send a request and wait for its answer, whatever it says; fields of None are left out."""
        return self.answer_to(self.begin(code, fields, body))

    def begin(self, code: int, fields: Mapping[str, object] | None = None, body: bytes = b"") -> int:
        """Send a request, and give the number by which :meth:`answer_to` knows its answer."""
        return self._send(code, fields or {}, body, is_answered=True)

    def answer_to(self, opaque: int) -> RemotingCommand:
        """Wait for the answer to a request that was begun."""
        code, answer = self._waiting[opaque]
        try:
            came = answer.get(timeout=self._patience)
        except queue.Empty:
            came = None
        finally:
            self._waiting.pop(opaque, None)
        if came is None:
            message = f"{self.address}: request {code}: {self._ended or f'no answer in {self._patience:.0f} s'}"
            raise NoAnswerError(message)
        return came

    def send_oneway(self, code: int, fields: Mapping[str, object] | None = None, body: bytes = b"") -> None:
        """Send a request that nobody answers."""
        self._send(code, fields or {}, body, is_answered=False)

    def asked(self) -> RemotingCommand | None:
        """The next request of the broker that has arrived; None if there is none."""
        try:
            return self._requests.get_nowait()
        except queue.Empty:
            return None

    @property
    def is_open(self) -> bool:
        """Whether the connection stands, as far as is known."""
        return not self._ended

    def close(self) -> None:
        """End the connection."""
        self._end("the connection was closed")

    def _send(self, code: int, fields: Mapping[str, object], body: bytes, *, is_answered: bool) -> int:
        texts = {key: java_text(value) for key, value in fields.items() if value is not None}
        with self._lock:
            self._opaque += 1
            opaque = self._opaque
            if is_answered:
                self._waiting[opaque] = int(code), queue.SimpleQueue()
            if self._ended:
                message = f"{self.address}: request {int(code)}: {self._ended}"
                raise NoAnswerError(message)
            flag = 0 if is_answered else ONEWAY_FLAG
            command = RemotingCommand(
                int(code), texts, body, opaque, flag, version=_OWN_VERSION, serialization=self._serialization
            )
            try:
                self._socket.sendall(encode(command))
            except OSError as error:
                message = f"{self.address}: request {int(code)}: {error.strerror or error}"
                raise NoAnswerError(message) from error
        return opaque

    def _receive(self) -> None:
        reader, why = FrameReader(), _SILENT
        try:
            while data := self._socket.recv(_MOST):
                why = "the broker closed the connection"
                for frame in reader.feed(data):
                    self._take(decode(frame))
        except ForeignProtocolError as error:
            why = error.protocol.described(error.protocol.server)
        except (OSError, MalformedFrameError) as error:
            why = str(error)
        self._end(why)

    def _take(self, command: RemotingCommand) -> None:
        if not command.is_response:
            self._requests.put(command)
        elif (waiting := self._waiting.get(command.opaque)) is not None:
            waiting[1].put(command)

    def _end(self, why: str) -> None:
        self._ended = self._ended or why
        for _, answer in list(self._waiting.values()):
            answer.put(None)
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
