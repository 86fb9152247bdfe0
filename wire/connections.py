"""The port that clients connect to, their connections, and the handler that each request finds."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from dataclasses import replace
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final, cast

from reference.client.producer_messages import RemotingError
from reference.errors import BrokerIsDownError
from wire.errors import MalformedFrameError, WireError
from wire.remoting.command import ONEWAY_FLAG, RemotingCommand, decode, encode
from wire.remoting.frames import FrameReader
from wire.requests.clients import notify_group
from wire.requests.handlers import handle
from wire.requests.request import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wire.node.broker_node import BrokerNode
    from wire.remoting.codes import RequestCode

LOOPBACK: Final = "127.0.0.1"
_EVERYWHERE: Final = ("0.0.0.0", "::")  # noqa: S104 - what a user may have asked for

MOST_WAITING_BYTES: Final = 64 << 20
"""The most bytes that wait for a client that reads nothing; beyond it, the connection is closed."""

MOST_IDLE_SECONDS: Final = 120.0
"""``serverChannelMaxIdleTimeSeconds``: what neither sends nor gets anything for so long is closed. A Java client that
has connected anew after a timeout leaves its old connection open, and counts on that."""


class Connection(asyncio.Protocol):
    """A client's connection.

    Parameters
    ----------
    on_command, on_read
        Called for each command that comes, and when all that came at once were.
    on_open, on_close
        Called once each; the second with why it ended where that was the client's fault, else with an empty text.
    """

    def __init__(
        self,
        on_command: Callable[[Connection, RemotingCommand], None],
        on_read: Callable[[], None],
        on_open: Callable[[Connection], None],
        on_close: Callable[[Connection, str], None],
    ) -> None:
        self.address = ""
        """``127.0.0.1:4242`` of the other side, which names the channel."""
        self.is_open = False
        self._on_command = on_command
        self._on_read = on_read
        self._on_open = on_open
        self._on_close = on_close
        self._frames = FrameReader()
        self._transport: asyncio.Transport | None = None
        self._opaque = 0
        self._why = ""
        self._answers: list[bytes] | None = None
        self._loop = asyncio.get_running_loop()
        self._active_at = self._loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self._is_held = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See :class:`asyncio.Protocol`."""
        stream = cast("asyncio.Transport", transport)
        peer = transport.get_extra_info("peername")
        if peer is None:  # it is gone already
            stream.abort()
            return
        host, port = peer[:2]
        self.address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self._transport = stream
        self.is_open = True
        self._watch()
        self._on_open(self)

    def data_received(self, data: bytes) -> None:
        """See :class:`asyncio.Protocol`; what is no frame ends this connection and nothing else."""
        self._answers = []
        self._active_at = self._loop.time()
        try:
            for frame in self._frames.feed(data):
                command = decode(frame)
                if not self.is_open:
                    return
                self._on_command(self, command)
        except MalformedFrameError as error:
            self._flush()
            self.close(str(error))
        finally:
            self._flush()
            self._on_read()

    def connection_lost(self, _: Exception | None) -> None:
        """See :class:`asyncio.Protocol`; whatever ended it."""
        self.is_open = False
        if self._timer is not None:
            self._timer.cancel()
        self._on_close(self, self._why)

    def hold(self) -> None:
        """Read nothing from now on; what the client sends waits."""
        if self.is_open and self._transport is not None:
            self._is_held = True
            self._transport.pause_reading()

    def go_on(self) -> None:
        """Read again."""
        if self.is_open and self._transport is not None and self._is_held:
            self._is_held = False
            self._active_at = self._loop.time()
            self._transport.resume_reading()

    def close(self, why: str = "") -> None:
        """End it now; what waits to be sent is dropped."""
        if self.is_open and self._transport is not None:
            self._why = why
            self.is_open = False
            self._transport.abort()

    def send(self, command: RemotingCommand) -> None:
        """Send a command; nothing happens if the connection has ended."""
        if not self.is_open or self._transport is None:
            return
        if self._answers is not None:
            self._answers.append(encode(command))
        else:
            self._write(encode(command))

    def _flush(self) -> None:
        """Send what was answered to all that came at once."""
        answers, self._answers = self._answers, None
        if answers and self.is_open:
            self._write(b"".join(answers))

    def _write(self, data: bytes) -> None:
        if self._transport is None:
            return
        self._active_at = self._loop.time()
        self._transport.write(data)
        if self._transport.get_write_buffer_size() > MOST_WAITING_BYTES:
            self.close(f"more than {MOST_WAITING_BYTES} bytes wait to be read by it")

    def _watch(self) -> None:
        """Close it where nothing came or went for too long (``NettyRemotingServer``'s ``IdleStateHandler``)."""
        since = self._loop.time() if self._is_held else self._active_at
        left = since + MOST_IDLE_SECONDS - self._loop.time()
        if left > 0:
            self._timer = self._loop.call_later(left, self._watch)
        else:
            self.close(f"nothing came or went for {MOST_IDLE_SECONDS:.0f} s")

    def call_oneway(self, code: RequestCode, fields: Mapping[str, str], body: bytes, version: int) -> str:
        """See :class:`wire.node.surroundings.ClientChannel`."""
        self._opaque += 1
        self.send(RemotingCommand(code, fields, body, self._opaque, ONEWAY_FLAG, version=version))
        return self.address if self.is_open else ""


