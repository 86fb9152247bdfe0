"""One process of a client that is led through the scenario: a command a line, and events as they come."""

from __future__ import annotations

import subprocess
import threading
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from reference.broker.broker_settings import BrokerSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tests.wire.clients.brokers import LedBroker

SCENARIO: Final = Path(__file__).with_name("scenario.txt")

CHECK_MAX: Final = BrokerSettings().transaction_check_max
"""How often the one that is never known is checked before it is discarded."""


@dataclass(frozen=True, slots=True)
class Event:
    """One line that a client printed."""

    name: str
    key: str
    more: str


class ScenarioClient:
    """A client, from entering the context on.

    Attributes
    ----------
    events
        What it has said so far.
    kinds
        Of consumers that get every message; there is one more, which gets none.
    """

    kinds = ("cluster", "broadcast", "orderly")

    def __init__(self, command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> None:
        self.events: list[Event] = []
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
        assert self._process.stdout is not None
        for line in self._process.stdout:
            name, _, rest = line.rstrip("\n").partition("\t")
            key, _, more = rest.partition("\t")
            with self._changed:
                self.events.append(Event(name, key, more))
                self._changed.notify_all()

    def order(self, command: str, seconds: float = 150, *, may_fail: bool = False) -> None:
        """Give a command, and wait until it is done, or has failed where it may."""
        assert self._process.stdin is not None
        before = len(self.events)
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()

        def over() -> bool:
            return any(event.name in {"done", "failed"} and event.key == command for event in self.events[before:])

        self.wait(command, over, seconds)
        failed = [event for event in self.events[before:] if event.name == "failed"]
        assert may_fail or not failed, f"{command}: {failed[0].more}"

    def wait(self, what: str, is_so: Callable[[], bool], seconds: float) -> None:
        """Wait until something is so, or fail with what the client said last."""
        end = time.monotonic() + seconds
        with self._changed:
            while not is_so():
                left = end - time.monotonic()
                ended = self._process.poll()
                is_in_time = left > 0 and ended is None
                assert is_in_time, f"{what}: not within {seconds} s ({ended}); {self.events[-8:]}"
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

        A consumer may get a message again, as what it has told of how far it is dies with a broker; so what it got once
        and what it got twice is the same here.
        """
        told: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for event in self.events:
            if event.name in {"sent", "checked", "consumed", "pulled"}:
                said = told[event.key][event.name]
                if event.name != "consumed" or event.more not in said:
                    said.append(event.more)
        return {key: {name: sorted(each) for name, each in sorted(told[key].items())} for key in sorted(told)}


def lead(client: ScenarioClient, broker: LedBroker, patience: float) -> None:
    """Lead a client through the scenario, with a crash and a restart of its broker in it.

    Parameters
    ----------
    broker
        To which it is connected.
    patience
        Seconds for the longest thing that is waited for: the retries and the dead letter behind 10 s and 30 s of the
        broker's clock, and all checks of the one that is never known.
    """
    for kind in (*client.kinds, "tagged"):
        client.order(f"consume {kind}")
    client.order("beat")
    client.order("phase 1")
    for key in ("committed", "checked", "checked-twice", "plain"):
        for kind in client.kinds:
            client.wait_for("consumed", key, kind, patience)
    client.wait_for("consumed", "retried", "cluster 1", patience)
    client.wait_for("consumed", "dead-letter", "cluster 2", patience)
    client.wait("every check", lambda: client.count("checked", "never-known") >= CHECK_MAX, patience)
    client.drain("%DLQ%group-cluster", "dead-letter", patience)
    client.drain("TRANS_CHECK_MAX_TIME_TOPIC", "never-known", patience)
    client.order("phase 2")
    broker.crash()
    client.order("beat")
    for kind in client.kinds:
        client.wait_for("consumed", "after-crash", kind, patience)
    broker.settle()
    broker.restart()
    client.order("beat")
    client.order("phase 3")
    for kind in client.kinds:
        client.wait_for("consumed", "after-restart", kind, patience)
    client.order("drain Orders")
    broker.settle()
    client.order("end")
