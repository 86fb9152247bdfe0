"""Three commands on a cluster, and kills: ``python -m tests.spark_trace_analysis.cluster.cluster_kills [SEED]``.

Each command runs on this machine alone, and on two workers while something is killed with SIGKILL: an executor, a
worker with its executor, or the driver; a command whose driver was killed is run once more, and has to say that it
goes on. All results have to be the same. What is found is written to ``benchmarks/spark/KILLS.md``.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any

from benchmarks.audit.written_store import write_store
from benchmarks.computer import processor
from spark_trace_analysis.records.store_splits import SPLIT_BYTES
from tests.processes import is_over
from tests.spark_trace_analysis.cluster.standalone_cluster import (
    PROJECT,
    SMALL,
    StandaloneCluster,
    kill_tree,
    python_seconds,
    seconds_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

RESULTS = PROJECT / "benchmarks" / "spark" / "KILLS.md"
TRACES = 240_000
STEPS = 20
STORE_BYTES = 900_000_000
VICTIMS = ("executor", "worker", "driver")
_AT_WORK_SECONDS = 0.2


@dataclass(frozen=True)
class Command:
    """One command, and what to compare of it.

    Attributes
    ----------
    words
        From the folder for what it writes to its words.
    result
        From that folder and the standard output to what has to be the same.
    finished
        From that folder to how many pieces of the work are finished; none are left when the command is done.
    pieces
        How many of them there are.
    latest
        When so many are finished at the latest, something is killed; all of them, where more work is to come.
    found
        The key under which ``--json`` says how many a second run has found.
    """

    name: str
    words: Callable[[Path], tuple[str, ...]]
    result: Callable[[Path, Any], Any]
    finished: Callable[[Path], int]
    pieces: int
    latest: int
    found: str


@dataclass(frozen=True)
class Case:
    """What became of one command of which something was killed.

    Attributes
    ----------
    finished
        How many pieces of work were finished when it was killed.
    gone_on_with
        How many of them the second run found; None if there was no second run.
    """

    command: Command
    victim: str
    finished: int
    was_at_work: bool
    gone_on_with: int | None
    seconds: float
    is_same: bool

    @property
    def is_right(self) -> bool:
        """Whether it was hit in its work, the result is the same, and a second run went on from the first."""
        resumed = self.gone_on_with is None or self.gone_on_with >= self.finished > 0
        return self.was_at_work and self.is_same and resumed

    def row(self) -> str:
        """A row of the table."""
        found = "" if self.gone_on_with is None else str(self.gone_on_with)
        hit = f"{self.finished} of {self.command.pieces}" if self.was_at_work else "TOO LATE"
        same = "yes" if self.is_same else "NO"
        return f"| {self.command.name} | {self.victim} | {hit} | {found} | {self.seconds:.0f} | {same} |"


def commands(inputs: Path, store: Path) -> tuple[Command, ...]:
    """The three; simulate comes first, since its traces are what the second one judges."""
    walks = ("--profile", "5.3.3", "--faults", "crash,lose_end", "--traces", str(TRACES), "--steps", str(STEPS))
    traces = inputs / "traces"
    return (
        Command(
            "simulate",
            lambda out: ("simulate", *walks, "--out", str(out / "traces"), "--json"),
            _files,
            lambda out: len(list((out / "traces" / ".simulate" / "notes").glob("*.json"))),
            8,
            4,
            "files_found",
        ),
        Command(
            "analyze",
            lambda _: ("analyze", str(traces), "--json"),
            lambda _, answer: {name: answer[name] for name in ("traces", "events", "violations", "shortest")},
            lambda _: min(len(list((traces / ".analysis").glob("*.json"))), 8),  # by kernels, then by expressions
            8,
            8,
            "files_found",
        ),
        Command(
            "audit",
            lambda out: ("audit", str(store), "--json", "--out", str(out / "rows")),
            _audited,
            lambda out: len(list((out / ".rows.audit").glob("scan-*.json"))),
            (1 << 30) // SPLIT_BYTES,
            (1 << 30) // SPLIT_BYTES // 2,
            "tasks_found",
        ),
    )


def _files(folder: Path, _answer: Any) -> dict[str, str]:
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in sorted((folder / "traces").glob("*.parquet"))}


def _audited(folder: Path, answer: Any) -> Any:
    rows = {path.name: sha256(path.read_bytes()).hexdigest() for path in (folder / "rows").glob("*.parquet")}
    return {name: value for name, value in answer.items() if name != "tasks_found"} | {"rows": rows}


def main(seed: int) -> int:
    """Run all, print and write the table; returns how many cases are not right."""
    chance, cases = random.Random(seed), []
    began = perf_counter()
    with tempfile.TemporaryDirectory(prefix="halfcheck_kills_") as name:
        folder = Path(name)
        write_store(folder / "store", STORE_BYTES)
        for command in commands(folder / "expected", folder / "store"):
            with StandaloneCluster(folder / command.name) as cluster:
                expected = command.result(*_run(command, folder / "expected", "local[2]", cluster.environment))
            for victim in VICTIMS:
                with StandaloneCluster(folder / f"{command.name}-{victim}") as cluster:
                    out = folder / f"out-{command.name}-{victim}"
                    cases.append(_case(command, out, cluster, victim, chance.randint(1, command.latest), expected))
                print(cases[-1].row(), flush=True)
                shutil.rmtree(out)
    RESULTS.write_text(_page(cases, seed, perf_counter() - began), encoding="utf-8")
    return sum(not case.is_right for case in cases)


def _page(cases: list[Case], seed: int, seconds: float) -> str:
    """The table as Markdown."""
    met = "yes" if all(case.is_right for case in cases) else "NO"
    rows = "\n".join(case.row() for case in cases)
    return f"""# What SIGKILL leaves of the three commands on a cluster

