"""``python -m tests.spark_trace_analysis.cluster_kills [SEED]``: the three commands on a standalone cluster, killed.

Each command runs on this machine alone; on two workers while one executor is killed with SIGKILL; and on two workers
while the driver is, and then once more. All three results have to be the same.
"""

from __future__ import annotations

import json
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

from tests.spark_trace_analysis.standalone_cluster import PROJECT, SMALL, StandaloneCluster, children_of, kill_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TRACES = 200_000
LONGEST_DELAY_SECONDS = 2.0


@dataclass(frozen=True)
class Command:
    """One command, and what to compare of it.

    Attributes
    ----------
    words : callable
        From the folder for what it writes to its words.
    result : callable
        From that folder and the standard output to what has to be the same.
    """

    name: str
    words: Callable[[Path], tuple[str, ...]]
    result: Callable[[Path, str], Any]


def commands(inputs: Path) -> tuple[Command, ...]:
    """The three; simulate comes first, since its traces are what the second one judges."""
    store = PROJECT / "conformance" / "golden" / "5.3.3" / "wide"
    walks = ("--profile", "5.3.3", "--faults", "crash,lose_end", "--traces", str(TRACES), "--steps", "20")
    return (
        Command("simulate", lambda out: ("simulate", *walks, "--out", str(out / "traces")), _files),
        Command("analyze", lambda _: ("analyze", str(inputs / "traces"), "--json"), _judged),
        Command("audit", lambda out: ("audit", str(store), "--all", "--json", "--out", str(out / "rows")), _audited),
    )


def _files(folder: Path, _printed: str) -> dict[str, str]:
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in sorted((folder / "traces").iterdir())}


def _judged(_folder: Path, printed: str) -> Any:
    told = json.loads(printed)
    return {name: told[name] for name in ("traces", "events", "violations")}


def _audited(folder: Path, printed: str) -> Any:
    told = json.loads(printed)
    rows = sum(path.stat().st_size for path in (folder / "rows").glob("*.parquet"))
    return {**told, "bytes of rows": rows}


def main(seed: int) -> int:
    """Run all, print a line for each; returns how many results differ."""
    chance, differing = random.Random(seed), 0
    with tempfile.TemporaryDirectory(prefix="halfcheck_kills_") as name:
        folder = Path(name)
        with StandaloneCluster(folder / "cluster") as cluster:
            for command in commands(folder / "expected"):
                expected = _run(command, folder / "expected", "local[2]", cluster.environment)
                for who in ("executor", "driver"):
                    began = perf_counter()
                    delay = chance.uniform(0, LONGEST_DELAY_SECONDS)
                    out = folder / f"{command.name}-{who}"
                    found, killed = _killed(command, out, cluster, who, delay)
                    same = found == expected
                    differing += not same or not killed
                    print(
                        f"{command.name}: {who} killed {delay:.2f} s into its first task"
                        f"{'' if killed else ' (TOO LATE)'}, {perf_counter() - began:.0f} s in all: "
                        f"{'the same result' if same else 'ANOTHER RESULT'}",
                        flush=True,
                    )
                    shutil.rmtree(out)
    return differing


def _words(command: Command, out: Path, master: str) -> tuple[str, ...]:
    out.mkdir(parents=True, exist_ok=True)
    settings = (word for setting in SMALL for word in ("--conf", setting))
    return (sys.executable, "-m", "halfcheck", *command.words(out), "--master", master, *settings)


def _run(command: Command, out: Path, master: str, environment: Mapping[str, str]) -> Any:
    ran = subprocess.run(
        _words(command, out, master), stdout=subprocess.PIPE, env=environment, cwd=PROJECT, text=True, check=True
    )
    return command.result(out, ran.stdout)


def _killed(command: Command, out: Path, cluster: StandaloneCluster, who: str, delay: float) -> tuple[Any, bool]:
    """The result of a command of which one process is killed, and whether the command was still at work then."""
    words = _words(command, out, cluster.master)
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=cluster.environment, cwd=PROJECT, text=True) as process:
        while not any(_python_workers(executor) for executor in cluster.executors()) and process.poll() is None:
            sleep(0.02)
        sleep(delay)
        is_at_work = process.poll() is None and bool(cluster.executors())
        if who == "driver":
            kill_tree(process.pid)
        elif is_at_work:
            kill_tree(cluster.executors()[0])
        printed, _ = process.communicate()
    if who == "driver":
        while cluster.executors():
            sleep(0.1)
        return _run(command, out, cluster.master, cluster.environment), is_at_work
    return command.result(out, printed), is_at_work


def _python_workers(executor: int) -> list[int]:
    """The processes that run an executor's tasks: children of the one that it started to fork them."""
    return [worker for daemon in children_of(executor) for worker in children_of(daemon)]


if __name__ == "__main__":
    sys.exit(min(main(int(sys.argv[1]) if len(sys.argv) > 1 else 7), 1))
