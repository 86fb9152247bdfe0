"""The first stage of an audit: each task reads one split of the commit log and writes its records as columns.

What a record says by itself is judged here, and what the records beside it and its consume queue say of it. The rows go
into buckets: records by their transaction, halves and op entries by their place in the half queue.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from reference.store import properties
from reference.store.commit_log import CommitLog
from reference.store.corrupt_region import CorruptRegion
from reference.store.record import MalformedRecordError, Record
from reference.store.stored_message import host_bytes
from spark_trace_analysis.audit.columns_cross_check import check_columns, frame_of
from spark_trace_analysis.audit.consistency import is_in_a_known_order, wrong_form
from spark_trace_analysis.audit.findings import Finding, Rank, found
from spark_trace_analysis.audit.grouping import check_times, identity_of, immunity_ms
from spark_trace_analysis.audit.op_body import parse_op_body
from spark_trace_analysis.audit.record_kind import RecordKind, classify
from spark_trace_analysis.audit.stage_files import write_buckets, write_facts, write_findings
from spark_trace_analysis.audit.version import (
    RELEASES,
    WRITERS_OF_DISCARDS,
    writers_of,
    writers_of_delivery,
    writers_of_half,
    writers_of_op,
)
from spark_trace_analysis.ingest.bytes_kernels import hash_bytes
from spark_trace_analysis.ingest.property_kernels import (
    NOTHING,
    Feature,
    Kind,
    Told,
    birth_hash,
    gather,
    list_entries,
    tell,
)
from spark_trace_analysis.ingest.record_kernels import Outline, TopicKind
from spark_trace_analysis.ingest.store_splits import Split, SplitRecords, read_split

if TYPE_CHECKING:
    from pathlib import Path

_KINDS = {
    RecordKind.FIRST_HALF: Kind.FIRST_HALF,
    RecordKind.PUT_BACK: Kind.PUT_BACK,
    RecordKind.DELIVERED: Kind.DELIVERED,
    RecordKind.DISCARDED: Kind.DISCARDED,
    RecordKind.OP: Kind.OP,
    RecordKind.OTHER: Kind.OTHER,
}
_HALF_ROWS = 1024
"""So many places of the half queue in a row share a bucket."""

_RULES = 1000
"""Findings of one record keep the order of the rules that made them."""

ALL_RELEASES = (1 << len(RELEASES)) - 1


@dataclass(frozen=True, slots=True)
class ScanTask:
    """What every task of the stage must know.

    Attributes
    ----------
    store, folder
        The store, and where the stage's files go.
    buckets
        How many there are.
    timeout_ms
        What an unreadable immunity stands for.
    """

    store: Path
    folder: Path
    buckets: int
    timeout_ms: int

    def path(self, kind: str, split: int, suffix: str = "arrow") -> Path:
        """A file of one split."""
        return self.folder / f"{kind}-{split:06d}.{suffix}"

    def run(self, split: Split) -> None:
        """Read one split and write its files."""
        log = CommitLog.open(self.store)
        records = read_split(log, split)
        _Scan(self, split, log, records).write()


def half_bucket(queue_id: np.ndarray[Any, Any], offset: np.ndarray[Any, Any], buckets: int) -> np.ndarray[Any, Any]:
    """The bucket of places of the half queue."""
    return np.asarray((offset // _HALF_ROWS + queue_id) % buckets)


def key_bucket(key_hash: np.ndarray[Any, Any], buckets: int) -> np.ndarray[Any, Any]:
    """The bucket of transactions."""
    return np.asarray(key_hash.view(np.uint64) % np.uint64(buckets))


class _Scan:
    """One split on its way from bytes to files."""

    def __init__(self, task: ScanTask, split: Split, log: CommitLog, records: SplitRecords) -> None:
        self.task = task
        self.split = split
        self.log = log
        self.records = records
        self.file = log.files[split.file]
        self.outlines = records.outlines
        self.findings: list[Finding] = [
            found(Rank.LOG, self._physical(region.offset) * _RULES, region) for region in records.damage
        ]
        self.unordered: list[Finding] = []
        self.ops: list[tuple[int, list[int]]] = []
        self.texts: dict[int, tuple[str, str, str]] = {}

    def write(self) -> None:
        o = self.outlines
        self._tell_unsound_bodies()
        kinds = o[Outline.TOPIC_KIND]
        is_event = (kinds != TopicKind.ORDINARY) | (o[Outline.IS_REPAIRED] != 0)
        events = np.flatnonzero(is_event)
        told = tell(self.records.data, o, events) if len(events) else np.empty((len(Told), 0), np.int64)
        told[Told.IMMUNITY_SECONDS] = self._immunity(told[Told.IMMUNITY_SECONDS])
        masks = _masks(told)
        is_record = np.ones(o.shape[1], bool)
        is_kept = np.ones(len(events), bool)
        for place in np.flatnonzero(told[Told.IS_ODD]):
            number = int(events[place])
            try:
                record = self._record(number)
            except MalformedRecordError as error:
                region = self._region(int(o[Outline.POSITION, number]), str(error))
                self.findings.append(found(Rank.LOG, self._physical(region.offset) * _RULES + 1, region))
                is_record[number] = is_kept[place] = False
                continue
            masks[place] = self._tell_by_python(record, told[:, place], int(place))
        events, told, masks = events[is_kept], told[:, is_kept], masks[is_kept]
        self.texts = {int(np.count_nonzero(is_kept[:place])): text for place, text in self.texts.items()}
        self._tell_unordered(told, events)
        tags_codes = np.full(o.shape[1], NOTHING)
        tags_codes[events] = told[Told.TAGS_CODE]
        cross = check_columns(self.log, self.task.store, self.records, is_record, tags_codes)
        self.findings += cross.findings
        self._write_entries(told, events)
        self._write_records(told, events)
        name = self.task.path
        write_findings(name("unordered", self.split.number, "jsonl"), self.unordered)
        write_findings(name("missing", self.split.number, "jsonl"), cross.missing)
        count = write_findings(name("findings", self.split.number, "jsonl"), self.findings)
        write_facts(
            name("scan", self.split.number, "json"), self._facts(told, events, masks, is_record, count) | cross.facts
        )

    def _facts(self, told: Any, events: Any, masks: Any, is_record: Any, damage: int) -> dict[str, Any]:
        o, kind, checks = self.outlines, told[Told.KIND], told[Told.CHECK_TIMES]
        halves = np.flatnonzero(kind <= Kind.PUT_BACK)
        counted = np.where(checks == NOTHING, 0, checks)
        tells = kind != Kind.OTHER
        _, first, counts = np.unique(told[Told.STORE_HOST], return_index=True, return_counts=True)
        names = [self._host(int(events[place])) for place in first]
        merged: dict[str, list[int]] = {}
        for name, place, count in zip(names, first, counts, strict=True):
            at = self._physical(int(o[Outline.POSITION, events[place]]))
            known = merged.setdefault(name, [0, at])
            merged[name] = [known[0] + int(count), min(known[1], at)]
        return {
            "start": self.records.start,
            "end": self.records.end,
            "is_end": self.records.is_end,
            "records": int(np.count_nonzero(is_record)),
            "events": len(events),
            "damage": damage,
            "releases": int(np.bitwise_and.reduce(masks[tells])) if tells.any() else None,
            "last_half": int(masks[halves[-1]]) if len(halves) else None,
            "discard_checks": int(counted[kind == Kind.DISCARDED].max(initial=0)),
            "copy_checks": int(counted[kind <= Kind.PUT_BACK].max(initial=0)),
            "half_end": self._half_end(told, events),
            "hosts": merged,
            "ordered": int(np.count_nonzero(kind <= Kind.DISCARDED)) - len(self.unordered),
            "unordered": len(self.unordered),
        }

    def _half_end(self, told: Any, events: Any) -> dict[str, int]:
        chosen = events[told[Told.KIND] <= Kind.PUT_BACK]
        queues, offsets = self.outlines[Outline.QUEUE_ID, chosen], self.outlines[Outline.QUEUE_OFFSET, chosen]
        return {str(queue): int(offsets[queues == queue].max()) + 1 for queue in np.unique(queues)}

    def _tell_unsound_bodies(self) -> None:
        for number in np.flatnonzero(self.outlines[Outline.IS_BODY_SOUND] == 0):
            if self.outlines[Outline.IS_REPAIRED, number]:
                continue
            frame = frame_of(self.records, int(number))
            region = self._region(
                int(self.outlines[Outline.POSITION, number]), f"the body of {frame.name} does not match its checksum"
            )
            self.findings.append(found(Rank.LOG, frame.physical_offset * _RULES, region))

    def _record(self, number: int) -> Record:
        """A record, decoded by Python."""
        known = self.records.by_python.get(number)
        if isinstance(known, Record):
            return known
        outline = self.outlines[:, number]
        return self.records.reader.decode(int(outline[Outline.POSITION]), int(outline[Outline.SIZE]))

    def _tell_by_python(self, record: Record, told: Any, place: int) -> int:
        """Fill in what a record tells that is not as a broker writes it; gives its mask of releases."""
        kind = classify(record)
        at = record.physical_offset
        values = record.properties
        told[Told.KIND], told[Told.IS_ODD] = _KINDS[kind], 1
        checks = check_times(record)
        told[Told.CHECK_TIMES] = NOTHING if checks is None else checks
        immunity = immunity_ms(values.get(properties.IMMUNITY_SECONDS), self.task.timeout_ms)
        told[Told.IMMUNITY_SECONDS] = NOTHING if immunity is None else immunity
        told[Told.HAS_PREPARED_QUEUE_OFFSET] = properties.PREPARED_QUEUE_OFFSET in values
        told[Told.TAGS_CODE] = properties.java_string_hash(values.get(properties.TAGS, ""))
        told[Told.STORE_HOST] = hash_bytes(record.store_host.encode())
        told[Told.BIRTH] = birth_hash(record.born_timestamp, hash_bytes(host_bytes(record.born_host)), record.body_crc)
        told[Told.ENTRIES] = 0
        told[Told.KEY_SIZE] = told[Told.GROUP_SIZE] = told[Told.TOPIC_SIZE] = 0
        self.findings.extend(
            self._finding(Rank.FORM, at, reason, rule) for rule, reason in enumerate(wrong_form(record, kind))
        )
        if kind is RecordKind.OP:
            self._tell_op(record)
        elif kind is not RecordKind.OTHER:
            group = values.get(properties.PRODUCER_GROUP, "")
            unique_key = values.get(properties.UNIQUE_KEY)
            if unique_key:
                told[Told.KEY_HASH], told[Told.GROUP_HASH] = hash_bytes(unique_key.encode()), hash_bytes(group.encode())
            else:
                told[Told.KEY_HASH], told[Told.GROUP_HASH] = hash_bytes(repr(identity_of(record)).encode()), 2
            topic = values.get(properties.REAL_TOPIC, record.topic)
            self.texts[place] = unique_key or f"@{at}", group, topic
            told[Told.FEATURES] = Feature.SMALL_ORDER if is_in_a_known_order(record) else 0
        return _mask(writers_of(record, kind))

    def _tell_op(self, record: Record) -> None:
        offsets = parse_op_body(record.body) if record.has_sound_body else None
        if offsets is not None:
            self.ops.append((record.physical_offset, list(offsets)))
        elif record.has_sound_body:
            reason = f"the op body {record.body[:40]!r} is not a list of half offsets"
            self.findings.append(self._finding(Rank.OP, record.physical_offset, reason))

    def _tell_unordered(self, told: Any, events: Any) -> None:
        """Records whose properties are in no known order; whether that is damage, all splits together say."""
        is_in_order = told[Told.FEATURES] & (Feature.SMALL_ORDER | Feature.LARGE_ORDER) != 0
        from spark_trace_analysis.audit.consistency import UNORDERED

        for place in np.flatnonzero((told[Told.KIND] <= Kind.DISCARDED) & ~is_in_order):
            at = self._physical(int(self.outlines[Outline.POSITION, events[place]]))
            self.unordered.append(self._finding(Rank.UNORDERED, at, UNORDERED))

    def _write_entries(self, told: Any, events: Any) -> None:
        """The op entries, each with the end of the half queue as far as this split knows it."""
        o, start = self.outlines, self.file.start
        plain = events[(told[Told.KIND] == Kind.OP) & (told[Told.IS_ODD] == 0)]
        count = int(told[Told.ENTRIES, (told[Told.KIND] == Kind.OP) & (told[Told.IS_ODD] == 0)].sum())
        offsets, owners = list_entries(self.records.data, o, plain, count)
        numbers = plain[owners] if len(owners) else np.empty(0, np.int64)
        if self.ops:
            by_place = {int(o[Outline.POSITION, number]) + start: int(number) for number in events}
            offsets = np.append(offsets, [offset for _, listed in self.ops for offset in listed])
            numbers = np.append(numbers, [by_place[at] for at, listed in self.ops for _ in listed])
            order = np.argsort(numbers, kind="stable")
            offsets, numbers = offsets[order], numbers[order]
        queue_ids = o[Outline.QUEUE_ID, numbers]
        halves = events[told[Told.KIND] <= Kind.PUT_BACK]
        ends = np.zeros(len(numbers), np.int64)
        for queue in np.unique(queue_ids):
            of_queue = halves[o[Outline.QUEUE_ID, halves] == queue]
            end = np.maximum.accumulate(np.append(0, o[Outline.QUEUE_OFFSET, of_queue] + 1))
            here = queue_ids == queue
            ends[here] = end[np.searchsorted(of_queue, numbers[here])]
        columns = {
            "queue_id": queue_ids,
            "half_offset": offsets,
            "op_offset": o[Outline.QUEUE_OFFSET, numbers],
            "at": o[Outline.POSITION, numbers] + start,
            "store_timestamp": o[Outline.STORE_TIMESTAMP, numbers],
            "half_end": ends,
        }
        buckets = half_bucket(queue_ids, offsets, self.task.buckets)
        write_buckets(self.task.path("entries", self.split.number), columns, buckets, self.task.buckets)

    def _write_records(self, told: Any, events: Any) -> None:
        """Halves, deliveries and discards by transaction, and the halves once more by their place in the queue."""
        o, start, task = self.outlines, self.file.start, self.task
        places = np.flatnonzero(told[Told.KIND] <= Kind.DISCARDED)
        told, numbers = told[:, places], events[places]
        at = o[Outline.POSITION, numbers] + start
        is_half = told[Told.KIND] <= Kind.PUT_BACK
        halves = {
            "key": told[Told.KEY_HASH, is_half],
            "group": told[Told.GROUP_HASH, is_half],
            "queue_id": o[Outline.QUEUE_ID, numbers[is_half]],
            "queue_offset": o[Outline.QUEUE_OFFSET, numbers[is_half]],
            "at": at[is_half],
        }
        buckets = half_bucket(halves["queue_id"], halves["queue_offset"], task.buckets)
        write_buckets(task.path("halves", self.split.number), halves, buckets, task.buckets)
        texts = {int(np.searchsorted(places, place)): text for place, text in self.texts.items()}
        columns = {
            "key": told[Told.KEY_HASH],
            "group": told[Told.GROUP_HASH],
            "at": at,
            "kind": told[Told.KIND].astype(np.int8),
            "is_odd": told[Told.IS_ODD].astype(bool),
            "queue_id": o[Outline.QUEUE_ID, numbers].astype(np.int32),
            "queue_offset": o[Outline.QUEUE_OFFSET, numbers],
            "check_times": told[Told.CHECK_TIMES],
            "store_timestamp": o[Outline.STORE_TIMESTAMP, numbers],
            "born_timestamp": o[Outline.BORN_TIMESTAMP, numbers],
            "flag": o[Outline.FLAG, numbers].astype(np.int32),
            "prepared_offset": o[Outline.PREPARED_OFFSET, numbers],
            "is_renewed": told[Told.HAS_PREPARED_QUEUE_OFFSET].astype(bool),
            "immunity_ms": told[Told.IMMUNITY_SECONDS],
            "unchanging": told[Told.UNCHANGING],
            "real_topic": told[Told.REAL_TOPIC],
            "real_queue": told[Told.REAL_QUEUE],
            "prepared_queue_offset": told[Told.PREPARED_QUEUE_OFFSET],
            "birth": told[Told.BIRTH],
            "unique_key": self._texts(told, Told.KEY_AT, texts, 0),
            "producer_group": self._texts(told, Told.GROUP_AT, texts, 1).dictionary_encode(),
            "topic": self._texts(told, Told.TOPIC_AT, texts, 2).dictionary_encode(),
        }
        buckets = key_bucket(columns["key"], task.buckets)
        write_buckets(task.path("records", self.split.number), columns, buckets, task.buckets)

    def _texts(self, told: Any, at: Told, texts: dict[int, tuple[str, str, str]], which: int) -> pa.Array:
        """One text of each record: out of the file, or as Python read it."""
        raw, offsets = gather(self.records.data, told[at], told[at + 1])
        array = pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(raw))
        if texts:
            listed = array.to_pylist()
            for place, text in texts.items():
                listed[place] = text[which]
            array = pa.array(listed, pa.string())
        return array

    def _immunity(self, seconds: Any) -> Any:
        """:func:`spark_trace_analysis.audit.grouping.immunity_ms` of numbers."""
        milliseconds = np.where(seconds == -1, self.task.timeout_ms, seconds * 1000)
        return np.where(seconds == NOTHING, NOTHING, milliseconds)

    def _host(self, number: int) -> str:
        return self._record(number).store_host

    def _physical(self, position: int) -> int:
        return int(self.file.start) + position

    def _region(self, position: int, reason: str) -> CorruptRegion:
        return self.records.reader.region(position, reason)

    def _finding(self, rank: Rank, at: int, reason: str, rule: int = 0) -> Finding:
        return found(rank, at * _RULES + rule, CorruptRegion(*self.log.place(at), reason))


def _mask(releases: frozenset[str] | None) -> int:
    """The releases as bits; all of them where a record tells nothing."""
    return ALL_RELEASES if releases is None else sum(1 << RELEASES.index(release) for release in releases)


def releases_of(mask: int) -> frozenset[str]:
    """The releases of some bits."""
    return frozenset(release for number, release in enumerate(RELEASES) if mask >> number & 1)


_MASK_OF_HALF = np.array(
    [
        _mask(
            writers_of_half(
                has_transaction_id=bool(bits & Feature.TRANSACTION_ID),
                has_trailing_separator=bool(bits & Feature.TRAILING_SEPARATOR),
                has_region=bool(bits & Feature.REGION),
                is_in_small_order=bool(bits & Feature.SMALL_ORDER),
                is_in_large_order=bool(bits & Feature.LARGE_ORDER),
            )
        )
        for bits in range(32)
    ]
)


def _masks(told: Any) -> Any:
    """For each record the releases that could have written it, as bits."""
    kind, bits = told[Told.KIND], told[Told.FEATURES]
    masks = _MASK_OF_HALF[bits & 31]
    masks = np.where(kind == Kind.DISCARDED, _mask(WRITERS_OF_DISCARDS), masks)
    keeps, loses = (_mask(writers_of_delivery(keeps_real_topic=keeps)) for keeps in (True, False))
    masks = np.where(kind == Kind.DELIVERED, np.where(bits & Feature.REAL_TOPIC, keeps, loses), masks)
    one, many = (_mask(writers_of_op(is_batched=is_batched)) for is_batched in (False, True))
    return np.where(kind == Kind.OP, np.where(bits & Feature.BATCHED, many, one), masks)
