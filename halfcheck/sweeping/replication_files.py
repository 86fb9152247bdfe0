"""The simulations of a sweep as a Spark job: one file a replication of a point, found again by all that it depends on.

A file's name is a digest of the broker, the workload, the seed, the number of transactions and the sources. So a
command that died goes on where it was, a sweep over more values simulates those that are new, and points that are the
same for a broker are simulated once.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Any, Final

from files.content import read_json
from files.errors import BadContentError
from files.writing import write_whole
from traffic.simulation.counts import TrafficCounts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

    from traffic.simulation.replications import Replication

SOURCES: Final = ("spec", "reference", "traffic")
"""The packages on which a simulation depends."""
_TASKS_A_CORE: Final = 16
"""Points differ in how long they take: more tasks than cores, so that none waits long for the last one."""
_SECONDS_BETWEEN_LOOKS: Final = 0.5


class ReplicationFiles:
    """The files of replications in a folder that all workers see under the same path."""

    def __init__(self, folder: Path, replications: Sequence[Replication]) -> None:
        from spark_trace_analysis.traces.manifest import source_fingerprint

        sources = source_fingerprint(None, SOURCES)
        self._folder = folder
        by_name = {_name(one, sources): one for one in replications}
        self._names = tuple(_name(one, sources) for one in replications)
        self._wanted = tuple(by_name.items())

    @property
    def total(self) -> int:
        """How many there are to be, the same simulation counted once."""
        return len(self._wanted)

    def count_finished(self) -> int:
        """How many of them are there."""
        with suppress(OSError):
            there = {path.name for path in self._folder.iterdir()}
            return sum(name in there for name, _ in self._wanted)
        return 0

    def make(self, spark: SparkSession, progress: Callable[[int, int], None] | None) -> None:
        """Simulate those that are missing; raises `OSError` where a file can't be written."""
        from spark_trace_analysis.cluster.file_tasks import make_files
        from spark_trace_analysis.cluster.jobs import watched

        self._folder.mkdir(parents=True, exist_ok=True)
        folder = self._folder.resolve()
        missing = [(name, one) for name, one in self._wanted if _read(folder / name) is None]
        if not missing:
            return

        def find_or_make(place: int) -> bool:
            name, replication = missing[place]
            return _find_or_write(folder / name, replication)

        def look() -> None:
            if progress is not None:
                progress(self.count_finished(), self.total)

        tasks = min(len(missing), _TASKS_A_CORE * spark.sparkContext.defaultParallelism)
        with nullcontext() if progress is None else watched(look, _SECONDS_BETWEEN_LOOKS):
            make_files(spark, len(missing), find_or_make, tasks)

    def read(self) -> list[TrafficCounts]:
        """The counts of each replication, in their order; those of the same simulation are the same record."""
        found: dict[str, TrafficCounts] = {}
        for name, _ in self._wanted:
            counts = _read(self._folder / name)
            if counts is None:
                message = f"{self._folder / name}: was not written, though its task ended well"
                raise AssertionError(message)
            found[name] = counts
        return [found[name] for name in self._names]

    @property
    def is_complete(self) -> bool:
        """Whether all of them are there and whole."""
        return all(_read(self._folder / name) is not None for name, _ in self._wanted)


def _name(replication: Replication, sources: str) -> str:
    return f"{hashlib.sha256(f'{replication!r} {sources}'.encode()).hexdigest()[:24]}.json"


def _find_or_write(path: Path, replication: Replication) -> bool:
    """Simulate one, unless its file is there; says whether it was."""
    if _read(path) is not None:
        return True
    counts = replication.run().to_json()
    write_whole(path, json.dumps({"counts": counts, "sha256": _digest(counts)}))
    return False


def _read(path: Path) -> TrafficCounts | None:
    """The counts of a file; None where there is none, or it is damaged."""
    try:
        content = read_json(path)
    except (OSError, BadContentError):
        return None
    if not isinstance(content, dict) or content.get("sha256") != _digest(content.get("counts")):
        return None
    return TrafficCounts.of_json(content["counts"])


def _digest(counts: Any) -> str:
    return hashlib.sha256(json.dumps(counts).encode()).hexdigest()
