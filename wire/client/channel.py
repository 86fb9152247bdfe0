"""One connection to a broker: requests with their answers, and the broker's own requests."""

from __future__ import annotations

import queue
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from wire.client.refusal import reason_of_refusal, remedy
from wire.client.tls import TlsError, TlsStream
from wire.errors import ForeignProtocolError, MalformedFrameError, WireError
from wire.remoting.codes import Serialization, version_of
from wire.remoting.command import ONEWAY_FLAG, RemotingCommand, decode, encode, java_text
from wire.remoting.frames import FrameReader

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from wire.client.credentials import Credentials
    from wire.client.tls import Tls

_OWN_VERSION: Final = version_of("5.5.0")
_MOST: Final = 1 << 16
_SILENT: Final = (
    "it closed the connection without a word: is it a port for TLS (tls.server.mode=enforcing), which wants --tls, "
    "or no broker's at all?"
)


class NoAnswerError(WireError):
    """The broker can't be reached, or gives no answer in time."""


class RefusedError(NoAnswerError):
    """The broker's access control refuses a request."""


Answers = queue.SimpleQueue[RemotingCommand | None]
"""Where the answers to some requests are put as they come; None says that no further one will."""


class _Begun(NamedTuple):
    """A request whose answer is waited for."""

    code: int
    topic: str
    """What it is about; empty if it is about no topic."""
    answers: Answers


@dataclass(frozen=True, slots=True)
class Address:
    """Where a broker listens, and what is to be shown and spoken there."""

    host: str
    port: int
    credentials: Credentials | None = field(default=None, repr=False)
    tls: Tls | None = field(default=None, repr=False)
    """None for a plain connection."""

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
        Nobody listens there, or nobody who speaks TLS as it was asked for; by each request: there is no answer in time,
        or the connection has ended.
    RefusedError
        By each request: the broker's access control refuses it.
    """

    def __init__(
        self, address: Address, patience: float = 10.0, serialization: Serialization = Serialization.JSON
    ) -> None:
        self.address = address
        self._patience = patience
        self._serialization = serialization
        self._lock = threading.Lock()
        self._opaque = 0
        self._waiting: dict[int, _Begun] = {}
        self._requests: queue.SimpleQueue[RemotingCommand] = queue.SimpleQueue()
        self._ended = ""
        try:
            self._socket = socket.create_connection((address.host, address.port), patience)
        except OSError as error:
            message = f"{address}: no connection: {error.strerror or error}; is a broker (not a name server) listening?"
            raise NoAnswerError(message) from error
        self._stream = self._spoken()
        self._socket.settimeout(None)
        threading.Thread(target=self._receive, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, code: int, fields: Mapping[str, object] | None = None, body: bytes = b"") -> RemotingCommand:
        """Send a request and wait for its answer, whatever it says; fields of None are left out."""
        return self.answer_to(self.begin(code, fields, body))

    def begin(
        self, code: int, fields: Mapping[str, object] | None = None, body: bytes = b"", answers: Answers | None = None
    ) -> int:
        """Send a request, and give the number by which :meth:`answer_to` knows its answer.

        The answer goes to `answers` if they are given, for :meth:`next_answer`.
        """
        return self._send(code, fields or {}, body, queue.SimpleQueue() if answers is None else answers)

    def answer_to(self, opaque: int) -> RemotingCommand:
        """Wait for the answer to a request that was begun."""
        try:
            return self.next_answer(self._waiting[opaque].answers)
        finally:
            self.forget([opaque])

    def next_answer(self, answers: Answers) -> RemotingCommand:
        """Wait for the first answer to any of the requests that were begun with these."""
        came = self._arrived(answers)
        while (begun := self._waiting.pop(came.opaque, None)) is None:  # somebody may answer twice
            came = self._arrived(answers)
        if reason := reason_of_refusal(came):
            request = f"request {begun.code}" + (f" for {begun.topic}" if begun.topic else "")
            credentials = self.address.credentials
            whom = "no access key" if credentials is None else f"access key {credentials.access_key}"
            message = f"{self.address}: {request} is refused with {whom}: {reason}; {remedy(reason, credentials)}"
            raise RefusedError(message)
        return came

    def forget(self, opaques: Collection[int]) -> None:
        """Wait no more for the answers to some requests."""
        for opaque in opaques:
            self._waiting.pop(opaque, None)

    def send_oneway(self, code: int, fields: Mapping[str, object] | None = None, body: bytes = b"") -> None:
        """Send a request that nobody answers."""
        self._send(code, fields or {}, body, None)

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

    def _arrived(self, answers: Answers) -> RemotingCommand:
        try:
            came = answers.get(timeout=self._patience)
        except queue.Empty:
            came = None
        if came is None:
            code = next(begun.code for begun in list(self._waiting.values()) if begun.answers is answers)
            message = f"{self.address}: request {code}: {self._ended or f'no answer in {self._patience:.0f} s'}"
            raise NoAnswerError(message)
        return came

    def _spoken(self) -> socket.socket | TlsStream:
        """What goes over the socket: plain bytes, or TLS once its handshake is over."""
        if self.address.tls is None:
            return self._socket
        try:
            return TlsStream(self._socket, self.address.tls)
        except TlsError as error:
            self._socket.close()
            message = f"{self.address}: {error}"
            raise NoAnswerError(message) from error

    def _send(self, code: int, fields: Mapping[str, object], body: bytes, answers: Answers | None) -> int:
        texts = {key: java_text(value) for key, value in fields.items() if value is not None}
        topic = texts.get("topic", "")
        if self.address.credentials is not None:
            texts = self.address.credentials.signed(texts, body)
        with self._lock:
            self._opaque += 1
            opaque = self._opaque
            if answers is not None:
                self._waiting[opaque] = _Begun(int(code), topic, answers)
            if self._ended:
                message = f"{self.address}: request {int(code)}: {self._ended}"
                raise NoAnswerError(message)
            flag = ONEWAY_FLAG if answers is None else 0
            command = RemotingCommand(
                int(code), texts, body, opaque, flag, version=_OWN_VERSION, serialization=self._serialization
            )
            try:
                self._stream.sendall(encode(command))
            except OSError as error:
                message = f"{self.address}: request {int(code)}: {error.strerror or error}"
                raise NoAnswerError(message) from error
        return opaque

    def _receive(self) -> None:
        reader, why = FrameReader(), _SILENT
        try:
            while data := self._stream.recv(_MOST):
                why = "the broker closed the connection"
                for frame in reader.feed(data):
                    self._take(decode(frame))
        except ForeignProtocolError as error:
            why = error.protocol.described(error.protocol.server)
        except ConnectionError:
            pass  # a port that does not read what it does not know resets the connection
        except (OSError, MalformedFrameError) as error:
            why = str(error)
        self._end(why)

    def _take(self, command: RemotingCommand) -> None:
        if not command.is_response:
            self._requests.put(command)
        elif (begun := self._waiting.get(command.opaque)) is not None:
            begun.answers.put(command)

    def _end(self, why: str) -> None:
        self._ended = self._ended or why
        for begun in list(self._waiting.values()):
            begun.answers.put(None)
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