Written by `make cluster-kills` (seed {seed}); {seconds:.0f} s in all.

{processor()}, {os.cpu_count()} cores. A Spark standalone cluster on loopback: a master and two workers of one core,
each a process of its own. `simulate` writes {TRACES:,} traces of up to {STEPS} steps, `analyze` judges them, and
`audit` reads a store of {STORE_BYTES / 1e6:.0f} MB. Something is killed once as many pieces of the work (files of
traces, or splits of the log) are finished as the table says, and the executors are at work on others, or on what comes
after all of them (`analyze` then judges by expressions, `audit` joins and judges transactions): an executor with its
Python workers; a worker with its executor, for which no other one comes; or the driver with its Java. After a killed
driver the same command is run once more: the fourth column is what it says that it found, the fifth the time of both.

The result is the same if every byte of the traces and rows, and what `--json` says, is what one machine gives.
Others may share the cores; the seconds say that a case ends, not how fast it can.

| Command | Killed | When finished | Gone on with | Seconds | The same result |
|---|---|--:|--:|--:|---|
{rows}

All were hit in their work, and ended with the same result: {met}.
"""


def _words(command: Command, out: Path, master: str) -> tuple[str, ...]:
    out.mkdir(parents=True, exist_ok=True)
    settings = (word for setting in SMALL for word in ("--conf", setting))
    return (sys.executable, "-m", "halfcheck", *command.words(out), "--master", master, *settings)


def _run(command: Command, out: Path, master: str, environment: Mapping[str, str]) -> tuple[Path, Any]:
    words = _words(command, out, master)
    ran = subprocess.run(words, stdout=subprocess.PIPE, env=environment, cwd=PROJECT, text=True, check=True)
    return out, json.loads(ran.stdout)


def _case(command: Command, out: Path, cluster: StandaloneCluster, victim: str, pieces: int, expected: Any) -> Case:
    """Run a command, kill something once so many pieces are finished, and see what comes of it."""
    began = perf_counter()
    words = _words(command, out, cluster.master)
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=cluster.environment, cwd=PROJECT, text=True) as process:
        while command.finished(out) < pieces and process.poll() is None:
            sleep(0.005)
        finished, executor = command.finished(out), _executor_at_work(cluster, process)
        was_at_work = executor is not None
        if executor is not None and victim == "driver":
            kill_tree(process.pid)
        elif executor is not None:
            if victim == "worker":
                kill_tree(_worker_of(cluster, executor))
            kill_tree(executor)
        printed, _ = process.communicate()
    gone_on_with = None
    if victim == "driver":
        while cluster.executors():
            sleep(0.1)
        ran = _run(command, out, cluster.master, cluster.environment)
        gone_on_with = ran[1][command.found]
    elif process.returncode == 0:
        ran = out, json.loads(printed)
    else:
        return Case(command, victim, finished, was_at_work, None, perf_counter() - began, is_same=False)
    is_same = command.result(*ran) == expected
    return Case(command, victim, finished, was_at_work, gone_on_with, perf_counter() - began, is_same)


def _executor_at_work(cluster: StandaloneCluster, process: subprocess.Popen[str]) -> int | None:
    """An executor that takes time, by itself or by its Python, while the command runs; None when that is over."""
    before = {executor: _seconds(executor) for executor in cluster.executors()}
    while process.poll() is None:
        for executor in cluster.executors():
            if not is_over(executor) and _seconds(executor) > before.setdefault(executor, 0) + _AT_WORK_SECONDS:
                return executor
    return None


def _seconds(executor: int) -> float:
    return seconds_of(executor) + sum(python_seconds(executor).values())


def _worker_of(cluster: StandaloneCluster, executor: int) -> int:
    return next(worker for worker in cluster.workers() if executor in cluster.executors_of(worker))


if __name__ == "__main__":
    sys.exit(min(main(int(sys.argv[1]) if len(sys.argv) > 1 else 66), 1))
