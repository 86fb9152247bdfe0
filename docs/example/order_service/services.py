"""The order services as a test sees them: built once, processes of their own, asked over HTTP."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
JAVA = HERE / "java"
GO = HERE / "go"
PYTHON = HERE / "python"
REBALANCES = "-Drocketmq.client.rebalance.waitInterval=1000"  # as often as it asks the name server; else every 20 s
COPY = "dependency:copy-dependencies"
GO_PROGRAM = HERE / "build" / "orders"

BUILD_SECONDS = 1_200
SECONDS = 120


class BuildError(Exception):
    """A service can't be built here; the message is one line."""


class Service:
    """A service that runs, from entering the context on.

    Parameters
    ----------
    command
        Prints where it listens, in its first line.
    log
        What it says else.
    """

    def __init__(self, command: list[str], log: Path) -> None:
        self._command = command
        self._log = log

    def __enter__(self) -> Service:
        with self._log.open("w") as log:
            self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, stderr=log, text=True)
        assert self._process.stdout is not None
        patience = threading.Timer(SECONDS, self._process.kill)
        patience.start()
        self._address = self._process.stdout.readline().strip()
        patience.cancel()
        if not self._address:
            self.__exit__()
            said = self._log.read_text().strip().splitlines()
            raise RuntimeError(f"{self._command[0]} did not start: {said[-1] if said else 'it said nothing'}")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def place(self, order: str) -> str:
        """Place an order; what its local transaction came to."""
        return str(self.ask("POST", f"/orders/{order}")["state"])

    def became(self, order: str) -> dict[str, Any]:
        """Whether it is placed, how often the warehouse has received it, how many parcels were packed."""
        return self.ask("GET", f"/orders/{order}")

    def wait_until_received(self, order: str, times: int = 1) -> dict[str, Any]:
        """Wait until the warehouse has heard of an order so often; what became of it."""
        wait_until(lambda: self.became(order)["received"] >= times, f"{order} was not received {times} times")
        return self.became(order)

    def ask(self, method: str, path: str) -> dict[str, Any]:
        """One request, and the JSON that it is answered."""
        with urlopen(Request(self._address + path, method=method), timeout=SECONDS) as answer:
            return dict(json.loads(answer.read()))


def wait_until(is_so: Callable[[], object], otherwise: str, seconds: float = SECONDS) -> None:
    """Wait until something is so, in real time."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, f"{otherwise} within {seconds} s"
        time.sleep(0.05)


def build_java() -> list[str]:
    """Compile the Java service; its command, but for settings, class and arguments."""
    maven = _tool("mvn", "test_java.py builds the service with Maven 3; install it")
    java = _tool("java", "test_java.py runs the service with Java 17 or newer; install a JDK")
    _make(JAVA / "target" / "built", JAVA, [maven, "-q", "-B", "-f", str(JAVA / "pom.xml"), "compile", COPY])
    classes = f"{JAVA / 'target' / 'classes'}{os.pathsep}{JAVA / 'target' / 'lib'}/*"
    return [java, "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", REBALANCES, "-cp", classes]


def build_go() -> list[str]:
    """Compile the Go service; its command, but for its arguments. Go writes go.sum as it fetches the modules."""
    go = _tool("go", "test_go.py builds the service with Go 1.22 or newer; install it")
    command = [go, "build", "-C", str(GO), "-mod=mod", "-buildvcs=false", "-o", str(GO_PROGRAM), "."]
    _make(GO_PROGRAM.with_name("built"), GO, command)
    return [str(GO_PROGRAM)]


def build_python() -> list[str]:
    """The command of the Python service, but for its arguments; there is nothing to build."""
    if find_spec("rocketmq") is None:
        raise BuildError("rocketmq is not installed: test_python.py wants pip install rocketmq-python-client==5.1.2")
    return [sys.executable, str(PYTHON / "orders.py")]


def _tool(name: str, why: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise BuildError(f"{name} is not on PATH: {why}")
    return found


def _make(stamp: Path, folder: Path, command: list[str]) -> None:
    """Run a command, unless it was run since the sources in a folder were changed."""
    sources = [path for path in folder.rglob("*") if path.suffix in {".java", ".go", ".mod", ".xml"}]
    if stamp.is_file() and all(path.stat().st_mtime < stamp.stat().st_mtime for path in sources):
        return
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=BUILD_SECONDS)
    if done.returncode:
        said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise BuildError(f"{Path(command[0]).name} failed: {said[0] if said else done.returncode}")
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.write_text(" ".join(command) + "\n")
