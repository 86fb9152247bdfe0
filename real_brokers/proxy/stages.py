"""The stages for defects: a real proxy in local mode, two in cluster mode before a real broker, and ours likewise."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from real_brokers.clients.grpc_client import GrpcClient
from real_brokers.loopback import LOOPBACK
from real_brokers.patience import wait_until
from real_brokers.proxy.our_proxies import our_broker
from real_brokers.proxy.real_proxy import VERSION, ClusterProxy, LocalProxy
from real_brokers.proxy.relay import GrpcRelay
from real_brokers.proxy.topics import BrokerOperator
from real_brokers.rocketmq.broker import RealBroker
from reference.format.properties import CHECK_TIMES
from reference.format.system_topics import DISCARD_TOPIC, HALF_TOPIC, OP_TOPIC

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from real_brokers.rocketmq.client import Client
    from reference.format.record import LogRecord
    from wire.client.channel import Address

SETTINGS: Final = {
    "transactionTimeOut": "3000", "transactionCheckInterval": "3000", "transactionCheckMax": "5",
}  # fmt: skip
_FLUSHES_EACH: Final = {"flushDiskType": "SYNC_FLUSH"}
_SCAN: Final = {"transactionHeartbeatPeriodSecond": 2}
"""So often a proxy tells brokers of its producers; 20 s where nobody sets it."""


class StagedBroker(Protocol):
    """A broker that a scenario kills, or lets stand still."""

    @property
    def run(self) -> Path:
        """The folder that everything runs in."""

    @property
    def address(self) -> Address:
        """Its own port."""

    def freeze_broker(self) -> None:
        """It reads nothing any more."""

    def kill_broker(self) -> None:
        """It is gone, with what it has not read."""

    def start_broker(self) -> None:
        """The next process serves."""


class StagedProxy(Protocol):
    """A proxy in cluster mode."""

    def restart(self) -> None:
        """Kill it, and start it again; what it knew is gone."""


@dataclass(frozen=True)
class ProxyStage:
    """A broker, and the proxies before it."""

    broker: StagedBroker
    addresses: tuple[str, ...]
    """Of the proxies, for gRPC clients."""
    proxies: Sequence[StagedProxy]
    """Those that run in processes of their own: none in local mode."""

    @property
    def run(self) -> Path:
        """The folder that everything runs in."""
        return self.broker.run

    @property
    def operator(self) -> BrokerOperator:
        """Asks the broker."""
        return BrokerOperator(self.broker.address)

    def producer(self, *topics: str, address: str = "") -> GrpcClient:
        """A process of the Python client at the first proxy, or at another address; it answers checks with commit."""
        return GrpcClient(address or self.addresses[0], self.run, topics=topics)

    @contextmanager
    def with_half(self, topic: str, address: str = "") -> Iterator[GrpcClient]:
        """A producer of a topic of its own that has made the half `one`."""
        self.operator.make_topic(topic)
        with self.producer(topic, address=address) as producer:
            producer.order(f"send {topic} one leave")
            yield producer

    @contextmanager
    def losing(self, topic: str, *keys: str) -> Iterator[GrpcClient]:
        """A producer at the first proxy whose ENDs for some messages get lost."""
        with (
            GrpcRelay(self.addresses[0], lost=frozenset(keys)) as relay,
            self.producer(topic, address=relay.address) as producer,
        ):
            yield producer

    def halves(self, topic: str) -> list[LogRecord]:
        """The halves of a topic and their copies."""
        return [one for one in self.operator.records(HALF_TOPIC) if one.properties.get("REAL_TOPIC") == topic]

    def places(self, topic: str) -> str:
        """The offsets of a topic's halves and their copies, in the half topic and in the commit log."""
        return "; ".join(f"{one.queue_offset} at {one.physical_offset}" for one in self.halves(topic))

    def checks(self, topic: str) -> int:
        """How many checks the newest copy of a topic's halves counts."""
        return max((int(one.properties.get(CHECK_TIMES, 0)) for one in self.halves(topic)), default=0)

    def settled(self, topic: str) -> list[int]:
        """Which of these op messages name, by their offsets in the half topic."""
        own = {record.queue_offset for record in self.halves(topic)}
        named = {int(each) for op in self.operator.records(OP_TOPIC) for each in op.body.decode().split(",") if each}
        return sorted(own & named)

    def delivered(self, topic: str) -> list[str]:
        """The key and the half's commit log offset of each message in a topic."""
        return [
            f"{record.properties['KEYS']} from the half at {record.prepared_transaction_offset}"
            for record in self.operator.records(topic)
        ]

    def await_delivery(self, topic: str, count: int) -> None:
        """Wait until a topic has so many messages."""
        wait_until(lambda: len(self.operator.records(topic)) >= count, f"{count} messages in {topic}")

    def await_end(self, topic: str) -> str:
        """Wait until the one message of a topic is delivered or discarded, and say which."""

        def discarded() -> bool:
            return any(one.properties.get("REAL_TOPIC") == topic for one in self.operator.records(DISCARD_TOPIC))

        wait_until(lambda: bool(self.operator.records(topic)) or discarded(), f"an end of the message in {topic}")
        return f"discarded behind {self.checks(topic)} checks" if discarded() else self.delivered(topic)[0]

    def await_settled(self, topic: str) -> None:
        """Wait until the newest copy of a topic's halves is settled."""
        wait_until(lambda: self.halves(topic)[-1].queue_offset in self.settled(topic), f"an op message for {topic}")


@dataclass(frozen=True)
class RealClusterStage(ProxyStage):
    """Real proxies before a real broker, which speak remoting, too."""

    broker: RealBroker
    proxies: tuple[ClusterProxy, ...]

    def remoting_client(self) -> Client:
        """A process of the Java client for which the first proxy is name server and broker."""
        return self.broker.client(proxy=f"{LOOPBACK}:{self.proxies[0].remoting_port}")


@contextmanager
def local_stage() -> Iterator[ProxyStage]:
    """A proxy in local mode, whose broker flushes each message before it answers."""
    with LocalProxy("defects", {**SETTINGS, **_FLUSHES_EACH}) as proxy:
        yield ProxyStage(proxy, (proxy.grpc_address,), ())


@contextmanager
def cluster_stage() -> Iterator[RealClusterStage]:
    """A broker, and two proxies in cluster mode before it."""
    with ExitStack() as stack:
        broker = stack.enter_context(RealBroker(VERSION, "defects", SETTINGS))
        proxies = tuple(
            stack.enter_context(ClusterProxy(broker.run, broker.ports.name_server_address, name, _SCAN))
            for name in ("proxy-1", "proxy-2")
        )
        yield RealClusterStage(broker, tuple(proxy.grpc_address for proxy in proxies), proxies)


@contextmanager
def our_cluster_stage() -> Iterator[ProxyStage]:
    """Our broker of that release with two proxies before it (``--proxies 2``), and the same settings; in real time."""
    with our_broker(VERSION, SETTINGS, heartbeat_ms=1_000 * _SCAN["transactionHeartbeatPeriodSecond"]) as broker:
        yield ProxyStage(broker, broker.grpc_addresses, broker.proxies)
