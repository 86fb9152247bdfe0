"""The Java processes of a run: started with a patience, and none is left when the run is over."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from conformance.errors import RealBrokerError
from files.reading import read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_OPENED: Final = ("java.nio", "sun.nio.ch", "jdk.internal.ref", "java.lang", "java.util", "jdk.internal.misc")
_EXPORTED: Final = ("sun.nio.ch", "jdk.internal.ref")
_KILL_SECONDS: Final = 20


def found_java() -> str:
    """The path of ``java``: that of JAVA_HOME, or else of PATH.

    Raises
    ------
    RealBrokerError
        There is none.
    """
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None or not Path(java).is_file():
        message = f"no java at {java or 'any place of PATH'}: a JDK 17 or newer is wanted; set JAVA_HOME"
        raise RealBrokerError(message)
    return java


def java_command(run: Path, heap: str, *, compiles_well: bool = False) -> list[str]:
    """The JVM and its options, good for all releases on JDK 17 and later.

    Parameters
    ----------
    run, heap
        Where it writes, and how much memory its objects may take.
    compiles_well
        Whether what runs often is compiled well, as a JVM does by itself; a short run is over before that pays.

    Raises
    ------
    RealBrokerError
        There is no ``java``.
    """
    return [
        found_java(),
        f"-Xmx{heap}",
        "-Xms64m",
        "-XX:+UseSerialGC",
        *([] if compiles_well else ["-XX:TieredStopAtLevel=1"]),
        "-XX:MaxDirectMemorySize=256m",
        "-XX:-UsePerfData",
        f"-Duser.home={run}/home",
        f"-Djava.io.tmpdir={run}/home",
        f"-Drocketmq.home.dir={run}",
        "-Duser.timezone=UTC",
        "-Djava.net.preferIPv4Stack=true",
        "-Dio.netty.tryReflectionSetAccessible=true",
        *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
        *(f"--add-exports=java.base/{package}=ALL-UNNAMED" for package in _EXPORTED),
    ]


class Processes:
    """The processes of one run; leaving it as a context kills those that still run.

    Parameters
    ----------
    run
        The folder that they run in; each writes what it prints to ``NAME.out`` there.
    name_server_address
        What they find in ``NAMESRV_ADDR``.
    """

    def __init__(self, run: Path, name_server_address: str) -> None:
        self._run = run
        self._environment = {**os.environ, "ROCKETMQ_HOME": str(run), "NAMESRV_ADDR": name_server_address}
        self._started: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._started:
            if process.poll() is None:
                process.kill()
        for process in self._started:
            process.wait(_KILL_SECONDS)

    def start(self, name: str, command: Sequence[str]) -> subprocess.Popen[bytes]:
        """Start a process that reads nothing."""
        with (self._run / f"{name}.out").open("ab") as out:
            return self._kept(command, subprocess.DEVNULL, out, subprocess.STDOUT)

    def start_led(self, name: str, command: Sequence[str]) -> subprocess.Popen[bytes]:
        """Start a process that is led over its standard input and output."""
        with (self._run / f"{name}.err").open("ab") as err:
            return self._kept(command, subprocess.PIPE, subprocess.PIPE, err)

    def _kept(
        self, command: Sequence[str], stdin: int, stdout: int | IO[bytes], stderr: int | IO[bytes]
    ) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(  # noqa: S603 - this module's own command, without a shell
            command, env=self._environment, cwd=self._run, stdin=stdin, stdout=stdout, stderr=stderr
        )
        self._started.append(process)
        return process

    def printed(self, name: str) -> str:
        """What a process has printed so far, in all its starts."""
        out = self._run / f"{name}.out"
        return read_bytes(out).decode(errors="replace") if out.exists() else ""

    def wait_until(
        self, is_so: Callable[[], bool], what: str, process: subprocess.Popen[bytes], name: str, seconds: float
    ) -> None:
        """Wait for something that a process does.

        Raises
        ------
        RealBrokerError
            The process is over before, or has not done it in time; names the last line that it printed.
        """
        end = time.monotonic() + seconds
        while not is_so():
            code = process.poll()
            if code is None and time.monotonic() < end:
                time.sleep(0.05)
                continue
            how = f"did not {what} in {seconds:.0f} s" if code is None else f"ended with {code} and did not {what}"
            said = [line for line in self.printed(name).splitlines() if line.strip()]
            message = f"the {name} {how}; it said last: {said[-1] if said else 'nothing'} ({self._run})"
            raise RealBrokerError(message)

    @staticmethod
    def stop(process: subprocess.Popen[bytes], seconds: float) -> int:
        """End a process as an operator does (SIGTERM), and give its exit code.

        Raises
        ------
        RealBrokerError
            It does not end.
        """
        process.terminate()
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired as error:
            message = f"process {process.pid} did not end {seconds:.0f} s after SIGTERM"
            raise RealBrokerError(message) from error
