"""The files of a golden store as they were at each moment of its run, and copies that mix two moments.

A copy of a running broker has files of different moments. The reference broker writes a golden store again by its
schedule; after each act its offsets are saved and the length of its files is noted.
"""

from __future__ import annotations

import random
import shutil
import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from conformance.broker_schedule import read_schedule
from conformance.golden import schedule_path
from conformance.golden_stores import GoldenStore, golden_store
from conformance.scheduled_run import ScheduledRun
from reference.format.consumer_offsets import NAME
from reference.store.memory_disk import MemoryDisk

if TYPE_CHECKING:
    from conformance.broker_schedule import Act

Part = Literal["commitlog", "consumequeue", "config", "no config", "torn commitlog"]
_ENTRY = struct.Struct(">qiq")
PARTS: tuple[Part, ...] = ("commitlog", "consumequeue", "config", "no config", "torn commitlog")


@dataclass(frozen=True, slots=True)
class Moment:
    """How long each file of the log was, and the saved offsets."""

    lengths: dict[str, int]
    offsets: bytes

    @property
    def end(self) -> int:
        """Where the log ended."""
        return max(int(Path(name).name) + length for name, length in self.lengths.items())


class _Watched(ScheduledRun):
    """A run that notes each moment at which something had changed."""

    def __init__(self, golden: GoldenStore) -> None:
        self.files = MemoryDisk()
        super().__init__(read_schedule(schedule_path(golden)), self.files)
        self.moments: list[Moment] = []

    def _take(self, act: Act) -> None:
        super()._take(act)
        if self.broker.is_running:
            self.broker.consumer_offset_manager.persist()
        content = self.files.files()
        lengths = {name: len(data) for name, data in content.items() if name.startswith("commitlog")}
        moment = Moment(lengths, content.get(NAME, b""))
        if lengths and (not self.moments or self.moments[-1] != moment):
            self.moments.append(moment)


@cache
def moments_of(version: str, scenario: str) -> list[Moment]:
    """Every moment of a golden store's run."""
    run = _Watched(golden_store(version, scenario))
    run.run()
    assert run.departure is None
    return run.moments


def write_store(golden: GoldenStore, folder: Path, log: Moment, queues: Moment, config: Moment | None) -> Path:
    """Write a golden store with its log, consume queues and saved offsets of three moments."""
    lengths = {name: length for name, length in log.lengths.items() if length}
    for path in (golden.path / "consumequeue").rglob("*/*/*"):
        content = path.read_bytes()
        ends = [at + 20 for at in range(0, len(content), 20) if _points_before(content[at : at + 20], queues.end)]
        lengths[str(path.relative_to(golden.path))] = max(ends, default=0)
    for name, length in lengths.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        content = (golden.path / name).read_bytes()
        path.write_bytes(content[:length] + bytes(len(content) - length))
    if config is not None and config.offsets:
        (folder / NAME).parent.mkdir(parents=True)
        (folder / NAME).write_bytes(config.offsets)
    shutil.copy(golden.path / "broker.conf", folder)
    return folder


def _points_before(entry: bytes, end: int) -> bool:
    """Whether an entry of a consume queue is there, and for a record before a place of the log."""
    at, size, _ = _ENTRY.unpack(entry)
    return bool(size > 0 and at < end)


@dataclass(frozen=True, slots=True)
class Skewed:
    """A copy in which one part is older than the others.

    Attributes
    ----------
    older
        Which part.
    at, before
        The moments of the other parts and of that one, as shares of the run.
    """

    version: str
    scenario: str
    older: Part
    at: float
    before: float

    def __str__(self) -> str:
        """As the id of a test."""
        return f"{self.version}/{self.scenario} {self.older} {self.before:.4f} of {self.at:.4f}"

    @property
    def golden(self) -> GoldenStore:
        """The store that it is a copy of."""
        return golden_store(self.version, self.scenario)

    def moment(self, share: float) -> Moment:
        """The moment at a share of the run."""
        moments = moments_of(self.version, self.scenario)
        return moments[min(int(share * len(moments)), len(moments) - 1)]

    def write(self, folder: Path) -> Path:
        """Write the copy."""
        now, then = self.moment(self.at), self.moment(self.before)
        is_log = self.older in ("commitlog", "torn commitlog")
        log, queues = then if is_log else now, then if self.older == "consumequeue" else now
        config = {"config": then, "no config": None}.get(self.older, now)
        store = write_store(self.golden, folder, log, queues, config)
        if self.older == "torn commitlog":
            last = max((folder / "commitlog").iterdir())
            last.write_bytes(last.read_bytes()[: max(log.lengths[f"commitlog/{last.name}"] - 7, 1)])
        return store

    def write_consistent(self, folder: Path) -> Path:
        """Write the store as it was when the other parts were."""
        now = self.moment(self.at)
        return write_store(self.golden, folder, now, now, now)


def skewed_copies(stores: list[tuple[str, str]], number: int, seed: int) -> list[Skewed]:
    """Some copies, each part older in turn; half of them by a few moments only."""
    choose = random.Random(seed)
    copies = []
    for index in range(number):
        version, scenario = choose.choice(stores)
        at = choose.choice([choose.uniform(0.3, 1), 1.0])
        before = at - at * choose.random() ** 3 if index % 2 else at * choose.random()
        older = PARTS[index % len(PARTS)]
        before = max(before, 0.2) if older == "torn commitlog" else before  # Something is left to be read.
        copies.append(Skewed(version, scenario, older, at, before))
    return copies
