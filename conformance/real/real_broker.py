"""One run: a name server and a broker of a release on loopback, its clients, and the store that is left."""

from __future__ import annotations

import shutil
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Final

from conformance.real.client import Client
from conformance.real.configuration import conf_text, settings_of_conf, write_configuration
from conformance.real.kept_store import keep_at_kill, keep_store
from conformance.real.ports import free_ports, is_broker_known
from conformance.real.processes import Processes, java_command
from files.reading import read_bytes

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping

    from conformance.real.releases import Release

DRIVER: Final = Path(__file__).with_name("Driver.java")
_BOOTED: Final = "boot success"
_BOOT_SECONDS: Final = 120.0
_ROUTE_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 180.0


class RealBroker:
    """A name server and a broker, from entering the context on; leaving it stops them, whatever happened.

    Parameters
    ----------
    release, jars
        Which release, and the folder with its jars (:func:`conformance.real.releases.fetched_jars`).
    scenario
        What ``meta.json`` calls the run.
    settings
        Settings of ``broker.conf`` that differ from the short intervals and small files of each run.
    store
        A store that the broker goes on from; a copy of it.

    Attributes
    ----------
    settings
        All settings by their names.
    run
        The folder that all processes run in, while the context lasts.

    Raises
    ------
    RealBrokerError
        Something does not start, does not end, or is not on this machine; nothing runs on after that.
    """

    def __init__(
        self,
        release: Release,
        jars: Path,
        scenario: str,
        settings: Mapping[str, str] | None = None,
        store: Path | None = None,
    ) -> None:
        self._release = release
        self._from_store = store
        self._classes = f"{jars.resolve()}/*"
        self._ports = free_ports()
        self._exit = ExitStack()
        self.settings = settings_of_conf(release, self._ports, settings or {})
        changed = [f"{name}={value}" for name, value in (settings or {}).items()]
        self._meta: dict[str, Any] = {"version": release.version, "scenario": scenario, "sets": changed, "events": []}

    def __enter__(self) -> RealBroker:
        with ExitStack() as undo:
            self.run = Path(mkdtemp(prefix="real-broker-")).resolve()
            undo.callback(shutil.rmtree, self.run, ignore_errors=True)
            for folder in ("home", "store", "kept"):
                (self.run / folder).mkdir()
            if self._from_store is not None:
                shutil.copytree(self._from_store, self.run / "store", dirs_exist_ok=True)
            write_configuration(self.run, self._release, self._ports, self.settings)
            self._processes = undo.enter_context(Processes(self.run, self._ports.name_server_address))
            self._name_server = self._boot(
                "namesrv", "namesrv.NamesrvStartup", "256m", "-c", f"{self.run}/namesrv.conf"
            )
            self.start_broker()
            self._exit = undo.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._exit.close()

    # --- the broker ---------------------------------------------------------------------------------------------------

    def start_broker(self) -> None:
        """Start the broker on what its store holds, and wait until the name server knows it."""
        address = self._ports.name_server_address
        started = time.monotonic()
        conf = f"{self.run}/broker.conf"
        self._broker = self._boot("broker", "broker.BrokerStartup", "512m", "-n", address, "-c", conf)
        self._processes.wait_until(
            lambda: is_broker_known(self._ports), "register", self._broker, "broker", _ROUTE_SECONDS
        )
        self.note("route up", secs=round(time.monotonic() - started, 2))

    def kill_broker(self) -> None:
        """SIGKILL; the store as it is then is kept (``at_kill``)."""
        self._broker.kill()
        self._broker.wait()
        self.note("broker kill -9")
        keep_at_kill(self.run / "store", self.run / "kept")

    def cut_log(self, end: int) -> None:
        """Take out of the first file of the commit log what a power loss may take; queue entries of it stay."""
        log = self.run / "store" / "commitlog" / f"{0:020d}"
        kept = read_bytes(log)[:end]
        log.write_bytes(kept + bytes(log.stat().st_size - len(kept)))
        self.note("commit log cut", end=end)

    def stop_broker(self) -> None:
        """SIGTERM, and wait for its end."""
        started = time.monotonic()
        code = self._processes.stop(self._broker, _STOP_SECONDS)
        self.note("broker shutdown", secs=round(time.monotonic() - started, 2), rc=code)

    # --- clients ------------------------------------------------------------------------------------------------------

    def client(self) -> Client:
        """A new process of the Java client; all of them write to one ``driver.jsonl``."""
        ports = self._ports
        command = [
            *java_command(self.run, "256m"),
            f"-Drocketmq.client.logRoot={self.run}/client-logs",
            "-Drocketmq.client.logUseSlf4j=false",
            "-cp",
            self._classes,
            str(DRIVER),
            ports.name_server_address,
            ports.broker_address,
            str(self.run / "kept" / "driver.jsonl"),
        ]
        return Client(self._processes.start_led("client", command))

    def settle(self, client: Client, seconds: float) -> None:
        """Wait until a client's transactions are over, see :meth:`conformance.real.client.Client.settle`."""
        client.settle(seconds, self.check_interval_ms, int(self.settings["transactionCheckMax"]))

    @property
    def name_server_port(self) -> int:
        """Where its name server listens."""
        return self._ports.name_server

    @property
    def broker_port(self) -> int:
        """Where the broker listens."""
        return self._ports.broker

    @property
    def check_interval_ms(self) -> int:
        """``transactionCheckInterval``."""
        return int(self.settings["transactionCheckInterval"])

    # --- what is left -------------------------------------------------------------------------------------------------

    def note(self, event: str, **what: object) -> None:
        """Note an event of the run, with its time in milliseconds."""
        self._meta["events"].append({"t": time.time_ns() // 1_000_000, "ev": event, **what})

    def finish(self, out: Path) -> None:
        """Stop broker and name server, and keep store and logs in a folder of the form of a golden store.

        Parameters
        ----------
        out
            The folder; one that is there is replaced, and appears whole.
        """
        self.stop_broker()
        code = self._processes.stop(self._name_server, _STOP_SECONDS)
        self.note("namesrv shutdown", rc=code)
        keep_store(self.run, out, conf_text(self.settings), self._meta)

    def _boot(self, name: str, main_class: str, heap: str, *arguments: str) -> subprocess.Popen[bytes]:
        before, started = self._processes.printed(name).count(_BOOTED), time.monotonic()
        classes = f"{self.run}/conf-{name}:{self._classes}"
        command = [*java_command(self.run, heap), "-cp", classes, f"org.apache.rocketmq.{main_class}", *arguments]
        process = self._processes.start(name, command)
        self._processes.wait_until(
            lambda: self._processes.printed(name).count(_BOOTED) > before, "boot", process, name, _BOOT_SECONDS
        )
        self.note(f"{name} up", secs=round(time.monotonic() - started, 2))
        return process
