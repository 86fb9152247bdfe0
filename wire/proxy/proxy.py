"""The proxy's memory: its clients with their settings and streams, and what it knows of transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reference.proxy.transaction_data import TransactionDataManager
from wire.proxy.client_settings import ClientSettings, completed
from wire.proxy.grpc_client_channel import GrpcClientChannel, TelemetryStream

if TYPE_CHECKING:
    from wire.node.broker_node import BrokerNode
    from wire.pop.pop_consumption import PopConsumption
    from wire.proxy.mode import ProxyMode


class Proxy:
    """One process of it; none of what it knows outlives that.

    Parameters
    ----------
    node
        The broker that it stands before.
    pops
        That broker's POP consumption.
    mode
        Local mode, or cluster mode.
    """

    def __init__(self, node: BrokerNode, pops: PopConsumption, mode: ProxyMode) -> None:
        self.node = node
        self.pops = pops
        self.mode = mode
        self.settings = ClientSettings()
        self.transactions = TransactionDataManager(node.clock)
        self.next_queue: dict[str, int] = {}
        """By topic the queue that the next message goes to."""
        self._channels: dict[str, GrpcClientChannel] = {}
        self._missed: set[str] = set()

    def miss(self, topic: str) -> None:
        """Say once of a topic that clients ask for it and nobody has made it: not all of them say so themselves."""
        if topic not in self._missed:
            self._missed.add(topic)
            self.node.say(
                f"a gRPC client asks for the topic {topic!r}, which is not there: make it before the client starts, "
                f"by the order topic name={topic} type=TRANSACTION (in pytest, create_topic)"
            )

    def complete_settings(self, client_id: str) -> Any | None:
        """A client's settings with what the proxy decides; None before it has sent any (``#getClientSettings``)."""
        settings = self.settings.get(client_id)
        if settings is None:
            return None
        has_group = settings.HasField("subscription") and settings.subscription.group.name
        return completed(settings, self.mode.group_config(settings.subscription.group.name) if has_group else None)

    def channel(self, client_id: str) -> GrpcClientChannel | None:
        """A client whose stream stands."""
        return self._channels.get(client_id)

    def attach(self, client_id: str, stream: TelemetryStream) -> GrpcClientChannel:
        """A client is reached over this stream from now on (``GrpcClientChannel#setClientObserver``)."""
        channel = self._channels.get(client_id)
        if channel is None:
            channel = self._channels[client_id] = GrpcClientChannel(client_id, stream, self.transactions)
            self.mode.attach(channel)
        elif channel.stream is not stream:
            channel.stream.end()
            channel.stream = stream
        return channel

    def detach(self, client_id: str, stream: TelemetryStream) -> None:
        """A stream has ended, and with it what is known of its client."""
        channel = self._channels.get(client_id)
        if channel is None or channel.stream is not stream:
            return
        del self._channels[client_id]
        self.mode.detach(client_id)
        self.pops.release(self.receipt_owner(client_id))
        self.settings.leave(client_id)

    def receipt_owner(self, client_id: str) -> str:
        """For whom this proxy, and no other, renews a client's receipts (``DefaultReceiptHandleManager``)."""
        return f"{client_id} at {self.mode.port}"

    def lose_broker(self) -> None:
        """The broker's process is gone."""
        self.mode.lose_broker()
        if self.mode.is_in_broker:
            self.forget()

    def forget(self) -> None:
        """Its process is gone."""
        for channel in list(self._channels.values()):
            channel.close()
            self.detach(channel.address, channel.stream)
        self.settings.clear()
        self.transactions.clear()
