"""A gRPC client led through its scenario, against our broker, or real ones behind a real proxy in each mode."""

from __future__ import annotations

import json
import subprocess
import time
from typing import TYPE_CHECKING, Any, Final

from conformance.releases.jars import GRPC_CLIENTS, fetched_jars
from conformance.releases.jvm import client_command, java_command
from real_brokers.clients.grpc_client import SOURCES, home_in, python_client
from real_brokers.proxy.real_proxy import VERSION, ClusterProxy, LocalProxy
from real_brokers.proxy.relay import GrpcRelay
from real_brokers.proxy.topics import BrokerOperator
from real_brokers.rocketmq.broker import RealBroker
from wire.broker_thread import BrokerThread
from wire.client.channel import Address
from wire.node.start import Start
from wire.service import ServicePorts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

GRPC_NAMES: Final = ("grpc-python", *GRPC_CLIENTS)
"""Of the clients: one in Python, and one of each release in Java."""

EXPECTED: Final[dict[str, Any]] = {
    "checks": {"checked": 1, "checked-twice": 2, "lost": 1, "never-known": 3},
    "deliveries": {
        "committed": [1], "checked": [1], "checked-twice": [1], "lost": [1], "plain": [1], "failing": [1, 2],
        "poison": [1, 2],
    },
    "dead letters": ["poison"],
    "befell": {"lose_end": 1},
}  # fmt: skip
"""What each client gets; a poisoned message is tried twice (``retryMaxTimes=1``), one that is never known is asked for
three times (``transactionCheckMax``)."""

OURS, LOCAL, CLUSTER = "our broker with --grpc-port", "the real proxy in local mode", "the real proxy in cluster mode"
"""Before whom it is led."""

DIFFERENCES: Final[dict[str, dict[str, Any]]] = {OURS: {}, LOCAL: {}, CLUSTER: {}}
"""What else a client gets there, and why stands in docs/broker.md."""

_KEY_OF_LOST: Final = "lost"
_SPEED: Final = 20.0
_PATIENCE_SECONDS: Final = 60
_DEAD_LETTER_SECONDS: Final = 20
_CONF: Final = {"transactionTimeOut": 60_000, "transactionCheckInterval": 10_000, "transactionCheckMax": 3}
_REAL_CONF: Final = {
    "transactionTimeOut": "3000", "transactionCheckInterval": "2000", "transactionCheckMax": "3",
    "timerWheelEnable": "true",
}  # fmt: skip
"""Without a timer wheel a broker lets nobody pop."""
_SCAN: Final = {"transactionHeartbeatPeriodSecond": 2}


def lead_grpc(name: str, where: str, folder: Path) -> dict[str, Any]:
    """Lead a client, and give what it got, with the dead letters and the faults that befell something."""
    return {OURS: _lead_ours, LOCAL: _lead_local, CLUSTER: _lead_cluster}[where](name, folder)


def expected_before(where: str) -> dict[str, Any]:
    """What a client is to get there."""
    return {**EXPECTED, **DIFFERENCES[where]}


def _lead_ours(name: str, folder: Path) -> dict[str, Any]:
    conf = folder / "broker.conf"
    conf.write_text("".join(f"{key}={value}\n" for key, value in _CONF.items()), encoding="utf-8")
    start = Start.of("5.5.0", folder / "store", conf, speed=_SPEED)
    with BrokerThread(start, ports=ServicePorts(grpc_port=0), trace=folder / "trace.jsonl") as broker:
        broker.controller.fault("lose_end", key=_KEY_OF_LOST)
        outcome = _led(name, folder, broker.grpc_address, BrokerOperator(Address.of(broker.address)))
        outcome["befell"] = broker.controller.status()["befell"]
    return outcome


def _lead_local(name: str, folder: Path) -> dict[str, Any]:
    with LocalProxy("wire", _REAL_CONF) as proxy:
        return _led_through_relay(name, folder, proxy.grpc_address, BrokerOperator(proxy.address))


def _lead_cluster(name: str, folder: Path) -> dict[str, Any]:
    with (
        RealBroker(VERSION, "wire", _REAL_CONF) as broker,
        ClusterProxy(broker.run, broker.ports.name_server_address, settings=_SCAN) as proxy,
    ):
        return _led_through_relay(name, folder, proxy.grpc_address, BrokerOperator(broker.address))


def _led_through_relay(name: str, folder: Path, address: str, operator: BrokerOperator) -> dict[str, Any]:
    with GrpcRelay(address, lost=frozenset({_KEY_OF_LOST})) as relay:
        outcome = _led(name, folder, relay.address, operator)
        outcome["befell"] = {"lose_end": relay.ends_lost}
    return outcome


def _led(name: str, folder: Path, address: str, operator: BrokerOperator) -> dict[str, Any]:
    operator.make_topic("Orders", "TRANSACTION", 4)
    operator.make_topic("Plain", "NORMAL", 4)
    operator.make_group("readers", retryMaxTimes=1)
    with (folder / "client.err").open("ab") as err:
        done = subprocess.run(
            [*_command(name, folder), address, str(_PATIENCE_SECONDS)],
            stdout=subprocess.PIPE, stderr=err, cwd=folder, env=home_in(folder), text=True,
            timeout=3 * _PATIENCE_SECONDS, check=False,
        )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    outcome: dict[str, Any] = json.loads(lines[-1]) if lines else {"said": done.stdout[-500:]}
    outcome["dead letters"] = _dead_letters(operator)
    return outcome


def _dead_letters(operator: BrokerOperator) -> list[str]:
    """Their keys; a proxy in cluster mode says so after its client has left."""
    end = time.monotonic() + _DEAD_LETTER_SECONDS
    while not (found := operator.records("%DLQ%readers")) and time.monotonic() < end:
        time.sleep(0.2)
    return [record.properties["KEYS"] for record in found]


def _command(name: str, folder: Path) -> Sequence[str]:
    if name not in GRPC_CLIENTS:
        return python_client("python_client.py")
    jvm = java_command(folder, "256m")
    return client_command(fetched_jars(GRPC_CLIENTS[name]), folder, SOURCES / "GrpcScenarioClient.java", jvm=jvm)
