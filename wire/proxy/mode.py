"""What differs between the proxy's modes: where its clients are known, and what a broker that is gone means to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wire.node.consumer_groups import Consumer
    from wire.proxy.grpc_client_channel import GrpcClientChannel
    from wire.proxy.refusal import ProxyRefusal
    from wire.remoting.codes import RequestCode


class ProxyMode(Protocol):
    """``ServiceManager``: local mode is :mod:`wire.proxy.local_mode`, cluster mode :mod:`wire.proxy.cluster_mode`."""

    is_in_broker: bool
    """Whether the proxy is in the broker's process, and dies with it."""
    host: str
    port: int
    """Where the proxy listens, for clients."""

    def begin(self) -> None:
        """The proxy's process has started."""

    def end(self) -> None:
        """It is gone."""

    def lose_broker(self) -> None:
        """The broker's process is gone."""

    def endpoints(self, asked: Any) -> Any:
        """Where clients are sent to that have connected to the endpoints `asked` (``#getTopicRouteForProxy``)."""

    def topic_config(self, topic: str) -> dict[str, Any] | None:
        """A topic's settings; None if there is no such topic."""

    def group_config(self, group: str) -> dict[str, Any]:
        """A consumer group's settings; it is made if it is not there (``#getSubscriptionGroupConfig``)."""

    def no_topic_to_pop(self, topic: str) -> ProxyRefusal:
        """The refusal of a pop from a topic that is not there."""

    def attach(self, channel: GrpcClientChannel) -> None:
        """A client's stream stands."""

    def detach(self, client_id: str) -> None:
        """It has ended."""

    def register_producer(self, client_id: str, topics: Sequence[str]) -> None:
        """A client is a producer of topics, each of which is its group (``ClientActivity#registerProducer``)."""

    def producers(self) -> dict[str, list[str]]:
        """By group the clients' ids."""

    def unregister_producer(self, topic: str, client_id: str) -> None:
        """It is none of this topic any more."""

    def register_consumer(self, consumer: Consumer, data: Mapping[str, Any]) -> None:
        """A client consumes in a group, as `data` of a heartbeat says (``ClientActivity#registerConsumer``)."""

    def unregister_consumer(self, group: str, client_id: str) -> None:
        """It does so no more."""

    def require_broker(self, code: Any) -> None:
        """Refuse with a code if the proxy does not know where the broker is (``#resolveBrokerAddr``)."""

    def tell(self, code: RequestCode, fields: Mapping[str, object], address: str) -> None:
        """Send the broker a request one-way for the client at an address; a refusal if that can't be."""

    def status_without_broker(self, call: str, error: Exception) -> Any | None:
        """What a call is answered over which the broker was not reached, or died; None where the proxy dies, too."""
