"""The proxies that a gRPC client is led before, with their brokers: ours and the real one, in each mode."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from real_brokers.proxy.real_proxy import ClusterProxy, LocalProxy
from real_brokers.proxy.relay import GrpcRelay
from real_brokers.proxy.topics import BrokerOperator
from real_brokers.rocketmq.broker import RealBroker
from tests.wire.clients.pacer import Pacer
from wire.broker_thread import BrokerThread
from wire.client.channel import Address
from wire.node.start import Start
from wire.service import ServicePorts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

LOST: Final = "lost"
"""The key of the message whose first END_TRANSACTION gets lost."""

_CONF: Final = {"transactionTimeOut": 60_000, "transactionCheckInterval": 10_000, "transactionCheckMax": 3}
_SETTLE_MS: Final = 30_000
_PATIENCE_SECONDS: Final = 90.0
_REAL_CONF: Final = {
    "transactionTimeOut": "3000", "transactionCheckInterval": "2000", "transactionCheckMax": "3",
    "timerWheelEnable": "true",
}  # fmt: skip
"""Without a timer wheel a broker lets nobody pop."""
_REAL_SETTLE_SECONDS: Final = 30.0
_AGES_MS: Final = 600_000
_NEWEST: Final = "5.5.1"
"""A release without a proxy of its own."""
_SCAN: Final = {"transactionHeartbeatPeriodSecond": 2}


@dataclass(frozen=True, slots=True)
class LedProxy:
    """A proxy and its broker, which run.

    Attributes
    ----------
    address
        Where gRPC clients connect to.
    operator
        Asks the broker.
    crash
        Kill both; they start again, at once or by themselves, and no half is checked until the next order.
    is_up
        Whether clients reach them.
    go_on
        Let halves be checked again: the broker knows of a producer.
    settle
        Wait until what comes too often has come, and consumers' offsets are saved.
    befell
        How often a fault befell something, by its name.
    """

    address: str
    operator: BrokerOperator
    crash: Callable[[], None]
    is_up: Callable[[], bool]
    go_on: Callable[[], None]
    settle: Callable[[], None]
    befell: Callable[[], dict[str, int]]


def our_proxy(folder: Path) -> AbstractContextManager[LedProxy]:
    """``--grpc-port`` of our broker 5.5.0."""
    return _ours(folder / "local", None)


def our_proxies(folder: Path) -> AbstractContextManager[LedProxy]:
    """The first of two in cluster mode before our broker 5.5.0."""
    return _ours(folder / "cluster", 2)


@contextmanager
def _ours(folder: Path, proxies: int | None) -> Iterator[LedProxy]:
    """Our broker, whose time passes while a producer is known, in a folder that is made."""
    folder.mkdir()
    conf = folder / "broker.conf"
    conf.write_text("".join(f"{key}={value}\n" for key, value in _CONF.items()), encoding="utf-8")
    start = Start.of("5.5.0", folder / "store", conf, speed=None)
    with BrokerThread(start, ports=ServicePorts(grpc_port=0, proxies=proxies), trace=folder / "trace.jsonl") as broker:
        controller = broker.controller
        controller.fault("lose_end", key=LOST)

        def crash() -> None:
            controller.crash()
            if proxies is not None:
                controller.restart_proxy()

        with Pacer(controller, [], "Orders", by_proxy=True) as pacer:  # the group of a gRPC producer is its topic
            yield LedProxy(
                broker.grpc_address,
                BrokerOperator(Address.of(broker.address)),
                crash,
                lambda: bool(controller.status()["is_up"]),
                lambda: None,  # so does the pacer by itself
                lambda: pacer.let_pass(_SETTLE_MS, _PATIENCE_SECONDS),
                lambda: controller.status()["befell"],
            )


@contextmanager
def local_proxy(_folder: Path) -> Iterator[LedProxy]:
    """The real proxy in local mode, with the broker in its process."""
    with LocalProxy("wire", _REAL_CONF) as proxy, _behind_relay(proxy.grpc_address, proxy, proxy.kill) as led:
        yield led


@contextmanager
def cluster_proxy(_folder: Path) -> Iterator[LedProxy]:
    """The real proxy in cluster mode, before a real broker of the newest release."""
    with (
        RealBroker(_NEWEST, "wire", _REAL_CONF) as broker,
        ClusterProxy(broker.run, broker.ports.name_server_address, settings=_SCAN) as proxy,
    ):

        def crash() -> None:
            broker.kill()
            proxy.restart()

        with _behind_relay(proxy.grpc_address, broker, crash) as led:
            yield led


@contextmanager
def _behind_relay(address: str, broker: RealBroker, crash: Callable[[], None]) -> Iterator[LedProxy]:
    operator = BrokerOperator(broker.address)
    with GrpcRelay(address, lost=frozenset({LOST})) as relay:

        def crash_unchecked() -> None:
            operator.change(transactionTimeOut=_AGES_MS)
            with relay.away():
                crash()

        yield LedProxy(
            relay.address,
            operator,
            crash_unchecked,
            lambda: True,
            lambda: operator.change(transactionTimeOut=_REAL_CONF["transactionTimeOut"]),
            lambda: time.sleep(_REAL_SETTLE_SECONDS),
            lambda: {"lose_end": relay.ends_lost},
        )
