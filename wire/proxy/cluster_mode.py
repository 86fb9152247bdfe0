"""Cluster mode: the proxy is a process of its own, and one producer of its topics to the broker.

``ClusterServiceManager``, ``ClusterTransactionService``, ``ClusterMessageService``, ``ClusterTopicRouteService``.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from reference.client.producer_messages import RemotingError
from reference.errors import BrokerIsDownError
from reference.simulation.scheduler import Sleep, Steps
from reference.versions.versions import switches_of
from wire.node.producer_channels import ProducerChannels
from wire.proxy.broker_calls import ask_broker, at_broker
from wire.proxy.broker_route import BrokerRoute
from wire.proxy.local_mode import group_config_at
from wire.proxy.message_types import type_of_topic
from wire.proxy.protocol.messages import Address, AddressScheme, Code, Endpoints, Status
from wire.proxy.proxy_connection import ProxyConnection
from wire.proxy.refusal import ProxyRefusal, no_route, thrown
from wire.remoting.codes import RequestCode
from wire.remoting.command import ONEWAY_FLAG, RemotingCommand
from wire.requests.clients import heart_beat
from wire.requests.request import Request, body_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wire.node.broker_node import BrokerNode
    from wire.node.consumer_groups import Consumer
    from wire.proxy.grpc_client_channel import GrpcClientChannel

RELEASE: Final = "5.5.0"
"""Of the proxy, whatever the broker's is."""

CLIENT_ID: Final = "rmq-proxy-producer-client"
"""``TRANS_HEARTBEAT_CLIENT_ID``: each proxy gives itself this id."""

_SCAN_MS: Final = 10_000
_EXPIRED_MS: Final = 120_000
"""``ClientHousekeepingService``, and ``ProducerManager.CHANNEL_EXPIRED_TIMEOUT``."""

_NETTY: Final = "org.apache.rocketmq.remoting.netty"
_NO_CONNECTION: Final = (
    "connect to {} failed. RemotingConnectException. {}.NettyRemotingClient.lambda$invokeAsync$1"
    "(NettyRemotingClient.java:761)"
)
_NO_CONNECTION_FOR: Final = dict.fromkeys(
    ("SendMessage", "ForwardMessageToDeadLetterQueue"),
    "connect to {} failed. RemotingConnectException. {}.NettyRemotingClient.lambda$invoke$5"
    "(NettyRemotingClient.java:817)",
)
_CONNECTION_ENDED: Final = (
    "send request to </{}> failed. RemotingSendRequestException. {}.ResponseFuture.executeInvokeCallback"
    "(ResponseFuture.java:70)"
)
"""With the places of 5.5.0, as it says them (``ExceptionUtils#getErrorDetailMessage``)."""


@dataclass(slots=True)
class _Heard:
    """What the broker keeps of the groups that it has first heard of in one heartbeat (``ClientChannelInfo``).

    Each group of them that a later heartbeat names keeps all of them from being expired.
    """

    at: int


