"""Runs a command in a process of its own and says what it cost."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """What one run of a command took."""

    seconds: float
    peak_bytes: int
    exit_code: int


def measure(command: list[str]) -> Cost:
    """Run a command to its end, its output thrown away.

    Parameters
    ----------
    command
        The program's path and its arguments.

    Returns
    -------
    Cost
        Wall-clock seconds, the largest resident size of the process, and its exit code.
    """
    silence = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    started = time.perf_counter()
    process = os.posix_spawn(command[0], command, os.environ, file_actions=silence)
    _, status, usage = os.wait4(process, 0)
    unit_bytes = 1 if sys.platform == "darwin" else 1024
    return Cost(time.perf_counter() - started, usage.ru_maxrss * unit_bytes, os.waitstatus_to_exitcode(status))
