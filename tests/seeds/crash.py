"""Crashes of a walk-through: at which places a run can be cut, and what it comes to when it was."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from reference.format.consumer_offsets import NAME as OFFSET_FILE
from reference.format.system_topics import DISCARD_TOPIC, HALF_TOPIC, OP_TOPIC
from reference.scenarios.scenario import ScenarioRun, begin, rounds_ended
from reference.store.disk import LOG_RECORD, SMALL_FILE
from reference.store.memory_disk import MemoryDisk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reference.scenarios.scenario import Scenario

OFFSET_IN_MEMORY = "offset in memory"
_NAMES = {HALF_TOPIC: "half record", OP_TOPIC: "op record", DISCARD_TOPIC: "discarded record"}


class Manner(Enum):
    """How a process dies."""

    PROCESS = "process"
    """Between two writes; what was written is in the page cache."""
    TORN = "torn write"
    """In the midst of one, of which the first bytes are made."""
    POWER = "power"
    """With the machine: what was not flushed is gone."""


@dataclass(frozen=True)
class Boundary:
    """A place at which a run can be cut."""

    kind: str
    """What would have been written next; or ``offset in memory``: a check round has just committed its offsets."""
    writes: int | None = None
    """How many writes the disk has made before it; None for a place between two steps."""
    steps: int | None = None
    """How many steps the scheduler has taken before it; None for a write."""


class _LabellingDisk(MemoryDisk):
    """Remembers what each write was."""

    def __init__(self) -> None:
        super().__init__()
        self.labels: list[str] = []
        self._name = ""

    def write(self, name: str, content: bytes) -> None:
        self._name = name
        super().write(name, content)

    def begin_write(self, kind: str, length: int) -> int:
        is_offset_file = kind == SMALL_FILE and self._name.startswith(OFFSET_FILE)
        self.labels.append("offset file" if is_offset_file else kind)
        return super().begin_write(kind, length)


def boundaries(scenario: Scenario, seed: int) -> list[Boundary]:
    """Every place at which the run of a seed, to rest and to its broker's stop, can be cut."""
    disk = _LabellingDisk()
    begun = begin(scenario, seed, disk)
    cluster = begun.cluster
    rounds, found = 0, []
    is_at_rest = cluster.is_at_rest

    def watch() -> bool:
        nonlocal rounds
        if rounds_ended(cluster) != rounds:
            rounds = rounds_ended(cluster)
            found.append(Boundary(OFFSET_IN_MEMORY, steps=cluster.scheduler.steps))
        return is_at_rest()

    cluster.scheduler.run(watch)
    broker = cluster.broker
    cluster.shutdown()
    kinds = iter([] if broker is None else [record.topic for record in broker.message_store.records()])
    return [Boundary(_kind(label, kinds), writes=n) for n, label in enumerate(disk.labels)] + found


def _kind(label: str, topics: Iterator[str]) -> str:
    return _NAMES.get(next(topics), "delivered record") if label == LOG_RECORD else label


def crash(scenario: Scenario, seed: int, boundary: Boundary, manner: Manner) -> ScenarioRun:
    """The run of a seed, cut at a boundary, with its broker restarted and run to rest."""
    disk = MemoryDisk(loses_power=manner is Manner.POWER)
    begun = begin(scenario, seed, disk)
    steps = boundary.steps
    if steps is not None:
        cluster = begun.cluster
        cluster.scheduler.run(lambda: cluster.scheduler.steps >= steps)
        cluster.crash()
    else:
        disk.stops_after = boundary.writes
        disk.torn_bytes = _TORN_BYTES if manner is Manner.TORN else 0
    return run_to_rest(begun)


def run_to_rest(begun: ScenarioRun) -> ScenarioRun:
    """Go on until nothing happens any more, whatever dies meanwhile, and stop the broker as one is told to."""
    is_stopped = False
    while not is_stopped:
        begun.cluster.scheduler.run(begun.cluster.is_at_rest)
        is_stopped = begun.cluster.shutdown()
    return begun


_TORN_BYTES = 100
