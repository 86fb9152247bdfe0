"""The connection of a proxy in cluster mode on which the broker knows it as a producer, and asks it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.format.properties import PRODUCER_GROUP
from wire.remoting.codes import RequestCode
from wire.remoting.messages import decode_records

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wire.node.producer_channels import ProducerChannels
    from wire.proxy.grpc_client_channel import GrpcClientChannel
    from wire.remoting.command import RemotingCommand


class ProxyConnection:
    """One connection, until its first end; a check goes on to one of the proxy's clients.

    ``transactionClientAPIFactory``, ``ProxyClientRemotingProcessor#checkTransactionState``.

    Parameters
    ----------
    address
        By which the broker knows it.
    producers, clients
        The proxy's producers by their groups, and its clients whose streams stand by their ids.
    on_close
        Called when it ends.
    """

    def __init__(
        self,
        address: str,
        producers: ProducerChannels,
        clients: Mapping[str, GrpcClientChannel],
        on_close: Callable[[], None],
    ) -> None:
        self.address = address
        self.is_open = True
        self._producers = producers
        self._clients = clients
        self._on_close = on_close

    def send(self, command: RemotingCommand) -> None:
        """A heartbeat is one-way; nobody waits for its answer."""

    def call_oneway(self, code: RequestCode, fields: Mapping[str, str], body: bytes, version: int) -> str:
        """Ask some producer of the group; without one the check is dropped."""
        if not self.is_open or code != RequestCode.CHECK_TRANSACTION_STATE:
            return ""
        (record,) = decode_records(body)
        channel = self._producers.get_available_channel(record.properties.get(PRODUCER_GROUP))
        client = self._clients.get(channel or "")
        return "" if client is None else client.call_oneway(code, fields, body, version)

    def close(self) -> None:
        """End it, for both sides at once."""
        if self.is_open:
            self.is_open = False
            self._on_close()

    def hold(self) -> None:
        """The proxy's clients wait by themselves while time is pushed."""

    def go_on(self) -> None:
        """See :meth:`hold`."""
