"""How many transactions a second the real Java client and a broker do on one machine, and where their time goes."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.wire.java_load import JavaLoad, Work
from benchmarks.wire.processes import processor, processor_by_thread, served

PRODUCERS: Final = 100
RUNS: Final = (("4.9.7", "JSON", 1), ("5.5.1", "JSON", 1), ("5.5.1", "ROCKETMQ", 1), ("5.5.1", "ROCKETMQ", 4))
"""Profile and client, how headers are encoded, and how many threads send on each connection."""
_SHOWN: Final = 12


@dataclass(frozen=True, slots=True)
class Measured:
    """One run; processor times are seconds of user and of system time.

    Attributes
    ----------
    broker, java
        Of the two processes.
    java_threads
        Of the client's threads, by their names.
    """

    profile: str
    headers: str
    threads: int
    seconds: float
    done: int
    failed: int
    broker: tuple[float, float]
    java: tuple[float, float]
    java_threads: dict[str, float]

    @property
    def rate(self) -> float:
        """Transactions a second."""
        return self.done / self.seconds

    def row(self) -> str:
        """Its line of the table."""
        each = [f"{part / self.done * 1e6:,.0f}" for part in (*self.broker, *self.java)]
        processors = os.cpu_count() or 1
        used = sum(self.broker) + sum(self.java)
        share = used / (self.seconds * processors)
        at_most = min(self.done / sum(self.broker), processors * self.done / used)
        return (
            f"| {self.profile} | {self.headers} | {self.threads} | {self.rate:,.0f} | {each[0]} + {each[1]} "
            f"| {each[2]} + {each[3]} | {share:.0%} | {at_most:,.0f} | {self.failed} |"
        )


def measure(profile: str, headers: str, threads: int, seconds: float, sample: Path | None = None) -> Measured:
    """Start a broker and the client, let them warm up for as long as is measured, then measure.

    Parameters
    ----------
    sample
        Where to write what the broker is at, if that is asked for.
    """
    work = Work(PRODUCERS, threads)
    before = ("-m", "halfcheck") if sample is None else ("-m", "benchmarks.wire.sampled", str(sample))
    options = [f"-Drocketmq.serialize.type={headers}"]
    with (
        TemporaryDirectory(prefix="halfcheck-") as folder,
        served(profile, Path(folder), before=before) as broker,
        JavaLoad(profile, broker.address, Path(folder), work, options) as load,
    ):
        time.sleep(seconds)
        first, began = load.counts(), time.monotonic()
        of_broker, of_java, of_threads = processor(broker.pid), processor(load.pid), processor_by_thread(load.pid)
        time.sleep(seconds)
        last, took = load.counts(), time.monotonic() - began
        used_by_broker, used_by_java = processor(broker.pid), processor(load.pid)
        by_thread = {name: used - of_threads.get(name, 0) for name, used in processor_by_thread(load.pid).items()}
        load.end()
    return Measured(
        profile,
        headers,
        threads,
        took,
        last["done"] - first["done"],
        last["failed"] - first["failed"],
        (used_by_broker[0] - of_broker[0], used_by_broker[1] - of_broker[1]),
        (used_by_java[0] - of_java[0], used_by_java[1] - of_java[1]),
        by_thread,
    )


def sampled(profile: str, headers: str, threads: int, seconds: float) -> Counter[str]:
    """How often the broker was in which file, in a run of its own."""
    with TemporaryDirectory(prefix="halfcheck-") as folder:
        path = Path(folder) / "samples.json"
        measure(profile, headers, threads, seconds, path)
        return Counter(json.loads(path.read_text(encoding="utf-8")))


def table(rows: list[Measured], samples: Counter[str], seconds: float) -> str:
    """Its part of the page."""
    last = rows[-1]
    of_all = sum(last.java_threads.values())
    of_java = [(name, used / of_all) for name, used in Counter(last.java_threads).most_common(_SHOWN)]
    of_broker = [(name, count / samples.total()) for name, count in samples.most_common(_SHOWN)]
    return f"""## The real Java client on the same machine

{PRODUCERS} transaction producers of the Java client (for 5.5.1 that of 5.5.0) in one process, each with its own
instance name and so with its own connection; so many threads send on each. `sendMessageInTransaction` waits for the
answer to the half, says COMMIT and sends END_TRANSACTION one-way. {seconds:.0f} s each, behind {seconds:.0f} s to warm
up. `batchMaxDelayMs` is 30,000, as producers of 5.x wake 400 times a second each at its default (ProduceAccumulator).

| Profile | headers | threads | Transactions a second | broker, µs each, user + system {""}\
| Java, µs each, user + system | of the processors | at most | failed |
|---|---|--:|--:|--:|--:|--:|--:|--:|
{chr(10).join(each.row() for each in rows)}

"Of the processors" is what both processes used of all that the machine has; the rest was idle or somebody else's. "At
most" is what they could do with all of it, at what a transaction took here: the broker on one processor, both on all.

Where the time goes, {last.profile} with {last.headers} and {last.threads} threads.
The client, by the names of its threads:
{", ".join(f"{name} {share:.0%}" for name, share in of_java)}.

The broker, by the file that it is in, from its start on, in a run of its own (what Python does in C counts for the file
that calls it):

| File | share |
|---|--:|
{chr(10).join(f"| `{name}` | {share:.1%} |" for name, share in of_broker)}
"""
