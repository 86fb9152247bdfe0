"""Holds the records of one split against consume queues and neighbours: :mod:`reference.format.cross_check` by columns.

Columns show at once which records are as they should be; each other one is asked about by the rules themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from reference.format.consume_queue import ENTRY_BYTES, PRE_BLANK_SIZE, ConsumeQueue, open_consume_queues
from reference.format.cross_check import INNER_BATCH_FLAG, CrossCheck, wrong_count
from reference.format.record import TRANSACTION_BITS, TRANSACTION_COMMIT
from spark_trace_analysis.audit.rules.damage import DamageFinding, Rank, at_record, found, order_of
from spark_trace_analysis.records.bytes_kernels import are_bytes
from spark_trace_analysis.records.record_kernels import Outline
from spark_trace_analysis.records.transaction_record import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from reference.format.commit_log import CommitLog
    from spark_trace_analysis.audit.columns.bucket import Numbers
    from spark_trace_analysis.records.split_records import SplitRecords

_ENTRY = np.dtype([("at", ">i8"), ("size", ">i4"), ("tags", ">i8")])
_LEAST_TAGS_CODE = -(1 << 31)
_SPARSE = 8
"""Of a stretch of a queue in which fewer than one entry in so many is asked for, each is read by itself."""

_FAR = 1000
"""Wanted entries that lie so far apart are read in two stretches."""

_EDGE = 3


@dataclass(slots=True)
class Checked:
    """The result of the cross-check of one split, and the facts that are judged over all splits.

    Missing are records without an entry; that is damage only if later records have theirs.
    """

    findings: list[DamageFinding] = field(default_factory=list)
    missing: list[DamageFinding] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)


def check_columns(
    log: CommitLog, store: Path, records: SplitRecords, is_record: np.ndarray[Any, Any], tags_codes: Numbers
) -> Checked:
    """Check the records of one split.

    `is_record` says which of the outlines are records that could be read; `tags_codes` has the Java hash of each
    transactional record's tags, and ``NOTHING`` for ordinary messages.
    """
    return _Columns(log, store, records, np.flatnonzero(is_record), tags_codes).check()


class _Columns:
    def __init__(
        self, log: CommitLog, store: Path, records: SplitRecords, numbers: Numbers, tags_codes: Numbers
    ) -> None:
        self.log = log
        self.records = records
        self.o = records.outlines
        self.numbers = numbers
        self.physical = self.o[Outline.POSITION] + records.reader.file.start
        self.tags_codes = tags_codes
        self.queues = open_consume_queues(store)
        self.rules = CrossCheck(log, self.queues)
        self.checked = Checked()
        self.matched: dict[str, int] = {}
        self.edges: list[list[Any]] = []
        self.last_dispatched = -1

    def check(self) -> Checked:
        o, numbers = self.o, self.numbers
        kind = o[Outline.SYS_FLAG, numbers] & TRANSACTION_BITS
        names_half = (kind == 0) & (o[Outline.PREPARED_TRANSACTION_OFFSET, numbers] != 0)
        for number in numbers[((kind != 0) & (kind != TRANSACTION_COMMIT)) | names_half]:
            self.rules.check_flags(self.records.frame(int(number)))
            self._take(int(number))
        self._check_queues()
        self._check_times()
        self.checked.facts = {
            "matched": self.matched,
            "last_dispatched": self.last_dispatched,
            "displaced": self.rules.displaced,
            "undispatched": self.rules.undispatched,
            "edges": self.edges,
            "first_times": self._times(numbers[:_EDGE]),
            "last_times": self._times(numbers[-_EDGE:]),
        }
        return self.checked

    def _times(self, numbers: Numbers) -> list[list[int]]:
        times = self.o[Outline.STORE_TIMESTAMP]
        return [[int(self.physical[number]), int(times[number])] for number in numbers]

    def _take(self, number: int, rank: Rank = Rank.RECORD) -> None:
        """Take over the findings of the rules for one record."""
        at = int(self.physical[number])
        for rule, region in enumerate(self.rules.found):
            self.checked.findings.append(found(rank, order_of(at, rule), region))
        self.rules.found.clear()
        for missing in self.rules.missing:
            self.checked.missing.append(found(Rank.MISSING_ENTRY, missing.commit_log_offset, missing.region()))
        self.rules.missing.clear()

    def _check_queues(self) -> None:
        o, numbers = self.o, self.numbers
        if not len(numbers):
            return
        topics, queue_ids = o[Outline.TOPIC_HASH, numbers], o[Outline.QUEUE_ID, numbers]
        order = np.lexsort((numbers, queue_ids, topics))
        changes = np.flatnonzero((np.diff(topics[order]) != 0) | (np.diff(queue_ids[order]) != 0)) + 1
        for chosen in chain.from_iterable(map(self._by_topic, np.split(numbers[order], changes))):
            frame = self.records.frame(int(chosen[0]))
            key = frame.topic.decode(errors="replace"), frame.queue_id
            queue = self.queues.get(key)
            if queue is not None:
                self._check_entries(queue, key, chosen)
            elif not self.queues:
                if self.log.partial is None:
                    self._check_counting(key, chosen)
            else:
                self.rules.see_without_queue(key, self.physical[chosen].tolist())

    def _by_topic(self, numbers: Numbers) -> Iterable[Numbers]:
        """Records whose topics have one hash, by their topics."""
        at, size = self.o[Outline.TOPIC_AT, numbers], self.o[Outline.TOPIC_SIZE, numbers]
        first = self.records.data[at[0] : at[0] + size[0]]
        if size.all() and are_bytes(self.records.data, at, size, first).all():
            return [numbers]
        by_topic: dict[bytes, list[int]] = {}
        for number in map(int, numbers):
            by_topic.setdefault(self.records.frame(number).topic, []).append(number)
        return [np.array(some, np.int64) for some in by_topic.values()]

    def _check_entries(self, queue: ConsumeQueue, key: tuple[str, int], chosen: Numbers) -> None:
        """Most records have the entry that they should have; the rules are asked about the others."""
        o = self.o
        entries = _entries(queue, o[Outline.QUEUE_OFFSET, chosen])
        tags = self.tags_codes[chosen]
        is_right = (entries["at"] == self.physical[chosen]) & (entries["size"] == o[Outline.SIZE, chosen])
        is_right &= (entries["size"] > 0) & (entries["at"] >= 0)
        is_right &= (entries["size"] != PRE_BLANK_SIZE) | (entries["at"] != 0)
        is_right &= (tags == NOTHING) | (entries["tags"] < _LEAST_TAGS_CODE) | (entries["tags"] == tags)
        is_batch = o[Outline.SYS_FLAG, chosen] & INNER_BATCH_FLAG != 0
        right = chosen[is_right & ~is_batch]
        count = len(right)
        if count:
            self.last_dispatched = max(self.last_dispatched, int(self.physical[right].max()))
        before = self.rules.matched.get(key, 0)
        for number in chosen[~is_right & ~is_batch]:
            record = self.records.record(int(number)) if self.tags_codes[number] != NOTHING else None
            self.rules.check_entry(queue, key, record or self.records.frame(int(number)))
            self._take(int(number))
        count += self.rules.matched.get(key, 0) - before
        self.last_dispatched = max(self.last_dispatched, self.rules.last_dispatched)
        if count:
            self.matched[f"{key[0]}/{key[1]}"] = count

    def _check_counting(self, key: tuple[str, int], chosen: Numbers) -> None:
        """Without any consume queue the records of a queue must count up; how it begins, all splits together know."""
        offsets = self.o[Outline.QUEUE_OFFSET, chosen]
        is_batch = self.o[Outline.SYS_FLAG, chosen] & INNER_BATCH_FLAG != 0
        expected = np.append(offsets[0], offsets[:-1] + 1)
        for place in np.flatnonzero((offsets != expected) & (offsets != 0) & ~is_batch):
            at = int(self.physical[chosen[place]])
            reason = wrong_count(key, int(offsets[place]), int(expected[place]))
            self.checked.findings.append(at_record(self.log, Rank.RECORD, at, reason))
        first = [int(self.physical[chosen[0]]), int(offsets[0]), bool(is_batch[0]), int(offsets[-1]) + 1]
        self.edges.append([key[0], key[1], *first])

    def _check_times(self) -> None:
        """Three records in a row; those at the edges of the split are asked about with their neighbours."""
        times = self.o[Outline.STORE_TIMESTAMP, self.numbers]
        low, middle, high = times[:-2], times[1:-1], times[2:]
        for place in np.flatnonzero((low <= high) & ((middle < low) | (middle > high))):
            before, record, after = (self.records.frame(int(self.numbers[place + step])) for step in range(_EDGE))
            self.rules.is_start = False
            self.rules.check_neighbours(before, record, after)
            self._take(int(self.numbers[place + 1]), Rank.TIMES)


def _entries(queue: ConsumeQueue, offsets: Numbers) -> np.ndarray[Any, Any]:
    """The entries of some queue offsets as they stand in the files; zeros where there are none."""
    result = np.zeros(len(offsets), _ENTRY)
    inside = np.flatnonzero(offsets >= queue.first)
    if not len(inside):
        return result
    wanted = offsets[inside]
    low, high = int(wanted.min()), int(wanted.max())
    if high - low > _SPARSE * len(wanted) + _FAR:
        order = np.argsort(wanted, kind="stable")
        gaps = np.flatnonzero(np.diff(wanted[order]) > _FAR) + 1
        for part in np.split(inside[order], gaps):
            result[part] = _stretch(queue, offsets[part])
        return result
    result[inside] = _stretch(queue, wanted)
    return result


def _stretch(queue: ConsumeQueue, offsets: Numbers) -> np.ndarray[Any, Any]:
    """The entries of queue offsets that lie together."""
    low, high = int(offsets.min()), int(offsets.max())
    raw = queue.read(low * ENTRY_BYTES, (high - low + 1) * ENTRY_BYTES)
    known = np.frombuffer(raw[: len(raw) // ENTRY_BYTES * ENTRY_BYTES], _ENTRY)
    stretch = np.zeros(high - low + 1, _ENTRY)
    stretch[: len(known)] = known
    entries: np.ndarray[Any, Any] = stretch[offsets - low]
    return entries
