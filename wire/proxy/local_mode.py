"""Local mode: the proxy is in the broker's process, and its clients are the broker's (``LocalServiceManager``)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from wire.proxy.broker_calls import ask_broker, at_broker
from wire.proxy.protocol.messages import Address, AddressScheme, Code, Endpoints
from wire.proxy.refusal import ProxyRefusal
from wire.requests.clients import notify_group

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wire.node.broker_node import BrokerNode
    from wire.node.consumer_groups import Consumer
    from wire.proxy.grpc_client_channel import GrpcClientChannel
    from wire.remoting.codes import RequestCode

_NUMBERS: Final = re.compile(r"[\d.]+")


class LocalMode:
    """See :class:`wire.proxy.mode.ProxyMode`."""

    is_in_broker = True

    def __init__(self, node: BrokerNode) -> None:
        self._node = node
        self.host, self.port = "", 0

    def begin(self) -> None:
        """Nothing runs beside the broker's own threads."""

    def end(self) -> None:
        """See :meth:`begin`."""

    def lose_broker(self) -> None:
        """The proxy is gone as well."""

    def endpoints(self, _: Any) -> Any:
        """The broker's host with the proxy's port, whatever was asked (``LocalTopicRouteService``)."""
        host = self.host.strip("[]")
        scheme = AddressScheme.IPv6 if ":" in host else AddressScheme.DOMAIN_NAME
        if _NUMBERS.fullmatch(host):
            scheme = AddressScheme.IPv4
        return Endpoints(scheme=scheme, addresses=[Address(host=host, port=self.port)])

    def topic_config(self, topic: str) -> dict[str, Any] | None:
        """The broker's own."""
        return self._node.broker.topic_config_manager.table.get(topic)

    def group_config(self, group: str) -> dict[str, Any]:
        """The broker's own."""
        return at_broker(self._node, lambda: group_config_at(self._node, group))

    def no_topic_to_pop(self, topic: str) -> ProxyRefusal:
        """The broker refuses it."""
        return ProxyRefusal(Code.INTERNAL_SERVER_ERROR, f"topic[{topic}] not exist, apply first please!")

    def attach(self, channel: GrpcClientChannel) -> None:
        """The broker asks the client itself."""
        self._node.connections[channel.address] = channel

    def detach(self, client_id: str) -> None:
        """The broker forgets the client."""
        node = self._node
        node.connections.pop(client_id, None)
        node.channels.do_channel_close_event(client_id)
        for group in node.consumers.close(client_id):
            if node.is_up:
                notify_group(node, group)

    def register_producer(self, client_id: str, topics: Sequence[str]) -> None:
        """The client is one of the broker's producers at once."""

        def register() -> None:
            for topic in topics:
                self._node.channels.register_producer(topic, client_id)

        at_broker(self._node, register)

    def producers(self) -> dict[str, list[str]]:
        """The broker's own."""
        return self._node.channels.groups()

    def unregister_producer(self, topic: str, client_id: str) -> None:
        """See :meth:`register_producer`."""
        self._node.channels.unregister_producer(topic, client_id)

    def register_consumer(self, consumer: Consumer, data: Mapping[str, Any]) -> None:
        """The client is one of the broker's consumers."""
        if at_broker(self._node, lambda: self._node.consumers.register(consumer, data)):
            notify_group(self._node, str(data["groupName"]))

    def unregister_consumer(self, group: str, client_id: str) -> None:
        """See :meth:`register_consumer`."""
        if self._node.consumers.unregister(group, client_id):
            notify_group(self._node, group)

    def require_broker(self, _: Any) -> None:
        """It is in this process."""

    def tell(self, code: RequestCode, fields: Mapping[str, object], address: str) -> None:
        """What the broker answers, nobody asks."""
        ask_broker(self._node, code, fields, address=address, is_oneway=True)

    def status_without_broker(self, _call: str, _error: Exception) -> None:
        """The call ends without an answer."""


def group_config_at(node: BrokerNode, group: str) -> dict[str, Any]:
    """A group's settings at a broker, which makes it if it is not there."""
    groups = node.broker.subscription_group_manager
    groups.create(group)
    return groups.table[group]
