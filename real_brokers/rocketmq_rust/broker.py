"""A name server and a broker of rocketmq-rust on loopback, with their configuration.

Settings have the names of RocketMQ's ``broker.conf``, so that one and the same may be given to a broker of either kind.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Final, Self

from real_brokers.errors import RealBrokerError
from real_brokers.loopback import LOOPBACK, LoopbackBroker, Ports, free_ports, is_broker_known
from real_brokers.rocketmq.configuration import conf_text
from real_brokers.rocketmq_rust.crates import BROKER, NAME_SERVER
from reference.format.system_topics import HALF_TOPIC
from wire.client.channel import BrokerChannel, NoAnswerError
from wire.client.queries import end_of_queue

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping, Set
    from pathlib import Path

SETTINGS: Final = {
    "transactionTimeOut": "3000",
    "transactionCheckInterval": "1000",
    "transactionCheckMax": "5",
    "transactionOpBatchInterval": "200",
    "flushConsumerOffsetInterval": "1000",
    "fileReservedTime": "48",
    "mappedFileSizeCommitLog": "1048576",
}
"""Those of every run, by their names in ``broker.conf``."""

_OF_THE_STORE: Final = {"fileReservedTime", "mappedFileSizeCommitLog"}
"""The settings that stand in the TOML's table of the store; the others in that of the broker."""

_TOML: Final = """\
[broker]
listenPort = {broker}
brokerIp1 = "{loopback}"
storePathRootDir = "{run}/store"
namesrvAddr = "{name_server}"
autoCreateTopicEnable = true
waitTimeMillsInSendQueue = 10000
{broker_settings}
[broker.brokerServerConfig]
bindAddress = "{loopback}"
[broker.brokerIdentity]
brokerName = "broker-r"
brokerClusterName = "DefaultCluster"
brokerId = 0
[store]
storePathRootDir = "{run}/store"
storePathCommitLog = "{run}/store/commitlog"
haListenAddress = "{loopback}"
haListenPort = {high_availability}
mappedFileSizeConsumeQueue = 20000
timerWheelEnable = false
{store_settings}
[logging]
filter = "info"
"""
_FULL_PERCENT: Final = 90
_STARTS: Final = 3
"""So often in a row a start may fail: another process may take a port that was free."""
_START_SECONDS: Final = 60.0


class FullDiskError(RealBrokerError):
    """The disk is so full that the broker gives its start up (rocketmq-store, LocalCleanupConfig)."""


class RustBroker(LoopbackBroker):
    """A broker of rocketmq-rust, of its programs' folder, with some settings other than in each run."""

    def __init__(self, programs: Path, settings: Mapping[str, str] | None = None) -> None:
        super().__init__(free_ports(), {**SETTINGS, **(settings or {})})
        self._programs = programs

    def __enter__(self) -> Self:
        for _ in range(_STARTS - 1):
            try:
                return super().__enter__()
            except FullDiskError:
                raise
            except RealBrokerError:
                self.ports = free_ports()
        return super().__enter__()

    @property
    def conf(self) -> Path:
        """Its settings as a ``broker.conf``, which says to a probe what the broker does not say itself."""
        return self.run / "broker.conf"

    def _start_name_server(self) -> None:
        """A broker that finds no name server gives its start up."""
        _require_room(self.run)
        (self.run / "conf").mkdir()
        toml = broker_toml(self.run, self.ports, self.settings)
        (self.run / "broker.toml").write_text(toml, encoding="utf-8")
        self.conf.write_text(conf_text(self.settings), encoding="utf-8")
        name = NAME_SERVER.program
        server = self._started(name, "--listenPort", str(self.ports.name_server), "--bindAddress", LOOPBACK)
        self._processes.wait_until(self._name_server_listens, "listen", server, name, _START_SECONDS)

    def _start_broker(self) -> None:
        """Of a broker that was killed the name server goes on knowing for a while, so that it is asked itself, too."""
        name = BROKER.program
        given = "-c", f"{self.run}/broker.toml", "-n", str(self.ports.name_server_address)
        self._broker = self._started(name, *given)
        self._processes.wait_until(
            lambda: self._answers() and is_broker_known(self.ports), "register", self._broker, name, _START_SECONDS
        )

    def _started(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        """A process with a home folder of its own."""
        command = ["/usr/bin/env", f"HOME={self.run}/home", str(self._programs / program), *arguments]
        return self._processes.start(program, command)

    def _name_server_listens(self) -> bool:
        try:
            BrokerChannel(self.ports.name_server_address).close()
        except NoAnswerError:
            return False
        return True

    def _answers(self) -> bool:
        try:
            with BrokerChannel(self.address) as channel:
                end_of_queue(channel, HALF_TOPIC)
        except NoAnswerError:
            return False
        return True


def _require_room(folder: Path) -> None:
    usage = shutil.disk_usage(folder)
    used = 100 * (1 - usage.free / usage.total)
    if used > _FULL_PERCENT:
        message = (
            f"{folder}: its disk is {used:.1f} % full, and the broker starts on none that is fuller than "
            f"{_FULL_PERCENT} %; set TMPDIR to a folder on another disk"
        )
        raise FullDiskError(message)


def broker_toml(run: Path, ports: Ports, settings: Mapping[str, str]) -> str:
    """The text of ``broker.toml``: loopback only, all files in the run's folder.

    The settings have their names in ``broker.conf``, and are whole numbers that it knows.
    """
    return _TOML.format(
        run=run,
        loopback=LOOPBACK,
        broker=ports.broker,
        high_availability=ports.high_availability,
        name_server=ports.name_server_address,
        broker_settings=_table(settings, settings.keys() - _OF_THE_STORE),
        store_settings=_table(settings, _OF_THE_STORE),
    )


def _table(settings: Mapping[str, str], names: Set[str]) -> str:
    """Some settings as lines of TOML, in which one is spelled in another way."""
    chosen = ((name.replace("TimeOut", "Timeout"), value) for name, value in settings.items() if name in names)
    return "\n".join(f"{name} = {int(value)}" for name, value in chosen)
