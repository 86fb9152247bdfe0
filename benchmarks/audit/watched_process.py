"""A command in a process of its own, and what it and all below it take, looked at five times a second."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Final

from benchmarks.computer import family, proportional_bytes, resident_bytes, ticks
from benchmarks.looking import looking

if TYPE_CHECKING:
    from collections.abc import Sequence

_EVERY_SECONDS: Final = 0.2


@dataclass
class Taken:
    """What a command took.

    Attributes
    ----------
    cpu_seconds
        Of all of its processes.
    peak_bytes, peak_resident_bytes
        The largest sums over all of its processes: shared pages counted once (``Pss``), and in each (``Rss``).
    """

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_bytes: int = 0
    peak_resident_bytes: int = 0


def halfcheck(words: Sequence[str]) -> tuple[bytes, Taken]:
    """Run a command of halfcheck; gives what it prints, and what it took."""
    began, taken, used = perf_counter(), Taken(), dict[int, int]()
    with subprocess.Popen([sys.executable, "-m", "halfcheck", *words], stdout=subprocess.PIPE) as process:

        def look() -> None:
            processes = family(process.pid)
            taken.peak_bytes = max(taken.peak_bytes, sum(map(proportional_bytes, processes)))
            taken.peak_resident_bytes = max(taken.peak_resident_bytes, sum(map(resident_bytes, processes)))
            for one in processes:
                used[one] = max(used.get(one, 0), ticks(one))

        with looking(look, _EVERY_SECONDS):
            out, _ = process.communicate()
            taken.seconds = perf_counter() - began
    taken.cpu_seconds = sum(used.values()) / os.sysconf("SC_CLK_TCK")
    return out, taken
