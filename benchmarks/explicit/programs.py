"""Runs the programs, each in a process of its own."""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.explicit.warm_memory import warm_memory
from benchmarks.explicit.workloads import TLC, TLC_WORKERS, WORKLOADS
from benchmarks.sources import HERE, run_with
from benchmarks.tlc import search_by_tlc

CRATE = Path(__file__).with_name("stateright")
BUILT = Path("build/stateright")


@dataclass(frozen=True, slots=True)
class Row:
    """One program on one workload.

    Attributes
    ----------
    depth : int
        States on the longest shortest path, as Stateright and TLC count it.
    seconds : tuple of float
        Of each run's search.
    bytes_a_state : float or None
        Of states and hash table; for Stateright of its whole process.
    """

    workload: str
    program: str
    threads: int
    distinct: int
    generated: int
    depth: int
    seconds: tuple[float, ...]
    bytes_a_state: float | None
    first_level_seconds: float | None = None

    @property
    def median(self) -> float:
        """Seconds of the median run."""
        return statistics.median(self.seconds)

    @property
    def rate(self) -> float:
        """Distinct states a second in the median run."""
        return self.distinct / self.median


def search(name: str, threads: int, cache: Path, tree: Path = HERE) -> dict[str, Any]:
    """One search in a fresh process, by the sources in a tree; this project says what is searched."""
    warm_memory(WORKLOADS[name].gibibytes << 30)
    words = name, str(threads), str(time.time())
    told = run_with(tree, "benchmarks/explicit/workloads.py", *words, HALFCHECK_CACHE=str(cache))
    told.check_returncode()
    answer: dict[str, Any] = json.loads(told.stdout)
    return answer


def stateright(name: str, threads: int) -> dict[str, Any]:
    """One search by Stateright."""
    warm_memory(WORKLOADS[name].gibibytes << 30)
    command = [str(BUILT / "target/release/yardsticks"), name, str(threads)]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    distinct, generated, depth, seconds, kib = told.stdout.split()
    return {
        "distinct": int(distinct),
        "generated": int(generated),
        "depth": int(depth),
        "seconds": float(seconds),
        "state_bytes": int(kib) * 1024,
    }


def build_stateright() -> bool:
    """Build the crate below build/, so that no lock file comes to lie beside the sources; False without cargo."""
    cargo = shutil.which("cargo")
    if cargo is None:
        return False
    BUILT.mkdir(parents=True, exist_ok=True)
    shutil.copytree(CRATE, BUILT, dirs_exist_ok=True)
    subprocess.run([cargo, "build", "--release", "--quiet"], cwd=BUILT, check=True)
    return True


def summed_up(workload: str, program: str, threads: int, runs: list[dict[str, Any]]) -> Row:
    """The runs of one program; they must agree on what they found."""
    (found,) = {(run["distinct"], run["generated"]) for run in runs}
    starts = [run["first_level_seconds"] for run in runs if "first_level_seconds" in run]
    return Row(
        workload,
        program,
        threads,
        *found,
        runs[0]["depth"],
        tuple(run["seconds"] for run in runs),
        max(run["state_bytes"] for run in runs) / found[0],
        statistics.median(starts) if starts else None,
    )


def tlc(name: str) -> Row:
    """TLC on the exported module: one run, the seconds of its whole process."""
    workload = WORKLOADS[name]
    told = search_by_tlc(workload.machine, workload.constants, TLC_WORKERS)
    if told.distinct is None or told.generated is None or told.depth is None:
        raise RuntimeError(told.output)
    return Row(workload.title, TLC, TLC_WORKERS, told.distinct, told.generated, told.depth, (told.seconds,), None)


def import_seconds(repeats: int) -> float:
    """What importing the command line takes, in a process of its own, Python's own start excluded."""
    code = "import time; a = time.perf_counter(); import halfcheck.app; print(time.perf_counter() - a)"
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(repeats)
    ]
    return statistics.median(float(run.stdout) for run in runs)
