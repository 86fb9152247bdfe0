"""What a Java client and a broker take of the processors for a transaction, while the one loads the other."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchmarks.wire.processes import processor, processor_by_thread

if TYPE_CHECKING:
    from benchmarks.wire.java_load import JavaLoad

COLUMNS: Final = (
    "Transactions a second | broker, µs each, user + system | Java, µs each, user + system | of the processors "
    "| at most | failed"
)
RULES: Final = "--:|--:|--:|--:|--:|--:"
EXPLAINED: Final = """"Of the processors" is what both processes used of all that the machine has; the rest was idle
or somebody else's. "At most" is what they could do with all of it, at what a transaction took here:"""


@dataclass(frozen=True, slots=True)
class Measured:
    """One run; processor times are seconds of user and of system time.

    Attributes
    ----------
    broker, java
        Of the two processes.
    java_threads
        Of the client's threads, by their names.
    broker_threads
        How many of the broker's threads work.
    """

    seconds: float
    done: int
    failed: int
    broker: tuple[float, float]
    java: tuple[float, float]
    java_threads: dict[str, float]
    broker_threads: int = 1

    @property
    def rate(self) -> float:
        """Transactions a second."""
        return self.done / self.seconds

    @property
    def at_most(self) -> float:
        """Transactions a second with all processors, of which the broker has as many as it has threads."""
        processors = os.cpu_count() or 1
        alone = min(self.broker_threads, processors) * self.done / sum(self.broker)
        return min(alone, processors * self.done / (sum(self.broker) + sum(self.java)))

    def row(self, *run: object) -> str:
        """Its line of the table, behind what says which run it was."""
        each = [f"{part / self.done * 1e6:,.0f}" for part in (*self.broker, *self.java)]
        share = (sum(self.broker) + sum(self.java)) / (self.seconds * (os.cpu_count() or 1))
        cells = [
            *map(str, run), f"{self.rate:,.0f}", f"{each[0]} + {each[1]}", f"{each[2]} + {each[3]}", f"{share:.0%}",
            f"{self.at_most:,.0f}", f"{self.failed}",
        ]  # fmt: skip
        return f"| {' | '.join(cells)} |"


def measured(pid: int, load: JavaLoad, seconds: float, warm_up: float, broker_threads: int = 1) -> Measured:
    """Let a load warm up, then measure it and the process of this number."""
    time.sleep(warm_up)
    first, began = load.counts(), time.monotonic()
    of_broker, of_java, of_threads = processor(pid), processor(load.pid), processor_by_thread(load.pid)
    time.sleep(seconds)
    last, took = load.counts(), time.monotonic() - began
    used_by_broker, used_by_java = processor(pid), processor(load.pid)
    by_thread = {name: used - of_threads.get(name, 0) for name, used in processor_by_thread(load.pid).items()}
    load.end()
    return Measured(
        took,
        last["done"] - first["done"],
        last["failed"] - first["failed"],
        (used_by_broker[0] - of_broker[0], used_by_broker[1] - of_broker[1]),
        (used_by_java[0] - of_java[0], used_by_java[1] - of_java[1]),
        by_thread,
        broker_threads,
    )
