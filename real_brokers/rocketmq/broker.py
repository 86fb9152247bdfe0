"""One run: a name server and a broker of a release on loopback, its clients, and the store that is left."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.releases.jars import fetched_jars, release_called
from conformance.releases.jvm import client_command, java_command
from files.reading import read_bytes
from real_brokers.loopback import LoopbackBroker, free_ports, is_broker_known, is_broker_listed
from real_brokers.rocketmq.archive import archive_at_kill, archive_run
from real_brokers.rocketmq.client import Client
from real_brokers.rocketmq.configuration import RUN, conf_text, settings_of_conf, write_configuration
from wire.client.channel import BrokerChannel
from wire.errors import WireError
from wire.remoting.codes import RequestCode, ResponseCode

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping, Sequence

DRIVER: Final = Path(__file__).with_name("Driver.java")
BOOTED: Final = "boot success"
"""A name server and a broker print it when they have started."""

_BOOT_SECONDS: Final = 120.0
_ROUTE_SECONDS: Final = 60.0


class RealBroker(LoopbackBroker):
    """A broker of a release, with the name server and the Java client of the same release.

    Parameters
    ----------
    version
        Of the release, whose jars Maven brings if they are not there yet.
    scenario
        What ``meta.json`` calls the run.
    settings
        Settings of ``broker.conf`` that differ from the short intervals and small files of each run.
    store
        A store that the broker goes on from; a copy of it.
    compiles_well
        Whether its JVM compiles what runs often well, which pays where a run is long.
    files, properties
        Texts of files in the folder of the run, and properties of the broker's JVM; ``@RUN@`` is that folder in both.
    joins
        A broker whose name server it registers with, instead of one of its own.

    Raises
    ------
    ConformanceError
        There are no jars of it; or something does not start or end, see :class:`LoopbackBroker`.
    """

    def __init__(
        self,
        version: str,
        scenario: str,
        settings: Mapping[str, str] | None = None,
        store: Path | None = None,
        *,
        compiles_well: bool = False,
        files: Mapping[str, str] | None = None,
        properties: Mapping[str, str] | None = None,
        joins: RealBroker | None = None,
    ) -> None:
        given = settings or {}
        self._files = files or {}
        self._properties = properties or {}
        self.version = version
        self._compiles_well = compiles_well
        self._release = release_called(version)
        self._jars = fetched_jars(self._release)
        self._from_store = store
        self._joins = joins
        ports = free_ports() if joins is None else replace(free_ports(), name_server=joins.ports.name_server)
        super().__init__(ports, settings_of_conf(self._release, ports, given))
        changed = [f"{name}={value}" for name, value in given.items()]
        self._meta: dict[str, Any] = {"version": version, "scenario": scenario, "sets": changed, "events": []}

    def _start_name_server(self) -> None:
        (self.run / "archive").mkdir()
        if self._from_store is not None:
            shutil.copytree(self._from_store, self.store, dirs_exist_ok=True)
        write_configuration(self.run, self._release, self.ports, self.settings)
        for name, text in self._files.items():
            (self.run / name).write_text(self._placed(text), encoding="utf-8")
        if self._joins is None:
            conf = f"{self.run}/namesrv.conf"
            self._name_server = self._boot("namesrv", "namesrv.NamesrvStartup", "256m", "-c", conf)

    def _start_broker(self) -> None:
        started = time.monotonic()
        given = "-n", str(self.ports.name_server_address), "-c", f"{self.run}/broker.conf"
        jvm = [f"-D{name}={self._placed(value)}" for name, value in self._properties.items()]
        self._broker = self._boot("broker", "broker.BrokerStartup", "512m", *given, jvm=jvm)
        self._await_route(started)

    def _await_route(self, started: float) -> None:
        self._processes.wait_until(
            lambda: is_broker_known(self.ports) and (self._joins is None or is_broker_listed(self.ports)),
            "register",
            self._broker,
            "broker",
            _ROUTE_SECONDS,
        )
        self.note("route up", secs=round(time.monotonic() - started, 2))

    def _placed(self, text: str) -> str:
        return text.replace(RUN, str(self.run))

    def _boot(
        self, name: str, main_class: str, heap: str, *arguments: str, prints: str = BOOTED, jvm: Sequence[str] = ()
    ) -> subprocess.Popen[bytes]:
        before, started = self._processes.printed(name).count(prints), time.monotonic()
        classes = f"{self.run}/conf-{name}:{self._jars}/*"
        java = java_command(self.run, heap, compiles_well=self._compiles_well)
        command = [*java, *jvm, "-cp", classes, f"org.apache.rocketmq.{main_class}", *arguments]
        process = self._processes.start(name, command)
        self._processes.wait_until(
            lambda: self._processes.printed(name).count(prints) > before, "boot", process, name, _BOOT_SECONDS
        )
        self.note(f"{name} up", secs=round(time.monotonic() - started, 2))
        return process

    def kill_broker(self) -> None:
        """SIGKILL; the store as it is then goes into the archive (``at_kill``)."""
        super().kill_broker()
        self.note("broker kill -9")
        archive_at_kill(self.run)

    def stop_broker(self) -> None:
        """SIGTERM, and wait for its end."""
        started = time.monotonic()
        code = self._processes.stop(self._broker)
        self.note("broker shutdown", secs=round(time.monotonic() - started, 2), rc=code)

    def cut_log(self, end: int) -> None:
        """Take out of the first file of the commit log what a power loss may take; queue entries of it stay."""
        log = self.store / "commitlog" / f"{0:020d}"
        left = read_bytes(log)[:end]
        log.write_bytes(left + bytes(log.stat().st_size - len(left)))
        self.note("commit log cut", end=end)

    def change(self, settings: Mapping[str, str]) -> None:
        """Change settings while it runs (UPDATE_BROKER_CONFIG), as its operator would; `WireError` if it refuses."""
        with BrokerChannel(self.address) as channel:
            answer = channel.ask(RequestCode.UPDATE_BROKER_CONFIG, {}, conf_text(settings).encode())
        if answer.code != ResponseCode.SUCCESS:
            message = f"{self.address}: settings are answered {answer.code}: {answer.remark}"
            raise WireError(message)

    # --- clients ------------------------------------------------------------------------------------------------------

    def client(self, group: str | None = None, proxy: str = "") -> Client:
        """A new process of the Java client, with a producer "P" of a group; all of them write one ``driver.jsonl``.

        The address of a proxy stands for name server and broker.
        """
        addresses = proxy or str(self.ports.name_server_address), proxy or str(self.address)
        command = client_command(self._jars, self.run, DRIVER, *addresses, self.run / "archive" / "driver.jsonl")
        client = Client(self._processes.start_led("client", command))
        if group is not None:
            client.producer("P", group)
        return client

    def settle(self, client: Client, seconds: float) -> None:
        """Wait until a client's transactions are over, see :meth:`real_brokers.rocketmq.client.Client.settle`."""
        client.settle(seconds, self.check_interval_ms, int(self.settings["transactionCheckMax"]))

    @property
    def check_interval_ms(self) -> int:
        """``transactionCheckInterval``."""
        return int(self.settings["transactionCheckInterval"])

    # --- what is left -------------------------------------------------------------------------------------------------

    def note(self, event: str, **what: object) -> None:
        """Note an event of the run, with its time in milliseconds."""
        self._meta["events"].append({"t": time.time_ns() // 1_000_000, "ev": event, **what})

    def finish(self, out: Path) -> None:
        """Stop broker and name server; store and logs appear in a folder of the form of a golden store."""
        self.stop_broker()
        code = self._processes.stop(self._name_server)
        self.note("namesrv shutdown", rc=code)
        archive_run(self.run, out, conf_text(self.settings), self._meta)
