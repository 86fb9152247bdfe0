"""A Spark standalone cluster on loopback: master, workers and executors are processes that can be killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING

import pyspark

from spark_trace_analysis.cluster.session import require_java
from tests.processes import is_over

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

SPARK_HOME = Path(pyspark.__file__).parent
PROJECT = Path(__file__).resolve().parents[3]
SMALL = (
    "spark.driver.memory=512m",
    "spark.executor.memory=512m",
    "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.shuffle.partitions=2",
)
"""Settings of applications that are over soon."""

_LONGEST_START_SECONDS = 300.0


class StandaloneCluster:
    """A context: the processes start with it and are killed at its end.

    Parameters
    ----------
    folder
        For logs, and the workers' own folders, ``work-0`` and so on.
    workers
        How many, each with one core.

    Attributes
    ----------
    folder
        As given.
    master
        The URL for ``--master``.
    environment
        What a driver's process should have in its environment.
    """

    def __init__(self, folder: Path, workers: int = 2) -> None:
        require_java()
        self.folder = folder
        self._number = workers
        self._processes: list[subprocess.Popen[bytes]] = []
        self.master = ""
        self.environment = {
            **{
                name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_", "COV_"))
            },
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": str(PROJECT),
            "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dspark.master.rest.enabled=false",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_HOME": str(SPARK_HOME),
            "SPARK_LOCAL_IP": "127.0.0.1",
        }

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            self._start("master", "master.Master", "--port", "0")
            self.master = self._find("master", r"Starting Spark master at (spark://\S+)")
            for number in range(self._number):
                own = str(self.folder / f"work-{number}")
                words = ("--cores", "1", "--memory", "1g", "--work-dir", own, self.master)
                self._start(f"worker-{number}", "worker.Worker", *words)
            for number in range(self._number):
                self._find(f"worker-{number}", r"(Successfully registered with master)")
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in reversed(self._processes):
            kill_tree(process.pid)
            process.wait()

    def workers(self) -> list[int]:
        """The process ids of the workers that run."""
        return [process.pid for process in self._processes[1:] if process.poll() is None]

    def executors_of(self, worker: int) -> list[int]:
        """The process ids of a worker's executors, as far as they run."""
        return [child for child in children_of(worker) if not is_over(child)]

    def executors(self) -> list[int]:
        """All executors that run, in the order of their workers."""
        return [executor for worker in self.workers() for executor in self.executors_of(worker)]

    def _start(self, name: str, kind: str, *words: str) -> None:
        """Start a master or a worker; Java's standard output and error go to a file."""
        command = (
            str(SPARK_HOME / "bin" / "spark-class"),
            f"org.apache.spark.deploy.{kind}",
            *("--host", "127.0.0.1", "--webui-port", "0"),
            *words,
        )
        # An executor's Python finds this project only where the driver shipped it.
        environment = {name: value for name, value in self.environment.items() if name != "PYTHONPATH"}
        with (self.folder / f"{name}.log").open("wb") as log:
            self._processes.append(
                subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, cwd=self.folder
                )
            )

    def _find(self, name: str, pattern: str) -> str:
        """Wait until a process says something."""
        log = self.folder / f"{name}.log"
        began = monotonic()
        while monotonic() - began < _LONGEST_START_SECONDS:
            found = re.search(pattern, log.read_text(errors="replace"))
            if found:
                return found.group(1)
            if any(process.poll() is not None for process in self._processes):
                break
            sleep(0.1)
        message = f"the {name} did not start:\n{log.read_text(errors='replace')}"
        raise RuntimeError(message)


def children_of(pid: int) -> list[int]:
    """The processes that a process started and that still run."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
        if parent == pid:
            found.append(int(folder.name))
    return found


def tree_of(pid: int) -> list[int]:
    """A process and all that it started, the older before the younger."""
    return [pid, *(below for child in children_of(pid) for below in tree_of(child))]


def python_seconds(executor: int) -> dict[int, float]:
    """The processor time that each of an executor's Python processes has taken so far.

    Spark ends one that had nothing to do for a minute: what all of them took together may become less.
    """
    return {process: seconds_of(process) for process in tree_of(executor)[1:]}


def seconds_of(pid: int) -> float:
    """The processor time that a process has taken so far; 0 if it is gone."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def signal_tree(pid: int, what: signal.Signals) -> None:
    """Send a signal to a process and all that it started."""
    for process in tree_of(pid):
        with suppress(ProcessLookupError):
            os.kill(process, what)


def kill_tree(pid: int) -> None:
    """SIGKILL a process and all that it started."""
    signal_tree(pid, signal.SIGKILL)
