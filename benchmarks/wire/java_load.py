"""The load by a real Java client: one process of a program below ``java/``, asked for its counts."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Self, cast

from conformance.releases.jars import GRPC_CLIENTS, Release, fetched_jars, release_called
from conformance.releases.jvm import client_command, java_command, javac_command

if TYPE_CHECKING:
    from collections.abc import Sequence

SOURCES: Final = Path(__file__).with_name("java")
TOPIC: Final = "Load"
QUEUES: Final = 4
"""The topic of all messages, which gRPC clients find only where somebody has made it."""

_HEAP: Final = "512m"
_OWN: Final = "= "
"""Before each line that the program prints."""
_END_SECONDS: Final = 60


@dataclass(frozen=True, slots=True)
class Work:
    """What the producers do.

    Attributes
    ----------
    producers, threads
        How many producers there are, each with its own connection, and how many threads send on each.
    rate
        Transactions a second of all together; 0 for as fast as they can.
    rolled_back, by_check, never
        How many of 1,000 are rolled back, committed by the answer to their check, and never answered.
    has_consumer
        Whether a push consumer takes what was committed.
    """

    producers: int = 100
    threads: int = 1
    rate: float = 0
    rolled_back: int = 0
    by_check: int = 0
    never: int = 0
    has_consumer: bool = False

    def words(self) -> list[str]:
        """As the program takes them."""
        numbers = self.producers, self.threads, self.rate, self.rolled_back, self.by_check, self.never
        return [*map(str, numbers), str(int(self.has_consumer))]


@dataclass(frozen=True, slots=True)
class JavaClient:
    """A client, and the program below ``java/`` that sends with it."""

    release: Release
    program: str


def remoting_client(version: str) -> JavaClient:
    """That of a release of RocketMQ; `JarsError` if there is none."""
    return JavaClient(release_called(version), "RemotingLoad")


GRPC_CLIENT: Final = JavaClient(GRPC_CLIENTS["grpc-java-5.2.0"], "GrpcLoad")


class JavaLoad:
    """The Java client at work, from entering the context on.

    Parameters
    ----------
    address
        The name server's, or that for gRPC clients.
    folder
        Where it may write; ``java.err`` there is what it said.
    options
        Further options of the JVM.

    Raises
    ------
    ConformanceError
        There is no Java or no Maven, or the jars are not those that are wanted.
    """

    def __init__(self, client: JavaClient, address: str, folder: Path, work: Work, options: Sequence[str] = ()) -> None:
        jars, classes = fetched_jars(client.release), folder / "classes"
        sources = [str(SOURCES / f"{name}.java") for name in ("Load", client.program)]
        subprocess.run([*javac_command(), "-cp", f"{jars}/*", "-d", str(classes), *sources], check=True)
        jvm = [*java_command(folder, _HEAP, compiles_well=True), *options]
        self._folder = folder
        self._command = client_command(jars, folder, client.program, address, *work.words(), jvm=jvm, classes=classes)

    def __enter__(self) -> Self:
        with (self._folder / "java.err").open("ab") as err:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err, cwd=self._folder, text=True
            )
        self._to, self._from = cast("IO[str]", self._process.stdin), cast("IO[str]", self._process.stdout)
        self.pid = self._process.pid
        try:
            self._line()
        except BaseException:
            self._process.kill()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait(_END_SECONDS)

    def counts(self) -> dict[str, int]:
        """How many transactions were done, committed, checked, consumed, failed so far."""
        self._tell("count")
        return dict(json.loads(self._line()))

    def end(self) -> None:
        """Let it end."""
        self._tell("end")
        self._process.wait(_END_SECONDS)

    def _tell(self, line: str) -> None:
        self._to.write(line + "\n")
        self._to.flush()

    def _line(self) -> str:
        """The next line that is the program's own: the client may print to its standard output, too."""
        for line in self._from:
            if line.startswith(_OWN):
                return line.removeprefix(_OWN)
        said = (self._folder / "java.err").read_text(encoding="utf-8").strip().splitlines()
        message = f"the Java load ended; it said last: {said[-1] if said else 'nothing'}"
        raise SystemExit(message)
