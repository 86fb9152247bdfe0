"""A client's connection: requests with their answers, and what a broker asks meanwhile; it blocks, without threads."""

from __future__ import annotations

import socket
import time
from collections import deque
from typing import TYPE_CHECKING, Final, Self

from wire.errors import WireError
from wire.remoting.codes import MQ_VERSIONS, Serialization
from wire.remoting.command import ONEWAY_FLAG, RemotingCommand, decode, encode
from wire.remoting.frames import FrameReader

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST: Final = 1 << 16


class NoAnswerError(WireError):
    """The other side has ended the connection, or not answered in time."""


class RemotingClient:
    """One connection, from its construction until it is closed.

    Parameters
    ----------
    address
        ``127.0.0.1:10911``.
    seconds
        How long an answer is waited for.

    Attributes
    ----------
    asked
        What the broker has asked of this client: checks, and that others have joined a group.

    Raises
    ------
    NoAnswerError
        Nobody listens there.
    """

    def __init__(
        self, address: str, *, seconds: float = 10.0, serialization: Serialization = Serialization.JSON
    ) -> None:
        self.asked: deque[RemotingCommand] = deque()
        self._seconds = seconds
        self._serialization = serialization
        self._frames = FrameReader()
        self._answers: dict[int, RemotingCommand] = {}
        self._opaque = 0
        host, _, port = address.rpartition(":")
        try:
            self._socket = socket.create_connection((host, int(port)), seconds)
        except OSError as error:
            message = f"{address}: nobody listens there: {error.strerror or error}"
            raise NoAnswerError(message) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def own_address(self) -> str:
        """Where the connection comes from, by which the broker knows it."""
        host, port = self._socket.getsockname()[:2]
        return f"{host}:{port}"

    def close(self) -> None:
        """End the connection."""
        self._socket.close()

    def call(self, code: int, fields: Mapping[str, object] | None = None, body: bytes = b"") -> RemotingCommand:
        """Send a request, and wait for its answer.

        Raises
        ------
        NoAnswerError
            None comes.
        MalformedFrameError
            What comes is no command.
        """
        opaque = self.send(code, fields, body)
        return self.answer_to(opaque)

    def send(
        self, code: int, fields: Mapping[str, object] | None = None, body: bytes = b"", *, oneway: bool = False
    ) -> int:
        """Send a request, and give the number by which :meth:`answer_to` finds its answer; fields of None are left out.

        Raises
        ------
        NoAnswerError
            The connection has ended.
        """
        self._opaque += 1
        told = {} if fields is None else fields
        texts = {
            name: str(value).lower() if isinstance(value, bool) else str(value)
            for name, value in told.items()
            if value is not None
        }
        command = RemotingCommand(
            code=int(code),
            fields=texts,
            body=body,
            opaque=self._opaque,
            flag=ONEWAY_FLAG if oneway else 0,
            version=max(MQ_VERSIONS.values()),
            serialization=self._serialization,
        )
        try:
            self._socket.sendall(encode(command))
        except OSError as error:
            message = f"request {int(code)} could not be sent: {error.strerror or error}"
            raise NoAnswerError(message) from None
        return self._opaque

    def answer_to(self, opaque: int) -> RemotingCommand:
        """Wait for the answer to a request that was sent.

        Raises
        ------
        NoAnswerError
            None comes.
        """
        end = time.monotonic() + self._seconds
        while opaque not in self._answers:
            if not self._receive(end - time.monotonic()):
                message = f"no answer to request {opaque} within {self._seconds} s"
                raise NoAnswerError(message)
        return self._answers.pop(opaque)

    def wait_for(self, code: int, seconds: float) -> RemotingCommand | None:
        """Wait until the broker asks something of this kind; None if it does not."""
        end = time.monotonic() + seconds
        while True:
            found = next((each for each in self.asked if each.code == code), None)
            if found is not None:
                self.asked.remove(found)
                return found
            if not self._receive(end - time.monotonic()):
                return None

    def _receive(self, seconds: float) -> bool:
        """Take in what comes within some time; False if nothing does."""
        self._socket.settimeout(max(seconds, 0.001))
        try:
            data = self._socket.recv(_MOST)
        except TimeoutError:
            return False
        except OSError as error:
            message = f"the connection has ended: {error.strerror or error}"
            raise NoAnswerError(message) from None
        if not data:
            message = "the other side has ended the connection"
            raise NoAnswerError(message)
        for frame in self._frames.feed(data):
            command = decode(frame)
            if command.is_response:
                self._answers[command.opaque] = command
            else:
                self.asked.append(command)
        return True
