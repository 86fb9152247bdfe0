"""The port before the gRPC library: it reads the first bytes of each connection, and hands on what speaks HTTP/2.

The library closes a connection of another protocol without a word, and keeps the bytes to itself.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from wire.connections import LOOPBACK, MOST_IDLE_SECONDS, MOST_WAITING_BYTES
from wire.errors import WireError
from wire.remoting.foreign_protocols import HTTP_2_PREFACE, LEAST_BYTES, line_of_no_grpc

if TYPE_CHECKING:
    from collections.abc import Callable


class GrpcFront:
    """Listens where clients connect to; the gRPC library listens at a port of loopback behind it.

    Parameters
    ----------
    host, port
        Where it listens; a port of 0 is chosen by the machine, and stays.
    say
        Is told of each connection that speaks something else.
    """

    def __init__(self, host: str, port: int, say: Callable[[str], None]) -> None:
        self.host = host
        self.port = port
        self.say = say
        self.behind = 0
        """The port of the library."""
        self.clients: dict[str, str] = {}
        """By the address from which a connection is handed on where it comes from."""
        self.open: set[asyncio.Transport] = set()
        self._server: asyncio.Server | None = None

    async def listen(self) -> None:
        """Begin to listen; `WireError` if the port is taken, or the address is none of this machine."""
        try:
            self._server = await asyncio.get_running_loop().create_server(lambda: _Outside(self), self.host, self.port)
        except OSError:
            host = f"[{self.host}]" if ":" in self.host else self.host
            message = f"{host}:{self.port}: can't listen there; choose another --grpc-port or --listen"
            raise WireError(message) from None
        self.port = self._server.sockets[0].getsockname()[1]

    def stop(self) -> None:
        """Listen no more, and end every connection."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for transport in list(self.open):
            transport.abort()


class _HandedOn(asyncio.Protocol):
    """One side of a connection that is handed on; what it reads, the other side writes."""

    def __init__(self, front: GrpcFront) -> None:
        self.front = front
        self.other: _HandedOn | None = None
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See :class:`asyncio.Protocol`."""
        self.transport = cast("asyncio.Transport", transport)
        self.transport.set_write_buffer_limits(MOST_WAITING_BYTES >> 6)
        self.front.open.add(self.transport)

    def data_received(self, data: bytes) -> None:
        """See :class:`asyncio.Protocol`."""
        if self.other is not None and self.other.transport is not None:
            self.other.transport.write(data)

    def eof_received(self) -> bool:
        """The other side may still have something to say; it is told."""
        if self.other is not None and self.other.transport is not None and self.other.transport.can_write_eof():
            self.other.transport.write_eof()
            return True
        return False

    def connection_lost(self, _: Exception | None) -> None:
        """End the other side, too, when it has written all."""
        if self.transport is not None:
            self.front.open.discard(self.transport)
        if self.other is not None and self.other.transport is not None:
            self.other.transport.close()

    def pause_writing(self) -> None:
        """Read the other side no more, as this one does not take what that says."""
        if self.other is not None and self.other.transport is not None:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        """Read the other side again."""
        if self.other is not None and self.other.transport is not None:
            with suppress(RuntimeError):
                self.other.transport.resume_reading()


class _Outside(_HandedOn):
    """A client's connection; nothing is handed on before its protocol is known."""

    def __init__(self, front: GrpcFront) -> None:
        super().__init__(front)
        self._start = bytearray()
        self._handing: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._address = self._handed_from = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See :class:`asyncio.Protocol`."""
        super().connection_made(transport)
        host, port = (transport.get_extra_info("peername") or ("", 0))[:2]
        self._address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self._timer = asyncio.get_running_loop().call_later(MOST_IDLE_SECONDS, transport.close)

    def data_received(self, data: bytes) -> None:
        """See :class:`asyncio.Protocol`."""
        if self.other is not None:
            super().data_received(data)
            return
        self._start += data
        if self.transport is None or self._handing is not None:
            return
        if self._start[: len(HTTP_2_PREFACE)] == HTTP_2_PREFACE:
            self.transport.pause_reading()
            self._handing = asyncio.get_running_loop().create_task(self._hand_on(self.transport))
        elif not HTTP_2_PREFACE.startswith(self._start[: len(HTTP_2_PREFACE)]) and len(self._start) >= LEAST_BYTES:
            self.front.say(f"{self._address}: connection closed: {line_of_no_grpc(self._start)}")
            self.transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        """See :class:`asyncio.Protocol`."""
        if self._timer is not None:
            self._timer.cancel()
        self.front.clients.pop(self._handed_from, None)
        super().connection_lost(error)

    async def _hand_on(self, transport: asyncio.Transport) -> None:
        loop = asyncio.get_running_loop()
        inside = _HandedOn(self.front)
        try:
            upstream, _ = await loop.create_connection(lambda: inside, LOOPBACK, self.front.behind)
        except OSError:
            transport.abort()
            return
        if self._timer is not None:
            self._timer.cancel()
        host, port = upstream.get_extra_info("sockname")[:2]
        self._handed_from = f"{host}:{port}"
        self.front.clients[self._handed_from] = self._address
        inside.other, self.other = self, inside
        upstream.write(bytes(self._start))
        self._start.clear()
        if transport.is_closing():
            upstream.abort()
        else:
            transport.resume_reading()
