"""A relay between a client and a name server with its broker: it hands every byte on and keeps what it saw.

The route that a name server gives names the broker's port; the relay puts its own in its place.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from wire.remoting.frames import FrameReader

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST = 1 << 16


@dataclass(frozen=True, slots=True)
class Seen:
    """One frame, without its first four bytes.

    Attributes
    ----------
    connection
        Counted from 0 in the order in which they came.
    server
        ``name server`` or ``broker``.
    is_from_client
        Which way it went.
    at_ms
        When the relay had it, before it handed it on: milliseconds of this machine's clock.
    """

    connection: int
    server: str
    is_from_client: bool
    frame: bytes
    at_ms: int


class Relay:
    """A relay of two ports, from entering the context on.

    Attributes
    ----------
    seen
        All frames in their order.
    name_server, broker
        Its own ports.
    """

    def __init__(self, name_server: int, broker: int) -> None:
        self.seen: list[Seen] = []
        self._targets = {"name server": name_server, "broker": broker}
        self._listening: dict[str, socket.socket] = {}
        self._open: list[socket.socket] = []
        self._lock = threading.Lock()
        self._connections = 0

    def __enter__(self) -> Self:
        for server in self._targets:
            listening = socket.create_server(("127.0.0.1", 0))
            self._listening[server] = listening
            threading.Thread(target=self._accept, args=(server, listening), daemon=True).start()
        self.name_server, self.broker = (self._listening[server].getsockname()[1] for server in self._targets)
        own, real = str(self.broker), str(self._targets["broker"])
        assert len(own) == len(real), "the route keeps its length only with ports of as many digits"
        self._own, self._real = f"127.0.0.1:{own}".encode(), f"127.0.0.1:{real}".encode()
        return self

    def __exit__(self, *_: object) -> None:
        for each in (*self._listening.values(), *self._open):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self, server: str, listening: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listening.accept()
                try:
                    upstream = socket.create_connection(("127.0.0.1", self._targets[server]))
                except OSError:
                    client.close()
                    continue
                self._open += [client, upstream]
                number = self._connections
                self._connections += 1
                for way in ((client, upstream, True), (upstream, client, False)):
                    keep = self._keeper(number, server, is_from_client=way[2])
                    threading.Thread(target=self._hand_on, args=(*way, keep), daemon=True).start()

    def _keeper(self, number: int, server: str, *, is_from_client: bool) -> Callable[[bytes], None]:
        reader = FrameReader()

        def keep(data: bytes) -> None:
            with self._lock:
                now = time.time_ns() // 1_000_000
                self.seen += [Seen(number, server, is_from_client, frame, now) for frame in reader.feed(data)]

        return keep

    def _hand_on(
        self, source: socket.socket, target: socket.socket, is_from_client: bool, keep: Callable[[bytes], None]
    ) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(_MOST):
                shown = data if is_from_client else data.replace(self._real, self._own)
                keep(shown)
                target.sendall(shown)
        for each in (source, target):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
