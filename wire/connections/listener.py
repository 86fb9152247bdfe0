"""The port that clients connect to: connections come and go, and each request finds its handler."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reference.client.producer_messages import RemotingError
from reference.errors import BrokerIsDownError
from wire.connections.connection import Connection
from wire.errors import WireError
from wire.requests.clients import notify_group
from wire.requests.handlers import handle
from wire.requests.request import Request

if TYPE_CHECKING:
    from wire.node.broker_node import BrokerNode
    from wire.remoting.command import RemotingCommand


LOOPBACK: Final = "127.0.0.1"
_EVERYWHERE: Final = ("0.0.0.0", "::")  # noqa: S104 - what a user may have asked for


class Listener:
    """The broker's port, and its name server's.

    Attributes
    ----------
    address
        ``127.0.0.1:10911``, once it listens.
    """

    def __init__(self, node: BrokerNode, host: str, port: int) -> None:
        self.address = ""
        self._node = node
        self._host = host
        self._port = port
        self._server: asyncio.Server | None = None
        self._closing: asyncio.Future[None] | None = None
        node.on_death = self.stop
        node.on_settle = self.closed
        node.on_return = self.listen

    async def listen(self) -> None:
        """Begin to listen; a port of 0 is chosen by the machine, and stays for later processes.

        Raises
        ------
        WireError
            The port is taken, or the address is none of this machine.
        """
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(self._connect, self._host, self._port)
        except OSError as error:
            message = (
                f"{self._host}:{self._port}: can't listen there: {error.strerror}; choose another --port or --listen"
            )
            raise WireError(message) from None
        self._port = self._server.sockets[0].getsockname()[1]
        self.address = f"{self._advertised_host}:{self._port}"
        if self._node.settings.store_host != self.address:
            self._node.settings = replace(self._node.settings, store_host=self.address)

    @property
    def _advertised_host(self) -> str:
        """The host that clients are sent to: ``brokerIP1``, or else the address that is listened on."""
        host = self._node.start.broker_ip or (LOOPBACK if self._host in _EVERYWHERE else self._host)
        return f"[{host}]" if ":" in host else host

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
        """What was just stored is in its queue before anybody asks for it."""
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


def _close(server: asyncio.Server, closed: asyncio.Future[None]) -> None:
    server.close()
    closed.set_result(None)
