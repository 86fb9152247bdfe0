"""Somebody who can end and start the broker's process by commands of a shell."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from wire.client.channel import Channel, NoAnswerError
from wire.errors import WireError
from wire.probe.player import FIRST_SAVE_S
from wire.probe.producers import now_ms

if TYPE_CHECKING:
    from wire.client.channel import Address

_PATIENCE_S: Final = 120.0
_A_TRY_S: Final = 0.2


class OperatorError(WireError):
    """A command did not do what it was given for."""


@dataclass(slots=True)
class ShellOperator:
    """Commands that were given for it.

    Attributes
    ----------
    kill, stop, start
        Kill the process (SIGKILL), tell it to stop, start it. A start may return before the broker listens.
    """

    address: Address
    start_command: str
    kill_command: str | None = None
    stop_command: str | None = None
    saves_from: float = 0.0
    died_ms: int = 0

    def kill(self) -> None:
        """See :class:`wire.probe.player.Operator`.

        Raises
        ------
        OperatorError
            A command fails, or is not given.
        """
        self._again(self.kill_command, "--kill")

    def restart(self) -> None:
        """See :class:`wire.probe.player.Operator`.

        Raises
        ------
        OperatorError
            A command fails, or is not given.
        """
        self._again(self.stop_command, "--stop")

    def _again(self, command: str | None, option: str) -> None:
        if command is None:
            message = f"the schedule ends the broker's process: give {option} CMD, too"
            raise OperatorError(message)
        _run(command, option)
        _wait(self.address, listens=False)
        self.died_ms = now_ms()
        _run(self.start_command, "--start")
        _wait(self.address, listens=True)
        self.saves_from = time.monotonic() + FIRST_SAVE_S


def _run(command: str, option: str) -> None:
    """Run a command that the user has given, in a shell, as they wrote it."""
    done = subprocess.run(command, shell=True, check=False, stdin=subprocess.DEVNULL, timeout=_PATIENCE_S)  # noqa: S602
    if done.returncode:
        message = f"{option} {command!r} ended with {done.returncode}; it was to return 0"
        raise OperatorError(message)


def _wait(address: Address, *, listens: bool) -> None:
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end:
        try:
            Channel(address).close()
            is_there = True
        except NoAnswerError:
            is_there = False
        if is_there == listens:
            return
        time.sleep(_A_TRY_S)
    what = "does not listen" if listens else "still listens"
    message = f"{address}: the broker {what} after {_PATIENCE_S:.0f} s"
    raise OperatorError(message)