class ClusterMode:
    """See :class:`wire.proxy.mode.ProxyMode`.

    Parameters
    ----------
    heartbeat_ms
        ``transactionHeartbeatPeriodSecond``, in the broker's time.
    """

    is_in_broker = False

    def __init__(self, node: BrokerNode, heartbeat_ms: int) -> None:
        self._node = node
        self._heartbeat_ms = heartbeat_ms
        self.host, self.port = "", 0
        self._producers = ProducerChannels(switches_of(RELEASE))
        self._clients: dict[str, GrpcClientChannel] = {}
        self._subscribed: dict[str, None] = {}
        self._connection: ProxyConnection | None = None
        self._heard: dict[str, _Heard] = {}
        self._route = BrokerRoute(node.clock, lambda: node.is_up)
        self._cluster_route = BrokerRoute(node.clock, lambda: node.is_up)
        self._topics: dict[str, dict[str, Any]] = {}
        self._groups: dict[str, dict[str, Any]] = {}

    # --- the process --------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Start its heartbeats, the first of which comes a whole period later."""
        self._node.scheduler.start(f"heartbeat of proxy {self.port}", self._send_heartbeats(), self)
        self._node.scheduler.start(f"expiry of proxy {self.port}", self._expire(), self)
        self._node.poke()

    def end(self) -> None:
        """The broker sees the connection end."""
        self._node.scheduler.kill(self)
        self.lose_broker()
        self._subscribed.clear()
        self._route.forget()
        self._cluster_route.forget()
        self._topics, self._groups = {}, {}

    def lose_broker(self) -> None:
        """Of the next process no proxy is a producer before its next heartbeat."""
        if self._connection is not None:
            self._connection.close()

    def _send_heartbeats(self) -> Steps[None]:
        while True:
            yield Sleep(self._heartbeat_ms)
            self._send_heartbeat()

    def _send_heartbeat(self) -> None:
        """Name to the broker all groups that have a producer here (``#scanProducerHeartBeat``).

        A broker that was gone when the route of its cluster was asked for hears nothing while that is kept.
        """
        online, node = self._producers.groups(), self._node
        self._subscribed = {group: None for group in self._subscribed if group in online}
        if not self._subscribed or not self._cluster_route.is_known() or not node.is_up:
            return
        connection = self._connected()
        body = body_of({"clientID": CLIENT_ID, "producerDataSet": [{"groupName": each} for each in self._subscribed]})
        command = RemotingCommand(int(RequestCode.HEART_BEAT), {}, body, flag=ONEWAY_FLAG, version=node.version)
        with suppress(RemotingError):
            node.serve(node.broker, lambda: heart_beat(node, Request(command, connection, node.version)))
            heard = _Heard(node.clock.now)
            for group in self._subscribed:
                self._heard.setdefault(group, heard).at = heard.at

    def _connected(self) -> ProxyConnection:
        if self._connection is None:
            address = f"{self.host}:{self.port}"
            self._connection = ProxyConnection(address, self._producers, self._clients, self._disconnected)
            self._node.connections[address] = self._connection
        return self._connection

    def _disconnected(self) -> None:
        connection, self._connection = self._connection, None
        self._heard.clear()
        if connection is not None:
            self._node.connections.pop(connection.address, None)
            self._node.channels.do_channel_close_event(connection.address)

    def _expire(self) -> Steps[None]:
        """The broker closes a connection that has not named one of its groups for too long, and forgets them all.

        ``ProducerManager#scanNotActiveChannel``. It does so to every client; the others keep real time, and are spared.
        """
        while True:
            yield Sleep(_SCAN_MS)
            if any(self._node.clock.now - heard.at > _EXPIRED_MS for heard in self._heard.values()):
                self.lose_broker()

    # --- what it knows of topics and groups ---------------------------------------------------------------------------

    def endpoints(self, asked: Any) -> Any:
        """Those that were asked, with the proxy's port; a client that names none is sent nowhere."""
        addresses = [Address(host=each.host, port=self.port) for each in asked.addresses]
        return Endpoints(scheme=asked.scheme if addresses else AddressScheme.IPv4, addresses=addresses)

    def topic_config(self, topic: str) -> dict[str, Any] | None:
        """As the broker has it, or had it last."""
        if self._node.is_up:
            self._topics = self._node.broker.topic_config_manager.table
        return self._topics.get(topic)

    def group_config(self, group: str) -> dict[str, Any]:
        """As the broker has it, or had it last; the usual settings where nobody has said."""
        if not self._node.is_up:
            return self._groups.get(group, {})
        config = at_broker(self._node, lambda: group_config_at(self._node, group))
        self._groups[group] = config
        return config

    def no_topic_to_pop(self, topic: str) -> ProxyRefusal:
        """The proxy finds no route."""
        return no_route(topic)

    # --- its clients --------------------------------------------------------------------------------------------------

    def attach(self, channel: GrpcClientChannel) -> None:
        """The broker hears nothing of it."""
        self._clients[channel.address] = channel

    def detach(self, client_id: str) -> None:
        """A group without a producer is in no heartbeat any more; to the broker the proxy stays one of it."""
        del self._clients[client_id]
        self._producers.do_channel_close_event(client_id)

    def register_producer(self, client_id: str, topics: Sequence[str]) -> None:
        """Only a topic of the type TRANSACTION gets into heartbeats: of one that is MIXED nobody is ever asked."""
        for topic in topics:
            self._producers.register_producer(topic, client_id)
            if type_of_topic(self.topic_config(topic)) == "TRANSACTION":
                self._subscribed[topic] = None

    def producers(self) -> dict[str, list[str]]:
        """Those of this proxy."""
        return self._producers.groups()

    def unregister_producer(self, topic: str, client_id: str) -> None:
        """See :meth:`detach`."""
        self._producers.unregister_producer(topic, client_id)

    def register_consumer(self, consumer: Consumer, data: Mapping[str, Any]) -> None:
        """Proxies tell each other (``HeartbeatSyncer``), for remoting clients that ask; gRPC clients do not."""

    def unregister_consumer(self, group: str, client_id: str) -> None:
        """See :meth:`register_consumer`."""

    # --- the broker ---------------------------------------------------------------------------------------------------

    def require_broker(self, code: Any) -> None:
        """An address that is known may be that of a broker which is gone."""
        if not self._route.is_known():
            raise thrown(code, f"cannot find broker {self._node.settings.broker_name}")

    def tell(self, code: RequestCode, fields: Mapping[str, object], address: str) -> None:
        """What does not arrive is lost without a word (``NettyRemotingClient#invokeOneway``)."""
        self.require_broker(Code.BAD_REQUEST)
        with suppress(RemotingError, BrokerIsDownError):
            ask_broker(self._node, code, fields, address=address, is_oneway=True)

    def status_without_broker(self, call: str, error: Exception) -> Any:
        """INTERNAL_SERVER_ERROR: no connection could be made, or the one over which the request went has ended."""
        template = _NO_CONNECTION_FOR.get(call, _NO_CONNECTION)
        if not isinstance(error, BrokerIsDownError):
            template = _CONNECTION_ENDED
        return Status(code=Code.INTERNAL_SERVER_ERROR, message=template.format(self._node.address, _NETTY))
