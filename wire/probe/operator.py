"""An operator who ends and starts the broker's process by commands of a shell, which leave no process behind."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Final

from wire.client.channel import Address, BrokerChannel, NoAnswerError
from wire.errors import WireError
from wire.probe.player import FIRST_SAVE_S
from wire.probe.producers import now_ms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_A_TRY_S: Final = 0.2


class OperatorError(WireError):
    """A command did not do what it was given for."""


@dataclass(slots=True)
class ShellOperator:
    """Commands that were given for it; raises `OperatorError` where one fails, or is not given."""

    address: Address
    start_command: str
    kill_command: str | None = None
    stop_command: str | None = None
    """Kill the process (SIGKILL), tell it to stop and wait until it has, start it. A start returns while the broker
    runs on; it need not listen by then."""
    patience_s: float = 120.0
    """So long a command may take, and so long the broker until it listens, or does not listen any more."""
    saves_from: float = 0.0
    died_ms: int = 0

    def kill(self) -> None:
        """See :class:`wire.probe.player.Operator`."""
        self._again(self.kill_command, "--kill")

    def restart(self) -> None:
        """See :class:`wire.probe.player.Operator`."""
        self._again(self.stop_command, "--stop")

    def _again(self, command: str | None, option: str) -> None:
        if command is None:
            message = f"the schedule ends the broker's process: give {option} CMD, too"
            raise OperatorError(message)
        self._run(command, option)
        self._wait(f"{option} {command!r}", listens=False)
        self.died_ms = now_ms()
        self._run(self.start_command, "--start")
        self._wait(f"--start {self.start_command!r}", listens=True)
        self.saves_from = time.monotonic() + FIRST_SAVE_S

    def _run(self, command: str, option: str) -> None:
        """Run a command that the user has given, in a shell, as they wrote it.

        It gets another stdout than the probe's, for whose end somebody may wait. What is interrupted, or late, is
        killed with all that it has started.
        """
        with TemporaryFile() as output:
            with in_own_session(["/bin/sh", "-c", command], output=output) as process:
                try:
                    code = process.wait(self.patience_s)
                except subprocess.TimeoutExpired:
                    message = (
                        f"{option} {command!r} did not return in {self.patience_s:g} s; let it end, by & if need be"
                    )
                    raise OperatorError(message) from None
            if code:
                output.seek(0)
                message = f"{option} {command!r} ended with {code}, and was to return 0{_last_line(output.read())}"
                raise OperatorError(message)

    def _wait(self, behind: str, *, listens: bool) -> None:
        end = time.monotonic() + self.patience_s
        while time.monotonic() < end:
            try:
                BrokerChannel(self.address).close()
                is_there = True
            except NoAnswerError:
                is_there = False
            if is_there == listens:
                return
            time.sleep(_A_TRY_S)
        what = "does not listen" if listens else "still listens"
        message = f"{self.address}: the broker {what} {self.patience_s:g} s behind {behind}"
        raise OperatorError(message)


def _last_line(output: bytes) -> str:
    lines = output.decode("utf-8", "replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f": {last}" if last else ""


@contextmanager
def in_own_session(
    command: Sequence[str], *, environment: Mapping[str, str] | None = None, output: IO[bytes] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A process that reads nothing; if it still runs behind the context, it is killed with all that it has started.

    Ctrl-C at this terminal reaches neither it nor a broker that it has started in the background.

    What it prints goes into a file, or where this process prints.
    """
    process = None
    try:
        with _interruptions_held():
            process = subprocess.Popen(  # noqa: S603 - what the user has given to run, or cargo
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=None if output is None else subprocess.STDOUT,
                start_new_session=True,
            )
        yield process
    finally:
        if process is not None and process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextmanager
def _interruptions_held() -> Iterator[None]:
    """Ctrl-C and SIGTERM that come in here act behind it; only the main thread hears of them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {number: signal.signal(number, lambda n, _: came.append(n)) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for first in came[:1]:
        signal.raise_signal(first)
