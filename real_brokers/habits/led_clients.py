"""The clients whose habits are looked at, by package and version, and a process of each."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.releases.jars import fetched_jars, release_called
from real_brokers.clients.grpc_client import GrpcClient
from real_brokers.clients.scenario_client import ScenarioClient, go_client, java_client

if TYPE_CHECKING:
    from wire.broker_thread import BrokerThread

_GO_BUILD: Final = Path(__file__).parents[2] / "build" / "go-client"


@dataclass(frozen=True, slots=True)
class LedClient:
    """A client of a version."""

    name: str
    package: str
    version: str
    hears_checks: bool = True

    @property
    def speaks_grpc(self) -> bool:
        """Whether it is one of the repository rocketmq-clients; else it speaks remoting."""
        return self.name.startswith("grpc-")

    def process(self, broker: BrokerThread, folder: Path) -> ScenarioClient:
        """A process of it at a broker, to be entered."""
        if self.speaks_grpc:
            return GrpcClient(broker.grpc_address, folder, self.name)
        if self.name == "go":
            command = go_client(_GO_BUILD, broker.address)
        else:
            command = java_client(fetched_jars(release_called(self.version)), folder, broker.address)
        return ScenarioClient(command, folder, {**os.environ, "HOME": str(folder)})


_JAVA, _GRPC_JAVA = "rocketmq-client", "rocketmq-client-java"
_PYTHON, _GRPC_GO = "rocketmq-python-client", "rocketmq-clients/golang/v5"

LED_CLIENTS: Final = {
    one.name: one
    for one in (
        LedClient("java-4.9.7", _JAVA, "4.9.7"),
        LedClient("java-5.3.3", _JAVA, "5.3.3"),
        LedClient("java-5.5.0", _JAVA, "5.5.0"),
        LedClient("go", "rocketmq-client-go/v2", "2.1.2"),
        LedClient("grpc-java-5.0.7", _GRPC_JAVA, "5.0.7"),
        LedClient("grpc-java-5.0.8", _GRPC_JAVA, "5.0.8"),
        LedClient("grpc-java-5.2.0", _GRPC_JAVA, "5.2.0"),
        LedClient("grpc-python-5.0.9", _PYTHON, "5.0.9", hears_checks=False),
        LedClient("grpc-python-5.1.1", _PYTHON, "5.1.1"),
        LedClient("grpc-python", _PYTHON, "5.1.2"),
        LedClient("grpc-go-5.1.3", _GRPC_GO, "5.1.3"),
        LedClient("grpc-go", _GRPC_GO, "5.1.4"),
        LedClient("grpc-node", "rocketmq-client-nodejs", "1.0.8"),
        LedClient("grpc-rust", "crate rocketmq", "5.0.0"),
    )
}
"""By name; the first four speak remoting."""
