"""The gRPC port: it listens, hands each call to its handler, and ends connections that are none or idle."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from wire.connections import MOST_WAITING_BYTES
from wire.errors import WireError
from wire.proxy.handlers import HandledCall, handler_of
from wire.proxy.http2.connection import MOST_STREAMS, Http2Connection
from wire.proxy.http2.header_blocks import MOST_HEADER_BYTES
from wire.proxy.limits import MOST_IDLE_MS
from wire.proxy.server_call import GrpcStatus, ServerCall
from wire.remoting.foreign_protocols import LEAST_BYTES, line_of_no_grpc

if TYPE_CHECKING:
    from wire.proxy.http2.stream import Http2Stream
    from wire.proxy.proxy import Proxy

_GLANCE_SECONDS: Final = 0.002
_SWEEP_PART: Final = 16
"""A connection or a call that is left is seen so many parts of its time later at most."""


class GrpcPort:
    """The port of a proxy.

    Parameters
    ----------
    host, port
        Where it listens; a port of 0 is chosen by the machine, and stays.
    """

    most_waiting_bytes = MOST_WAITING_BYTES

    def __init__(self, proxy: Proxy, host: str, port: int, advertised_host: str) -> None:
        self._proxy = proxy
        self._host = host
        self._port = port
        self._advertised_host = advertised_host
        self._server: asyncio.Server | None = None
        self.connections: set[Http2Connection] = set()
        """Those that stand."""
        self._sweep: asyncio.TimerHandle | None = None
        self._glance: asyncio.TimerHandle | None = None
        self.address = ""
        """``127.0.0.1:8081``, once it listens."""
        if proxy.mode.is_in_broker:
            proxy.node.ports.append(self)
        proxy.node.proxies.append(self)

    async def listen(self) -> None:
        """Begin to listen; `WireError` if the port is taken, or the address is none of this machine."""
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(lambda: Http2Connection(self), self._host, self._port)
        except OSError:
            host = f"[{self._host}]" if ":" in self._host else self._host
            message = f"{host}:{self._port}: can't listen there; choose another --grpc-port or --listen"
            raise WireError(message) from None
        self._port = self._server.sockets[0].getsockname()[1]
        self._proxy.mode.host, self._proxy.mode.port = self._advertised_host, self._port
        self.address = f"{self._advertised_host}:{self._port}"
        self._sweep_later()
        self._proxy.mode.begin()

    def stop(self) -> None:
        """Listen no more, and end every call; what the proxy knew is gone."""
        self._proxy.forget()
        self._proxy.mode.end()
        if self._server is not None:
            self._server.close()
            self._server = None
        for timer in (self._sweep, self._glance):
            if timer is not None:
                timer.cancel()
        self._sweep = self._glance = None
        for connection in list(self.connections):
            connection.abort()

    async def closed(self) -> None:
        """Wait until the port is closed, if it is to be, and each of its connections is gone."""
        while self._server is None and self.connections:
            await asyncio.sleep(0)  # the loop closes their sockets

    # --- what a test may order ----------------------------------------------------------------------------------------

    @property
    def transactions(self) -> int:
        """How many entries of transactions the proxy has."""
        return len(self._proxy.transactions)

    @property
    def producers(self) -> dict[str, list[str]]:
        """By group the ids of the proxy's clients that can be asked."""
        return self._proxy.mode.producers()

    def lose_broker(self) -> None:
        """The broker's process is gone."""
        self._proxy.lose_broker()

    async def restart(self) -> None:
        """Stop the proxy, and start it again on the same port."""
        self.stop()
        await self.closed()
        await self.listen()

    def drop_transaction_data(self) -> int:
        """Forget all transactions; gives how many entries there were."""
        return self._proxy.transactions.clear()

    # --- what its connections tell it ---------------------------------------------------------------------------------

    def opened(self, connection: Http2Connection) -> None:
        """See :class:`wire.proxy.http2.connection.Http2Server`."""
        self.connections.add(connection)
        if self._server is None:  # it came as the port was closed
            connection.abort()

    def closed_by(self, connection: Http2Connection, why: str) -> None:
        """See :class:`wire.proxy.http2.connection.Http2Server`."""
        self.connections.discard(connection)
        if why:
            self._proxy.node.say(f"{connection.address}: connection closed: {why}")

    def foreign(self, start: bytes) -> str:
        """See :class:`wire.proxy.http2.connection.Http2Server`."""
        return line_of_no_grpc(start) if len(start) >= LEAST_BYTES else ""

    def is_held(self) -> bool:
        """While time is pushed, all clients wait."""
        if self._proxy.node.is_pushed and self._glance is None:
            self._glance = asyncio.get_running_loop().call_later(_GLANCE_SECONDS, self._go_on)
        return self._proxy.node.is_pushed

    def open(self, stream: Http2Stream, headers: dict[str, str] | None) -> ServerCall:
        """See :class:`wire.proxy.http2.connection.Http2Server`."""
        wrong = ""
        if headers is None:
            wrong = f"the headers have more than {MOST_HEADER_BYTES} bytes"
        elif len(stream.connection.streams) > MOST_STREAMS:
            wrong = f"{MOST_STREAMS} calls of this connection are open; end some, or open another connection"
        if headers is not None and not wrong:
            return handler_of(self._proxy, stream, headers)
        refused = ServerCall(stream)
        refused.refuse(GrpcStatus.RESOURCE_EXHAUSTED, wrong)
        return refused

    # --- its timers ---------------------------------------------------------------------------------------------------

    def _go_on(self) -> None:
        self._glance = None
        if self.is_held():
            return
        for connection in list(self.connections):
            connection.go_on()

    def _sweep_later(self) -> None:
        seconds = MOST_IDLE_MS / 1_000 / _SWEEP_PART
        self._sweep = asyncio.get_running_loop().call_later(seconds, self._end_what_is_left)

    def _end_what_is_left(self) -> None:
        """End connections without a call, and requests that do not come to an end, for as long as clients may idle."""
        since = asyncio.get_running_loop().time() - MOST_IDLE_MS / 1_000
        for connection in list(self.connections):
            if not connection.streams and connection.active_at <= since:
                connection.end()
            for stream in list(connection.streams.values()):
                call = stream.receiver
                if isinstance(call, HandledCall) and call.is_due and call.began_at <= since:
                    message = f"{call.method.name}: the request did not come to its end within {MOST_IDLE_MS} ms"
                    call.refuse(GrpcStatus.DEADLINE_EXCEEDED, message)
        self._sweep_later()
