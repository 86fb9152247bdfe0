"""Runs ``halfcheck check`` in processes of their own, kills one if need be, and says what each took."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from model_check.world import QUIET, Environment, World

if TYPE_CHECKING:
    from pathlib import Path

SECONDS_BETWEEN_LOOKS = 0.2

ENDED = (0, 12, 255)
"""The exit codes of a search that came to an end; the last one where it was cut short on purpose."""


@dataclass(frozen=True)
class Run:
    """One process.

    Attributes
    ----------
    answer : dict
        What it printed; empty when it was killed.
    wall_seconds : float
        Of the whole process.
    resident_bytes : int
        The most that it had in memory, mapped files included.
    """

    answer: dict[str, Any]
    wall_seconds: float
    resident_bytes: int


def check(world: World, *options: object, kill_at: tuple[Path, int] | None = None) -> Run:
    """Search once.

    Parameters
    ----------
    kill_at
        A checkpoint's folder and a number of states: the process gets SIGKILL when a checkpoint holds so many.

    Raises
    ------
    RuntimeError
        When the process ends in another way than it should.
    """
    command = [sys.executable, "-m", "halfcheck", "check", "--json", *world.options.split(), *map(str, options)]
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        if kill_at is not None:
            _kill(process, *kill_at)
        out, complaint = process.stdout, process.stderr
        told, said = (out.read() if out else ""), (complaint.read() if complaint else "")
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wanted = (-signal.SIGKILL,) if kill_at else ENDED
    if process.returncode not in wanted:
        message = f"{' '.join(command)}: {process.returncode} {said}"
        raise RuntimeError(message)
    resident = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    if kill_at is None and not told:
        raise RuntimeError(said)
    return Run({} if kill_at else json.loads(told), time.perf_counter() - started, resident)


def states_of(folder: Path) -> int:
    """States that the checkpoint in a folder holds; 0 without one."""
    file = folder / "checkpoint.json"
    return int(json.loads(file.read_text(encoding="utf-8"))["distinct"]) if file.exists() else 0


def _kill(process: subprocess.Popen[str], folder: Path, states: int) -> None:
    while states_of(folder) < states and not _is_over(process):
        time.sleep(SECONDS_BETWEEN_LOOKS)
    os.kill(process.pid, signal.SIGKILL)


def _is_over(process: subprocess.Popen[str]) -> bool:
    """Whether the process has ended; it is left for `wait4`, which says what it took."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def given_world(words: list[str], usual: World) -> World:
    """The instance, profile and faults on a command line, as far as they are given.

    Examples
    --------
    >>> str(given_world(["medium"], World.of("5.3.3", ["crash"], "trio")))
    '5.3.3 medium quiet'
    """
    if not words:
        return usual
    instance, profile, faults = [*words, usual.profile.name, QUIET] if len(words) == 1 else [*words, QUIET][:3]
    return World.of(profile, Environment.named(faults), instance)
