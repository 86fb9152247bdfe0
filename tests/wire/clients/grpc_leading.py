"""A gRPC client led through its scenario, before our proxy or the real one in each mode."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from real_brokers.clients.grpc_client import GRPC_NAMES, PYTHON, GrpcClient
from tests.wire.clients.proxies import LOST, LedProxy, cluster_proxy, local_proxy, our_proxies, our_proxy

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from real_brokers.proxy.topics import BrokerOperator

REAL_NAMES: Final = tuple(name for name in GRPC_NAMES if name != "grpc-rust")
"""Of the clients that are led before the real proxy. That in Rust is not: a stream that was reset, as the relay ends it
in the crash, it reads again and again (``Session#start`` of 5.0.0), and comes to nothing else."""

OURS, OURS_CLUSTER = "our broker with --grpc-port", "our broker with --grpc-port and --proxies 2"
LOCAL, CLUSTER = "the real proxy in local mode", "the real proxy in cluster mode"
"""Before whom it is led."""

EXPECTED: Final[dict[str, Any]] = {
    "checked": {
        "checked": ["commit"], "checked-twice": ["unknown", "commit"], LOST: ["commit"],
        "never-known": ["unknown", "unknown", "unknown"], "pending": ["commit"],
    },
    "consumed": {
        "committed": ["1"], "checked": ["1"], "checked-twice": ["1"], LOST: ["1"], "pending": ["1"],
        "after-crash": ["1"], "plain": ["1"], "failing": ["1", "2"], "poison": ["1", "2"],
    },
    "dead letters": ["poison"],
    "befell": {"lose_end": 1},
}  # fmt: skip
"""What each client gets anywhere: its answers to checks, and the attempts at delivery.

A poisoned message is tried twice (``retryMaxTimes=1``), one that is never known is asked for three times
(``transactionCheckMax``).
"""

_PROXIES: Final[dict[str, Callable[[Path], AbstractContextManager[LedProxy]]]] = {
    OURS: our_proxy,
    OURS_CLUSTER: our_proxies,
    LOCAL: local_proxy,
    CLUSTER: cluster_proxy,
}
_ENDS: Final = {
    "committed": "commit", "rolled-back": "rollback", "checked": "leave", "checked-twice": "leave",
    "never-known": "leave", LOST: "commit",
}  # fmt: skip
"""How each transaction of before the crash is ended by its producer."""
_DEAF: Final = (PYTHON, "grpc-go", "grpc-rust")
"""Those that tell a proxy which has lost their settings only after up to 300 s (``ClientTelemetryManager`` of Python
5.1.2, ``defaultClientManager#syncSettings`` of Go 5.1.4) or never (``Session#start`` of Rust 5.0.0): their producers
and consumers are started anew."""
_BEHIND_THE_CRASH: Final = {"pending", "after-crash"}

_PATIENCE_SECONDS: Final = 90.0
_DEAD_LETTER_SECONDS: Final = 20


def lead_grpc(name: str, where: str, folder: Path) -> dict[str, Any]:
    """Lead a client, and give what it got, with the dead letters and the faults that befell something."""
    with _PROXIES[where](folder) as proxy:
        proxy.operator.make_topic("Orders", "TRANSACTION", 4)
        proxy.operator.make_topic("Plain", "NORMAL", 4)
        proxy.operator.make_group("readers", retryMaxTimes=1)
        with GrpcClient(proxy.address, folder, name) as client:
            _lead(client, proxy, renews=name in _DEAF)
        outcome: dict[str, Any] = {each: _by_key(client, each) for each in ("checked", "consumed")}
        return outcome | {"dead letters": _dead_letters(proxy.operator), "befell": proxy.befell()}


def _lead(client: GrpcClient, proxy: LedProxy, *, renews: bool) -> None:
    """The scenario: all that the client is ordered, with a crash of broker and proxy while a half is pending."""
    for key, end in _ENDS.items():
        client.order(f"send Orders {key} {end}")
    for key in ("plain", "failing", "poison"):
        client.order(f"send Plain {key} plain")
    _wait_for_all(client, EXPECTED["consumed"].keys() - _BEHIND_THE_CRASH)
    client.wait("every check", lambda: client.count("checked", "never-known") >= 3, _PATIENCE_SECONDS)
    proxy.settle()
    client.order("send Orders pending leave")
    proxy.crash()
    client.wait("the next process", proxy.is_up, _PATIENCE_SECONDS)
    if renews:
        client.order("renew")
    client.wait("its producer behind the crash", lambda: bool(proxy.operator.producers("Orders")), _PATIENCE_SECONDS)
    proxy.go_on()
    client.order("send Orders after-crash commit")
    _wait_for_all(client, _BEHIND_THE_CRASH)
    proxy.settle()
    client.order("end")


def _wait_for_all(client: GrpcClient, keys: set[str]) -> None:
    """Wait until each message was delivered as often as it must be at least."""

    def have_come() -> bool:
        return all(client.count("consumed", key) >= len(EXPECTED["consumed"][key]) for key in keys)

    client.wait(f"every delivery of {', '.join(sorted(keys))}", have_come, _PATIENCE_SECONDS)


def _by_key(client: GrpcClient, name: str) -> dict[str, list[str]]:
    """What its events of a name say of each message, in their order."""
    said: defaultdict[str, list[str]] = defaultdict(list)
    for event in client.events:
        if event.name == name:
            said[event.key].append(event.more)
    return dict(said)


def _dead_letters(operator: BrokerOperator) -> list[str]:
    """Their keys; a proxy in cluster mode says so after its client has left."""
    end = time.monotonic() + _DEAD_LETTER_SECONDS
    while not (found := operator.records("%DLQ%readers")) and time.monotonic() < end:
        time.sleep(0.2)
    return [record.properties["KEYS"] for record in found]
