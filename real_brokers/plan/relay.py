"""A relay of the remoting protocol before a broker: it counts the requests of its clients, and may hold one back."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Self

from real_brokers.loopback import LOOPBACK
from wire.client.channel import Address
from wire.remoting.codes import RequestCode
from wire.remoting.command import decode
from wire.remoting.frames import FrameReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from wire.remoting.command import RemotingCommand

_MOST: Final = 1 << 16


class RemotingRelay:
    """Listens on loopback from entering the context on, and passes on what each side says.

    Attributes
    ----------
    requests
        How many of each kind were passed on, by the names of `RequestCode`.
    before
        Is called with each request before it is passed on, by a thread of its connection.
    """

    def __init__(self, target: Address) -> None:
        self._target = target
        self.requests: Counter[str] = Counter()
        self.before: Callable[[RemotingCommand], None] = lambda _: None
        self._open: list[socket.socket] = []

    def __enter__(self) -> Self:
        self._listening = socket.create_server((LOOPBACK, 0))
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for each in (self._listening, *self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    @property
    def address(self) -> Address:
        """Where clients connect to, instead of the broker."""
        return Address(LOOPBACK, self._listening.getsockname()[1])

    def _accept(self) -> None:
        with suppress(OSError):  # it is closed
            while True:
                client, _ = self._listening.accept()
                with suppress(OSError):  # the broker is gone: its client hears of it as of a connection that ends
                    broker = socket.create_connection((self._target.host, self._target.port))
                    self._open += [client, broker]
                    threading.Thread(target=self._requests, args=(client, broker), daemon=True).start()
                    threading.Thread(target=_answers, args=(broker, client), daemon=True).start()
                    continue
                client.close()

    def _requests(self, client: socket.socket, broker: socket.socket) -> None:
        reader = FrameReader()
        with suppress(OSError):
            while data := client.recv(_MOST):
                for frame in reader.feed(data):
                    command = decode(frame)
                    self.before(command)
                    self.requests[_name(command.code)] += 1
                    broker.sendall(len(frame).to_bytes(4) + frame)
        _end(broker)


def _answers(broker: socket.socket, client: socket.socket) -> None:
    with suppress(OSError):
        while data := broker.recv(_MOST):
            client.sendall(data)
    _end(client)


def _end(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)


def _name(code: int) -> str:
    return RequestCode(code).name if code in set(RequestCode) else str(code)
