"""The proxy's memory: its clients with their settings and streams, and what it knows of transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reference.proxy.transaction_data import TransactionDataManager
from wire.proxy.client_settings import ClientSettings, completed
from wire.proxy.grpc_client_channel import GrpcClientChannel, TelemetryStream
from wire.requests.clients import notify_group

if TYPE_CHECKING:
    from wire.node.broker_node import BrokerNode
    from wire.pop.pop_consumption import PopConsumption


class Proxy:
    """One process of it; none of what it knows outlives that.

    Parameters
    ----------
    node
        The broker that it stands before.
    pops
        That broker's POP consumption.
    """

    def __init__(self, node: BrokerNode, pops: PopConsumption) -> None:
        self.node = node
        self.pops = pops
        self.host, self.port = "", 0
        """Where clients are sent to, for all their calls."""
        self.settings = ClientSettings()
        self.transactions = TransactionDataManager(node.clock)
        self.next_queue: dict[str, int] = {}
        """By topic the queue that the next message goes to."""
        self._channels: dict[str, GrpcClientChannel] = {}

    def group_config(self, group: str) -> dict[str, Any]:
        """A consumer group's settings; it is made if it is not there (``#getSubscriptionGroupConfig``)."""
        groups = self.node.broker.subscription_group_manager
        groups.create(group)
        return groups.table[group]

    def topic_config(self, topic: str) -> dict[str, Any] | None:
        """A topic's settings; None if there is no such topic."""
        return self.node.broker.topic_config_manager.table.get(topic)

    def complete_settings(self, client_id: str) -> Any | None:
        """A client's settings with what the proxy decides; None before it has sent any (``#getClientSettings``)."""
        settings = self.settings.get(client_id)
        if settings is None:
            return None
        has_group = settings.HasField("subscription") and settings.subscription.group.name
        return completed(settings, self.group_config(settings.subscription.group.name) if has_group else None)

    def channel(self, client_id: str) -> GrpcClientChannel | None:
        """A client whose stream stands."""
        return self._channels.get(client_id)

    def attach(self, client_id: str, stream: TelemetryStream) -> GrpcClientChannel:
        """A client is reached over this stream from now on (``GrpcClientChannel#setClientObserver``)."""
        channel = self._channels.get(client_id)
        if channel is None:
            channel = self._channels[client_id] = GrpcClientChannel(client_id, stream, self.transactions)
            self.node.connections[client_id] = channel
        elif channel.stream is not stream:
            channel.stream.end()
            channel.stream = stream
        return channel

    def detach(self, client_id: str, stream: TelemetryStream) -> None:
        """A stream has ended, and with it what the broker knows of its client."""
        channel = self._channels.get(client_id)
        if channel is None or channel.stream is not stream:
            return
        del self._channels[client_id]
        node = self.node
        node.connections.pop(client_id, None)
        node.channels.do_channel_close_event(client_id)
        for group in node.consumers.close(client_id):
            if node.is_up:
                notify_group(node, group)
        self.pops.release(client_id)

    def forget(self) -> None:
        """Its process is gone."""
        for channel in list(self._channels.values()):
            channel.close()
            self.detach(channel.address, channel.stream)
        self.settings.clear()
        self.transactions.clear()
