"""The real proxy of 5.5.0: in local mode, with the broker in its process, or in cluster mode before one that runs."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, Final, Self

from conformance.releases.jars import PROXY, fetched_jars
from conformance.releases.jvm import java_command
from files.reading import read_bytes
from real_brokers.loopback import LOOPBACK, Processes, free_port
from real_brokers.rocketmq.broker import RealBroker
from real_brokers.rocketmq.configuration import LOGBACK

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from wire.client.channel import Address

VERSION: Final = "5.5.0"
"""Of the proxy, and of the broker in local mode; of 5.5.1 none was published."""

_STARTED: Final = "rocketmq-proxy startup successfully"
_MAIN: Final = "org.apache.rocketmq.proxy.ProxyStartup"
_HEAP: Final = "400m"
_START_SECONDS: Final = 120.0


def proxy_settings(grpc_port: int, remoting_port: int, mode: str, name_server: Address) -> dict[str, Any]:
    """The settings of ``rmq-proxy.json``."""
    return {
        "rocketMQClusterName": "DefaultCluster",
        "proxyMode": mode,
        "namesrvAddr": str(name_server),
        "localServeAddr": LOOPBACK,
        "grpcServerPort": grpc_port,
        "remotingListenPort": remoting_port,
        "grpcShutdownTimeSeconds": 1,
    }


class LocalProxy(RealBroker):
    """A name server, and a proxy in local mode: the broker of its release is in its process.

    It is killed, stopped and started again as a broker is, and the store that it leaves is archived like one's.
    """

    def __init__(
        self, scenario: str, settings: Mapping[str, str] | None = None, *, compiles_well: bool = False
    ) -> None:
        super().__init__(VERSION, scenario, settings, compiles_well=compiles_well)
        self._jars = fetched_jars(PROXY)
        self.grpc_port, self.remoting_port = free_port(), free_port()

    @property
    def grpc_address(self) -> str:
        """Where gRPC clients connect to."""
        return f"{LOOPBACK}:{self.grpc_port}"

    @property
    def pid(self) -> int:
        """Of the process in which proxy and broker are."""
        return self._broker.pid

    def _start_broker(self) -> None:
        started = time.monotonic()
        given = proxy_settings(self.grpc_port, self.remoting_port, "local", self.ports.name_server_address)
        given["brokerConfigPath"] = f"{self.run}/broker.conf"
        conf = self.run / "rmq-proxy.json"
        conf.write_text(json.dumps(given), encoding="utf-8")
        self._broker = self._boot("proxy", "proxy.ProxyStartup", "512m", "-pc", str(conf), prints=_STARTED)
        self._await_route(started)


class ClusterProxy:
    """A proxy in cluster mode before whatever the name server knows, from entering the context on.

    Parameters
    ----------
    run
        Where it runs, in a folder of its name that is made.
    name_server
        Of the broker.
    name
        Its own, by which the processes of one run are told apart.
    settings
        Settings of ``rmq-proxy.json`` that differ from :func:`proxy_settings`.
    """

    def __init__(
        self, run: Path, name_server: Address, name: str = "proxy", settings: Mapping[str, Any] | None = None
    ) -> None:
        self._jars = fetched_jars(PROXY)
        self._name = name
        self._folder = run / name
        self._folder.mkdir()
        self.grpc_port, self.remoting_port = free_port(), free_port()
        given = proxy_settings(self.grpc_port, self.remoting_port, "cluster", name_server)
        (self._folder / "rmq-proxy.json").write_text(json.dumps({**given, **(settings or {})}), encoding="utf-8")
        (self._folder / "conf").mkdir()
        logback = LOGBACK.format(package="org.apache.rocketmq.logging.", run=self._folder, process="proxy")
        (self._folder / "conf" / "rmq.proxy.logback.xml").write_text(logback, encoding="utf-8")
        self._processes = Processes(self._folder, name_server)

    @property
    def grpc_address(self) -> str:
        """Where gRPC clients connect to."""
        return f"{LOOPBACK}:{self.grpc_port}"

    def logged(self) -> str:
        """What it has logged so far."""
        return read_bytes(self._folder / "proxy.log").decode(errors="replace")

    def __enter__(self) -> Self:
        self._processes.__enter__()
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._processes.__exit__()

    def start(self) -> None:
        """Start it, and wait until it serves; `RealBrokerError` if it does not."""
        before = self._processes.printed(self._name).count(_STARTED)
        classes = f"{self._folder}/conf:{self._jars}/*"
        conf = str(self._folder / "rmq-proxy.json")
        command = [*java_command(self._folder, _HEAP), "-cp", classes, _MAIN, "-pc", conf]
        self._process = self._processes.start(self._name, command)
        self._processes.wait_until(
            lambda: self._processes.printed(self._name).count(_STARTED) > before,
            "start", self._process, self._name, _START_SECONDS,
        )  # fmt: skip

    def restart(self) -> None:
        """Kill it, and start it again; what it knew is gone."""
        self._process.kill()
        self._process.wait()
        self.start()
