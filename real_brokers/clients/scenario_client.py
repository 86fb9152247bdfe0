"""One process of a client that is led through the scenario: a command a line, and events as they come."""

from __future__ import annotations

import subprocess
import threading
import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Self, cast

from conformance.releases.jvm import client_command, java_command
from real_brokers.clients.built_program import GO
from real_brokers.errors import RealBrokerError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

DIFFERS: Final = 12
"""The exit code where a client did not get what it must."""

DONE: Final = "OK"
"""What is said of an order that did not fail."""

_HERE: Final = Path(__file__).parent
_SCENARIO: Final = _HERE / "scenario.txt"
_ORDER_SECONDS: Final = 150.0


def java_client(jars: Path, run: Path, address: str, *, headers: str = "JSON") -> list[str]:
    """The command of the Java client of a release, with its headers in JSON or ROCKETMQ."""
    jvm = [*java_command(run, "256m"), f"-Drocketmq.serialize.type={headers}"]
    return client_command(jars, run, _HERE / "ScenarioClient.java", address, _SCENARIO, jvm=jvm)


def go_client(folder: Path, address: str) -> list[str]:
    """The command of the Go client, which is built in a folder first; `ClientBuildError` if it can't be."""
    return [*GO.command(folder), address, str(_SCENARIO)]


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
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()
        try:
            self.wait("start", lambda: any(event.name == "ready" for event in self.events), _ORDER_SECONDS)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait(20)
        self._listening.join()
        self._from.close()
        with suppress(BrokenPipeError):
            self._to.close()

    def _listen(self) -> None:
        for line in self._from:
            name, _, rest = line.rstrip("\n").partition("\t")
            key, _, more = rest.partition("\t")
            with self._changed:
                self.events.append(ClientEvent(name, key, more))
                self._changed.notify_all()

    @property
    def has_ended(self) -> bool:
        """Whether its process is gone."""
        return self._process.poll() is not None

    def order(self, command: str) -> None:
        """Give a command, and wait until it is done; `RealBrokerError` if it fails."""
        if (said := self.attempt(command)) != DONE:
            message = f"{command}: {said}"
            raise RealBrokerError(message, exit_code=DIFFERS)

    def attempt(self, command: str) -> str:
        """Give a command, and wait until it is done or has failed: `DONE`, or why it failed."""
        before = len(self.events)
        self._to.write(command + "\n")
        self._to.flush()

        def over() -> list[ClientEvent]:
            new = self.events[before:]
            return [event for event in new if event.name in {"done", "failed"} and event.key == command]

        self.wait(command, lambda: bool(over()), _ORDER_SECONDS)
        event = over()[0]
        return DONE if event.name == "done" else event.more

    def wait(self, what: str, is_so: Callable[[], bool], seconds: float) -> None:
        """Wait until something is so; `RealBrokerError`, which names the last events, if it does not come."""
        end = time.monotonic() + seconds
        with self._changed:
            while True:
                has_ended = not self._listening.is_alive()  # so that its last event is here
                if is_so():
                    return
                left = end - time.monotonic()
                if left <= 0 or has_ended:
                    message = f"{what}: not within {seconds} s ({self._process.poll()}); {self.events[-8:]}"
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
            self.attempt(f"drain {topic}")
        self.wait_for("pulled", key, topic, 0.1)

    def count(self, name: str, key: str, more: str = "") -> int:
        """How many events of a message there are so far."""
        return sum(event.name == name and event.key == key and event.more.startswith(more) for event in self.events)

    def said(self, name: str, key: str) -> list[str]:
        """What the events of a message say, in their order."""
        return [event.more for event in self.events if (event.name, event.key) == (name, key)]

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
