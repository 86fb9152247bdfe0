"""One run of the pipeline in a process of its own, watched from outside."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from benchmarks.computer import family, proportional_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

EVERY_SECONDS: Final = 0.5


@dataclass
class Measured:
    """What a run took.

    Attributes
    ----------
    seconds : float
        From the start of the process to its end.
    phases : dict
        Phase to seconds.
    peaks : dict
        Phase to the most memory of all processes together, in bytes.
    told : dict
        What the run itself says in the end.
    """

    seconds: float = 0.0
    phases: dict[str, float] = field(default_factory=dict)
    peaks: dict[str, int] = field(default_factory=dict)
    told: dict[str, Any] = field(default_factory=dict)

    @property
    def peak_bytes(self) -> int:
        """The most memory of all processes together."""
        return max(self.peaks.values())


def measure(traces: int, steps: int, instances: Sequence[str]) -> Measured:
    """Run the pipeline once over so many traces, in a new folder."""
    measured = Measured()
    with tempfile.TemporaryDirectory(prefix="halfcheck_bench_") as folder:
        began = perf_counter()
        command = (sys.executable, "-m", "benchmarks.spark.pipeline", str(traces), folder, str(steps), *instances)
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None  # noqa: S101 (for the type checker: it was asked for)
            over = threading.Event()
            phase = [""]
            watcher = threading.Thread(target=_watch, args=(process.pid, over, phase, measured.peaks), daemon=True)
            lines: list[dict[str, Any]] = []
            for line in process.stdout:
                lines.append(json.loads(line))
                phase[0] = lines[-1].get("phase", phase[0])
                if len(lines) == 1:
                    watcher.start()
            over.set()
        measured.seconds = perf_counter() - began
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
    watcher.join()
    measured.told = lines[-1]
    for one, following in pairwise(lines):
        measured.phases[one["phase"]] = following["at"] - one["at"]
    return measured


def _watch(pid: int, over: threading.Event, phase: list[str], peaks: dict[str, int]) -> None:
    """Keep the most memory of each phase."""
    while not over.wait(EVERY_SECONDS):
        peaks[phase[0]] = max(peaks.get(phase[0], 0), sum(map(proportional_bytes, family(pid))))
