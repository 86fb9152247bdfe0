"""One process of a client that is led through the scenario: a command a line, and events as they come.

The Go client is built once by the machine's own Go, from modules that `go.mod` names by version. There is no ``go.sum``
here, as it names hosts; Go makes one in the build folder, and its own checksum database vouches for the modules.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Self, cast

from conformance.releases.jvm import client_command, java_command
from files.reading import read_bytes
from real_brokers.errors import RealBrokerError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

DIFFERS: Final = 12
"""The exit code where a client did not get what it must."""

_HERE: Final = Path(__file__).parent
_SCENARIO: Final = _HERE / "scenario.txt"
_BUILD_SECONDS: Final = 600


class GoError(RealBrokerError):
    """There is no Go, or it does not build the client."""


def java_client(jars: Path, run: Path, address: str, *, headers: str = "JSON") -> list[str]:
    """The command of the Java client of a release, with its headers in JSON or ROCKETMQ."""
    jvm = [*java_command(run, "256m"), f"-Drocketmq.serialize.type={headers}"]
    return client_command(jars, run, _HERE / "ScenarioClient.java", address, _SCENARIO, jvm=jvm)


def go_client(folder: Path, address: str) -> list[str]:
    """The command of the Go client, which is built in a folder first if it is not there as it is now.

    Raises
    ------
    GoError
        It can't be built; names the last line that Go printed.
    """
    binary, sources = folder / "client", folder / "sources"
    if not binary.is_file() or _content(sources) != _content(_HERE / "go"):
        _build(folder)
        shutil.rmtree(sources, ignore_errors=True)
        shutil.copytree(_HERE / "go", sources)
    return [str(binary), address, str(_SCENARIO)]


def _content(folder: Path) -> dict[str, bytes]:
    return {path.name: read_bytes(path) for path in folder.glob("*")}


def _build(folder: Path) -> None:
    go = shutil.which("go")
    if go is None:
        message = "no go in PATH: the Go client wants Go 1.21 or newer; install it, or name the clients to lead"
        raise GoError(message)
    shutil.copytree(_HERE / "go", folder, dirs_exist_ok=True)
    done = subprocess.run(
        [go, "build", "-o", "client", "."],
        cwd=folder,
        env={**os.environ, "GOFLAGS": "-mod=mod"},
        capture_output=True,
        text=True,
        timeout=_BUILD_SECONDS,
        check=False,
    )
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        message = f"go build failed: {lines[-1] if lines else done.returncode}"
        raise GoError(message)


@dataclass(frozen=True, slots=True)
class ClientEvent:
    """One line that a client printed."""

    name: str
    key: str
    more: str


class ScenarioClient:
    """A client, from entering the context on."""

    kinds = ("cluster", "broadcast", "orderly")
    """Of consumers that get every message; there is one more, which gets none."""

    def __init__(self, command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> None:
        self.events: list[ClientEvent] = []
        self._command = command
        self._folder = folder
        self._environment = environment
        self._changed = threading.Condition()

    def __enter__(self) -> Self:
        with (self._folder / "client.err").open("ab") as err:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=err,
                cwd=self._folder,
                env=self._environment,
                text=True,
            )
        self._to, self._from = cast("IO[str]", self._process.stdin), cast("IO[str]", self._process.stdout)
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            self.wait("start", lambda: any(event.name == "ready" for event in self.events), 150)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait(20)

    def _listen(self) -> None:
        for line in self._from:
            name, _, rest = line.rstrip("\n").partition("\t")
            key, _, more = rest.partition("\t")
            with self._changed:
                self.events.append(ClientEvent(name, key, more))
                self._changed.notify_all()

    def order(self, command: str, seconds: float = 150, *, may_fail: bool = False) -> None:
        """Give a command, and wait until it is done, or has failed where it may; `RealBrokerError` otherwise."""
        before = len(self.events)
        self._to.write(command + "\n")
        self._to.flush()

        def over() -> bool:
            return any(event.name in {"done", "failed"} and event.key == command for event in self.events[before:])

        self.wait(command, over, seconds)
        failed = [event for event in self.events[before:] if event.name == "failed"]
        if failed and not may_fail:
            message = f"{command}: {failed[0].more}"
            raise RealBrokerError(message, exit_code=DIFFERS)

    def wait(self, what: str, is_so: Callable[[], bool], seconds: float) -> None:
        """Wait until something is so; `RealBrokerError`, which names the last events, if it does not come."""
        end = time.monotonic() + seconds
        with self._changed:
            while not is_so():
                left = end - time.monotonic()
                ended = self._process.poll()
                if left <= 0 or ended is not None:
                    message = f"{what}: not within {seconds} s ({ended}); {self.events[-8:]}"
                    raise RealBrokerError(message, exit_code=DIFFERS)
                self._changed.wait(min(left, 0.5))

    def wait_for(self, name: str, key: str, more: str, seconds: float) -> None:
        """Wait until there is an event of a message."""
        self.wait(f"{key} {more}", lambda: self.count(name, key, more) > 0, seconds)

    def drain(self, topic: str, key: str, seconds: float) -> None:
        """Pull a topic, again and again until it is there and a message is in it."""
        end = time.monotonic() + seconds
        while not self.count("pulled", key, topic) and time.monotonic() < end:
            time.sleep(0.5)
            self.order(f"drain {topic}", may_fail=True)
        self.wait_for("pulled", key, topic, 0.1)

    def count(self, name: str, key: str, more: str = "") -> int:
        """How many events of a message there are so far."""
        return sum(event.name == name and event.key == key and event.more.startswith(more) for event in self.events)

    def outcome(self) -> dict[str, dict[str, list[str]]]:
        """By key and name of event what was said, sorted.

        A consumer may get a message again, as the offsets that it has reported die with a broker; so what it got once
        and what it got twice is the same here.
        """
        found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for event in self.events:
            if event.name in {"sent", "checked", "consumed", "pulled"}:
                texts = found[event.key][event.name]
                if event.name != "consumed" or event.more not in texts:
                    texts.append(event.more)
        return {key: {name: sorted(each) for name, each in sorted(found[key].items())} for key in sorted(found)}