class Listener:
    """The broker's port, and its name server's.

    Parameters
    ----------
    host, port
        Where it listens.
    advertised
        HOST:PORT that clients are sent to, where that is another one, as before a port that is mapped.
    """

    def __init__(self, node: BrokerNode, host: str, port: int, advertised: str = "") -> None:
        self.address = ""
        """``127.0.0.1:10911``, once it listens."""
        self._node = node
        self._host = host
        self._port = port
        self._advertised = advertised
        self._server: asyncio.Server | None = None
        self._closing: asyncio.Future[None] | None = None
        node.ports.append(self)

    async def listen(self) -> None:
        """Begin to listen; a port of 0 is chosen by the machine, and stays for later processes.

        Raises
        ------
        WireError
            The port is taken, the address is none of this machine, or a name that clients are sent to is none.
        """
        loop = asyncio.get_running_loop()
        ip = ip_of(self.advertised_host)
        try:
            self._server = await loop.create_server(self._connect, self._host, self._port)
        except OSError as error:
            message = (
                f"{self._host}:{self._port}: can't listen there: {error.strerror}; choose another --port or --listen"
            )
            raise WireError(message) from None
        self._port = self._server.sockets[0].getsockname()[1]
        self.address = self._advertised or f"{self.advertised_host}:{self._port}"
        self._node.address = self.address
        store_host = f"{ip}:{self.address.rpartition(':')[2]}"
        if self._node.settings.store_host != store_host:
            self._node.settings = replace(self._node.settings, store_host=store_host)

    @property
    def advertised_host(self) -> str:
        """The host that clients are sent to: as it was asked for, ``brokerIP1``, or the address that is listened on."""
        return self._advertised.rpartition(":")[0] or reachable_host(self._node.start.broker_ip or self._host)

    def stop(self) -> None:
        """Listen no more, and end every connection.

        What was accepted just now becomes a connection first: a server that is closed by then leaves its socket open.
        """
        if self._server is not None:
            loop = asyncio.get_running_loop()
            for port in self._server.sockets:
                loop.remove_reader(port)
            self._closing = loop.create_future()
            loop.call_soon(_close, self._server, self._closing)
            self._server = None
        for connection in list(self._node.connections.values()):
            connection.close()

    async def closed(self) -> None:
        """Wait until a port that is to be closed is, and each connection that has ended is gone."""
        if self._closing is not None:
            await self._closing
        connections = self._node.connections
        while any(not connection.is_open for connection in connections.values()):
            await asyncio.sleep(0)  # the loop closes their sockets

    def _connect(self) -> Connection:
        return Connection(self._take, self._read, self._open, self._close)

    def _open(self, connection: Connection) -> None:
        self._node.connections[connection.address] = connection
        if self._server is None:  # it came as the port was closed
            connection.close()
        elif self._node.is_pushed:
            connection.hold()

    def _close(self, connection: Connection, why: str) -> None:
        node = self._node
        node.connections.pop(connection.address, None)
        node.channels.do_channel_close_event(connection.address)
        node.pulls.forget_connection(connection.address)
        for group in node.consumers.close(connection.address):
            if node.is_up:
                notify_group(node, group)
        if why:
            node.say(f"{connection.address}: connection closed: {why}")

    def _read(self) -> None:
        """Dispatch messages that were just stored before anybody asks for them."""
        if self._node.is_up:
            self._node.run_threads()

    def _take(self, connection: Connection, command: RemotingCommand) -> None:
        if command.is_response:
            return  # nothing that this broker asks of a client is answered
        request = Request(command, connection, self._node.version)
        try:
            answer = handle(self._node, request)
        except (RemotingError, BrokerIsDownError):
            connection.close()
            return
        if answer is not None and not command.is_oneway:
            connection.send(answer)


def reachable_host(host: str) -> str:
    """The host by which this machine reaches what listens on an address, ready to stand before a colon.

    Examples
    --------
    >>> reachable_host("0.0.0.0"), reachable_host("::1")
    ('127.0.0.1', '[::1]')
    """
    reached = LOOPBACK if host in _EVERYWHERE else host
    return f"[{reached}]" if ":" in reached else reached


def ip_of(host: str) -> str:
    """The IP address of a host, as records hold it (``MessageExt#storeHost``); `WireError` if its name is not known.

    Examples
    --------
    >>> ip_of("localhost"), ip_of("[::1]")
    ('127.0.0.1', '[::1]')
    """
    with suppress(ValueError):
        return reachable_host(str(ip_address(host.strip("[]"))))
    try:
        return socket.gethostbyname(host)
    except OSError as error:
        message = f"{host}: clients can't be sent there: {error.strerror}; give an IP address"
        raise WireError(message) from None


def _close(server: asyncio.Server, closed: asyncio.Future[None]) -> None:
    server.close()
    closed.set_result(None)
