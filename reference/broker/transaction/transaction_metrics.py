"""The broker's count of the open halves of each topic (``TransactionMetrics``, 5.2.0 and later).

One more for each half that is stored, one less for each END_TRANSACTION that is carried out and each half that is given
up. Nobody asks whether the half was open, so that the count goes below zero (B46).
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from files.content import parse_json
from reference.errors import JavaNullPointerError
from reference.format.errors import NoSpaceLeftError
from reference.java import hash_map_order

if TYPE_CHECKING:
    from reference.simulation.virtual_clock import VirtualClock
    from reference.store.disk import Disk
    from reference.versions.switches import ReleaseSwitches

FILE: Final = "config/transactionMetrics"
_BUCKETS = 2048
"""``new ConcurrentHashMap<>(1024)``"""


@dataclass(slots=True)
class Metric:
    """The count of one topic, and when it changed last, in milliseconds."""

    count: int
    timestamp: int


class TransactionMetrics:
    """The counts by real topic, in memory and in a file."""

    def __init__(self, disk: Disk, switches: ReleaseSwitches, clock: VirtualClock) -> None:
        self.transaction_counts: dict[str, Metric] = {}
        self._disk = disk
        self._switches = switches
        self._clock = clock
        self._changes = 0
        self._changed_at = clock.peek()
        self._version = {"counter": 0, "stateVersion": 0, "timestamp": self._changed_at}
        self._open: set[str] = set()
        self._load()

    @property
    def changes(self) -> int:
        """How often a count was changed, those before the start included (``DataVersion#getCounter``)."""
        return self._changes

    def add_and_get(self, topic: str | None, value: int) -> int:
        """Change the count of a topic, and give it (``#addAndGet``); `JavaNullPointerError` without a topic (B40)."""
        if topic is None:
            message = "java.lang.NullPointerException: a metric without a topic"
            raise JavaNullPointerError(message)
        now = self._clock.peek()
        metric = self.transaction_counts.get(topic)
        if metric is None:
            metric = self.transaction_counts[topic] = Metric(0, now)
        metric.count += value
        metric.timestamp = now
        self._changes += 1
        self._changed_at = now
        return metric.count

    def half_stored(self, topic: str | None, unique_key: str) -> None:
        """A half was stored."""
        if self._switches.counts_each_half_once:
            self._open.add(unique_key)
        self.add_and_get(topic, 1)

    def half_left(self, topic: str | None, unique_key: str) -> None:
        """A half was committed, rolled back or given up; unless that is repaired, as often as that is done (B46)."""
        if self._switches.counts_each_half_once:
            if unique_key not in self._open:
                return
            self._open.discard(unique_key)
        self.add_and_get(topic, -1)

    def persist(self) -> None:
        """Save the counts (``#persist``); without room for them, what was saved before stays.

        Up to 5.3.3 the new file is written beside the old one, the old one copied and deleted, and the new one renamed;
        nothing is forced to the disk (A54). Later the old file is renamed, and the new one is forced.
        """
        if not self._switches.counts_halves:
            return
        with suppress(NoSpaceLeftError):
            before, content = self._disk.read(FILE), self._encode().encode()
            if self._switches.forces_metrics_file:
                if before is not None:
                    self._disk.rename(FILE, f"{FILE}.bak")
                    self._disk.force(f"{FILE}.bak")
                self._disk.write(FILE, content)
                self._disk.force(FILE)
                return
            self._disk.write(f"{FILE}.tmp", content)
            if before is not None:
                self._disk.write(f"{FILE}.bak", before)
                self._disk.delete(FILE)
            self._disk.rename(f"{FILE}.tmp", FILE)

    def _encode(self) -> str:
        counts = {
            topic: {"count": metric.count, "timeStamp": metric.timestamp}
            for topic in hash_map_order(tuple(self.transaction_counts), _BUCKETS)
            for metric in (self.transaction_counts[topic],)
        }
        version = self._version | {"counter": self._changes, "timestamp": self._changed_at}
        return json.dumps({"dataVersion": version, "transactionCount": counts}, separators=(",", ":"))

    def _load(self) -> None:
        """Read the file, else its backup; what can't be understood counts as nothing (``ConfigManager#load``).

        Where the file is forced, one that can't be understood is deleted, so that it does not become the backup.
        """
        if not self._switches.counts_halves:
            return
        for name in (FILE, f"{FILE}.bak"):
            raw = self._disk.read(name)
            if raw:
                with suppress(ValueError, KeyError, TypeError):
                    content = parse_json(raw)
                    self.transaction_counts = {
                        topic: Metric(given["count"], given["timeStamp"])
                        for topic, given in content["transactionCount"].items()
                    }
                    version = dict(content["dataVersion"])
                    self._changes, self._changed_at = version["counter"], version["timestamp"]
                    self._version = version
                    return
            if name == FILE and self._switches.forces_metrics_file:
                self._disk.delete(FILE)
