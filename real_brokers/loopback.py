"""A name server and a broker of anybody's as processes on loopback: free ports, a folder, and nothing left behind."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import IO, TYPE_CHECKING, Final, Self

from files.reading import read_bytes
from real_brokers.errors import RealBrokerError
from wire.client.channel import Address, BrokerChannel, NoAnswerError
from wire.client.name_server import BrokerGroup, broker_groups
from wire.probe.player import FIRST_SAVE_S
from wire.probe.producers import now_ms
from wire.remoting.codes import RequestCode, ResponseCode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

LOOPBACK: Final = "127.0.0.1"
_DEFAULT_TOPIC: Final = "TBW102"
_FAST_BEFORE: Final = 2
_TRIES: Final = 100
_KILL_SECONDS: Final = 20
_STOP_SECONDS: Final = 180.0


# --- ports ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ports:
    """Where a run listens; the broker takes the port two before its own, too (``fastListenPort``)."""

    name_server: int
    broker: int
    high_availability: int

    @property
    def name_server_address(self) -> Address:
        """Host and port."""
        return Address(LOOPBACK, self.name_server)

    @property
    def broker_address(self) -> Address:
        """Host and port."""
        return Address(LOOPBACK, self.broker)


def free_ports() -> Ports:
    """Ports of loopback that nobody listens on at this moment; `OSError` if there are none."""
    for _ in range(_TRIES):
        with socket.socket() as one, socket.socket() as other, socket.socket() as third, socket.socket() as fast:
            for each in (one, other, third):
                each.bind((LOOPBACK, 0))
            ports = Ports(*(each.getsockname()[1] for each in (one, other, third)))
            with suppress(OSError):
                fast.bind((LOOPBACK, ports.broker - _FAST_BEFORE))
                return ports
    message = f"no two free ports with one between them after {_TRIES} tries"
    raise OSError(message)


def free_port() -> int:
    """A port of loopback that nobody listens on at this moment."""
    with socket.socket() as one:
        one.bind((LOOPBACK, 0))
        return int(one.getsockname()[1])


def is_broker_known(ports: Ports) -> bool:
    """Whether the name server has a route for the topic that a broker brings along.

    A broker of 5.3.3 or 5.4.0 that has booted is often registered only ten seconds later.
    """
    try:
        with BrokerChannel(ports.name_server_address, patience=3) as channel:
            answer = channel.ask(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": _DEFAULT_TOPIC})
    except NoAnswerError:
        return False
    return answer.code == ResponseCode.SUCCESS


def is_broker_listed(ports: Ports) -> bool:
    """Whether the name server lists the broker itself; a slave brings no topics of its own along."""
    return any(ports.broker_address in group.addresses.values() for group in listed_groups(ports))


def listed_groups(ports: Ports) -> tuple[BrokerGroup, ...]:
    """The brokers that the name server lists; none where it does not answer."""
    try:
        with BrokerChannel(ports.name_server_address, patience=3) as channel:
            return broker_groups(channel)
    except NoAnswerError:
        return ()


# --- processes --------------------------------------------------------------------------------------------------------


class Processes:
    """The processes of one run; leaving it as a context kills those that still run.

    Parameters
    ----------
    run
        The folder that they run in; each writes what it prints to ``NAME.out`` there.
    name_server_address
        What they find in ``NAMESRV_ADDR``.
    """

    def __init__(self, run: Path, name_server_address: Address) -> None:
        self._run = run
        self._environment = {**os.environ, "ROCKETMQ_HOME": str(run), "NAMESRV_ADDR": str(name_server_address)}
        self._started: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._started:
            if process.poll() is None:
                process.kill()
        for process in self._started:
            process.wait(_KILL_SECONDS)

    def start(self, name: str, command: Sequence[str]) -> subprocess.Popen[bytes]:
        """Start a process that reads nothing."""
        with (self._run / f"{name}.out").open("ab") as out:
            return self._start(command, subprocess.DEVNULL, out, subprocess.STDOUT)

    def start_led(self, name: str, command: Sequence[str]) -> subprocess.Popen[bytes]:
        """Start a process that is led over its standard input and output."""
        with (self._run / f"{name}.err").open("ab") as err:
            return self._start(command, subprocess.PIPE, subprocess.PIPE, err)

    def _start(
        self, command: Sequence[str], stdin: int, stdout: int | IO[bytes], stderr: int | IO[bytes]
    ) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            command, env=self._environment, cwd=self._run, stdin=stdin, stdout=stdout, stderr=stderr
        )
        self._started.append(process)
        return process

    def printed(self, name: str) -> str:
        """The output of a process so far, in all its starts."""
        out = self._run / f"{name}.out"
        return read_bytes(out).decode(errors="replace") if out.exists() else ""

    def wait_until(
        self, is_so: Callable[[], bool], what: str, process: subprocess.Popen[bytes], name: str, seconds: float
    ) -> None:
        """Wait for something that a process does.

        Raises
        ------
        RealBrokerError
            The process is over before, or has not done it in time; names the last line that it printed.
        """
        end = time.monotonic() + seconds
        while not is_so():
            code = process.poll()
            if code is None and time.monotonic() < end:
                time.sleep(0.05)
                continue
            how = f"did not {what} in {seconds:.0f} s" if code is None else f"ended with {code} and did not {what}"
            lines = [line for line in self.printed(name).splitlines() if line.strip()]
            message = f"the {name} {how}; it said last: {lines[-1] if lines else 'nothing'} ({self._run})"
            raise RealBrokerError(message)

    @staticmethod
    def stop(process: subprocess.Popen[bytes], seconds: float = _STOP_SECONDS) -> int:
        """End a process as an operator does (SIGTERM), and give its exit code; `RealBrokerError` if it does not end."""
        process.terminate()
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired as error:
            message = f"process {process.pid} did not end {seconds:.0f} s after SIGTERM"
            raise RealBrokerError(message) from error


# --- the broker -------------------------------------------------------------------------------------------------------


class LoopbackBroker(ABC):
    """A name server and a broker, from entering the context on; leaving it stops them, whatever happened.

    Raises
    ------
    RealBrokerError
        Something does not start, does not end, or is not on this machine; nothing runs on after that.
    """

    _broker: subprocess.Popen[bytes]

    def __init__(self, ports: Ports, settings: Mapping[str, str]) -> None:
        self.ports = ports
        self.settings = settings
        """All of the broker, by their names in ``broker.conf``."""
        self.saves_from = 0.0
        self.died_ms = 0
        """See :class:`wire.probe.player.Operator`."""
        self._exit = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as undo:
            self.run = Path(mkdtemp(prefix="real-broker-")).resolve()
            undo.callback(shutil.rmtree, self.run, ignore_errors=True)
            for folder in ("home", "store"):
                (self.run / folder).mkdir()
            self._processes = undo.enter_context(Processes(self.run, self.ports.name_server_address))
            self._start_name_server()
            self.start_broker()
            self._exit = undo.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._exit.close()

    @abstractmethod
    def _start_name_server(self) -> None:
        """Write what both processes read, start the name server, and wait until it serves."""

    @abstractmethod
    def _start_broker(self) -> None:
        """Start the broker, and wait until the name server knows it."""

    def start_broker(self) -> None:
        """Start the broker on what its store holds, and wait until the name server knows it."""
        self.died_ms = now_ms()
        self._start_broker()
        self.saves_from = time.monotonic() + FIRST_SAVE_S

    def kill_broker(self) -> None:
        """SIGKILL."""
        self._broker.kill()
        self._broker.wait()

    def freeze_broker(self) -> None:
        """Let it stand still (SIGSTOP) until it is killed."""
        self._broker.send_signal(signal.SIGSTOP)

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Nothing in the broker's process moves."""
        self.freeze_broker()
        os.waitid(os.P_PID, self._broker.pid, os.WSTOPPED)
        try:
            yield
        finally:
            self._broker.send_signal(signal.SIGCONT)

    def stop_broker(self) -> None:
        """SIGTERM, and wait for its end."""
        self._processes.stop(self._broker)

    def kill(self) -> None:
        """Kill the broker, and start it again."""
        self.kill_broker()
        self.start_broker()

    def restart(self) -> None:
        """Stop the broker, and start it again."""
        self.stop_broker()
        self.start_broker()

    @property
    def address(self) -> Address:
        """Where the broker listens."""
        return self.ports.broker_address

    @property
    def store(self) -> Path:
        """The broker's store folder."""
        return self.run / "store"
