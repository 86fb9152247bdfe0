"""A name server and a broker of rocketmq-rust on loopback, which a probe may kill and stop."""

from __future__ import annotations

import shutil
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Final

from conformance.errors import RealBrokerError
from conformance.real.ports import free_ports, is_broker_known
from conformance.real.processes import Processes
from halfcheck.probe.rust.configuration import LOOPBACK, SETTINGS, broker_toml, conf_text
from halfcheck.probe.rust.crates import BROKER, NAME_SERVER
from reference.format.system_topics import HALF_TOPIC
from wire.client.channel import Address, BrokerChannel, NoAnswerError
from wire.client.queries import end_of_queue
from wire.probe.player import FIRST_SAVE_S
from wire.probe.producers import now_ms

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping

_FULL_PERCENT: Final = 90
_STARTS: Final = 3
"""So often in a row a start may fail: another process may take a port that was free."""
_START_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 60.0


class FullDiskError(RealBrokerError):
    """The disk is so full that the broker gives its start up (rocketmq-store, LocalCleanupConfig)."""


def _require_room(folder: Path) -> None:
    usage = shutil.disk_usage(folder)
    used = 100 * (1 - usage.free / usage.total)
    if used > _FULL_PERCENT:
        message = (
            f"{folder}: its disk is {used:.1f} % full, and the broker starts on none that is fuller than "
            f"{_FULL_PERCENT} %; set TMPDIR to a folder on another disk"
        )
        raise FullDiskError(message)


class RustBroker:
    """A broker from entering the context on; leaving it stops both processes, whatever happened.

    Parameters
    ----------
    programs
        The folder of :func:`halfcheck.probe.rust.crates.built`.
    settings
        Settings that are other than in each run, by their names in ``broker.conf``.

    Attributes
    ----------
    run
        The folder that both run in, while the context lasts.
    settings
        All that it was told, by the same names.
    saves_from, died_ms
        See :class:`wire.probe.player.Operator`.

    Raises
    ------
    RealBrokerError
        A process does not start, or does not end; nothing runs on after that.
    """

    def __init__(self, programs: Path, settings: Mapping[str, str] | None = None) -> None:
        self._programs = programs
        self._ports = free_ports()
        self._exit = ExitStack()
        self.settings = {**SETTINGS, **(settings or {})}
        self.saves_from = 0.0
        self.died_ms = 0

    def __enter__(self) -> RustBroker:
        for _ in range(_STARTS - 1):
            try:
                return self._entered()
            except FullDiskError:
                raise
            except RealBrokerError:
                self._ports = free_ports()
        return self._entered()

    def _entered(self) -> RustBroker:
        with ExitStack() as undo:
            self.run = Path(mkdtemp(prefix="rust-broker-")).resolve()
            undo.callback(shutil.rmtree, self.run, ignore_errors=True)
            _require_room(self.run)
            for folder in ("home", "store", "conf"):
                (self.run / folder).mkdir()
            toml = broker_toml(self.run, self._ports, self.settings)
            (self.run / "broker.toml").write_text(toml, encoding="utf-8")
            self.conf.write_text(conf_text(self.settings), encoding="utf-8")
            self._processes = undo.enter_context(Processes(self.run, self._ports.name_server_address))
            port = str(self._ports.name_server)
            server = self._started(NAME_SERVER.program, "--listenPort", port, "--bindAddress", LOOPBACK)
            self._processes.wait_until(self._name_server_listens, "listen", server, NAME_SERVER.program, _START_SECONDS)
            self._start()
            self._exit = undo.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._exit.close()

    @property
    def conf(self) -> Path:
        """A ``broker.conf`` with its settings."""
        return self.run / "broker.conf"

    @property
    def address(self) -> Address:
        """Where it listens."""
        return Address(LOOPBACK, self._ports.broker)

    def kill(self) -> None:
        """SIGKILL, and start it again."""
        self._broker.kill()
        self._broker.wait()
        self._start()

    def restart(self) -> None:
        """SIGTERM, wait for its end, and start it again."""
        self._processes.stop(self._broker, _STOP_SECONDS)
        self._start()

    def _start(self) -> None:
        """Start the broker on what its store holds, and wait until it answers and the name server knows it.

        Of a broker that was killed the name server goes on knowing for a while.
        """
        self.died_ms = now_ms()
        name = BROKER.program
        self._broker = self._started(name, "-c", f"{self.run}/broker.toml", "-n", self._ports.name_server_address)
        self._processes.wait_until(
            lambda: self._answers() and is_broker_known(self._ports), "register", self._broker, name, _START_SECONDS
        )
        self.saves_from = time.monotonic() + FIRST_SAVE_S

    def _name_server_listens(self) -> bool:
        """A broker that finds no name server gives its start up."""
        try:
            BrokerChannel(Address(LOOPBACK, self._ports.name_server)).close()
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

    def _started(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        """A process with a home folder of its own."""
        command = ["/usr/bin/env", f"HOME={self.run}/home", str(self._programs / program), *arguments]
        return self._processes.start(program, command)
