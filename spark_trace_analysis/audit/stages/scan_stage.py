"""The first stage of an audit: each task reads one split of the commit log and writes its records as columns.

A record is judged here by itself, and against its neighbours and its consume queue. The rows go into buckets:
 records by their transaction, halves and op entries by their place in the half queue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reference.format.commit_log import CommitLog
from reference.format.record import MalformedRecordError
from reference.format.stored_message import host_text
from spark_trace_analysis.audit.columns.columns_cross_check import check_columns
from spark_trace_analysis.audit.columns.split_columns import (
    OddRecords,
    SplitEvents,
    entry_columns,
    half_columns,
    key_hashes,
    record_columns,
)
from spark_trace_analysis.audit.columns.stage_files import write_buckets, write_facts, write_findings
from spark_trace_analysis.audit.rules.consistency import UNORDERED
from spark_trace_analysis.audit.rules.damage import DamageFinding, Rank, at_record, found, order_of
from spark_trace_analysis.audit.stages.scan_task import ScanTask, half_bucket, key_bucket
from spark_trace_analysis.records.property_kernels import read_fields
from spark_trace_analysis.records.record_kernels import Outline, TopicKind
from spark_trace_analysis.records.split_records import SplitRecords, encoded_hosts, read_split
from spark_trace_analysis.records.transaction_record import NOTHING, Feature, RecordField, RecordKind
from spark_trace_analysis.records.version import masks_of

if TYPE_CHECKING:
    from spark_trace_analysis.records.store_splits import Split


def scan_split(task: ScanTask, split: Split) -> None:
    """Read one split and write its files."""
    log = CommitLog.open(task.paths)
    _Scan(task, split, log, read_split(log, split)).write()


class _Scan:
    """One split on its way from bytes to files."""

    def __init__(self, task: ScanTask, split: Split, log: CommitLog, records: SplitRecords) -> None:
        self.task = task
        self.split = split
        self.log = log
        self.records = records
        self.outlines = records.outlines
        self.is_record = np.ones(records.outlines.shape[1], bool)
        self.findings: list[DamageFinding] = [
            found(Rank.LOG, order_of(self._physical(region.offset)), region) for region in records.damage
        ]

    def write(self) -> None:
        """Write all files of the split, the one that says that it is done last."""
        self._note_unsound_bodies()
        events, masks = self._events()
        self.findings += events.odd.findings
        tags_codes = np.full(self.outlines.shape[1], NOTHING)
        tags_codes[events.numbers] = events.fields[RecordField.TAGS_CODE]
        cross = check_columns(self.log, self.task.paths.root, self.records, self.is_record, tags_codes)
        self.findings += cross.findings
        entries, halves, records = entry_columns(events), half_columns(events), record_columns(events)
        count = self.task.buckets
        self._write("entries", entries, half_bucket(entries["queue_id"], entries["half_offset"], count))
        self._write("halves", halves, half_bucket(halves["queue_id"], halves["queue_offset"], count))
        self._write("records", records, key_bucket(key_hashes(events), count))
        name, number = self.task.path, self.split.number
        unordered = self._unordered(events)
        write_findings(name("unordered", number, "jsonl"), unordered)
        write_findings(name("findings", number, "jsonl"), self.findings)
        write_findings(name("missing", number, "jsonl"), cross.missing)
        facts = {
            "start": self.records.start,
            "end": self.records.end,
            "is_end": self.records.is_end,
            "records": int(np.count_nonzero(self.is_record)),
            "ordered": len(records["at"]) - len(unordered),
            "unordered": len(unordered),
        }
        write_facts(name("scan", number, "json"), facts | self._facts(events, masks) | cross.facts)

    def _write(self, kind: str, columns: dict[str, Any], buckets: Any) -> None:
        write_buckets(self.task.path(kind, self.split.number), columns, buckets, self.task.buckets)

    def _events(self) -> tuple[SplitEvents, Any]:
        """The fields of the records of transactions, and the releases that could have written each as bits."""
        o = self.outlines
        numbers = np.flatnonzero((o[Outline.TOPIC_KIND] != TopicKind.ORDINARY) | (o[Outline.IS_REPAIRED] != 0))
        fields, stays = read_fields(self.records.data, o, numbers)
        fields[RecordField.IMMUNITY_SECONDS] = self._immunity(fields[RecordField.IMMUNITY_SECONDS])
        masks = masks_of(fields)
        odd = OddRecords(self.log, self.task.timeout_ms)
        stays_in = np.ones(len(numbers), bool)
        for place in map(int, np.flatnonzero(fields[RecordField.IS_ODD])):
            number = int(numbers[place])
            try:
                record = self.records.record(number)
            except MalformedRecordError as error:
                region = self.records.reader.region(int(o[Outline.POSITION, number]), str(error))
                self.findings.append(found(Rank.LOG, order_of(self._physical(region.offset), 1), region))
                self.is_record[number] = stays_in[place] = False
                continue
            masks[place] = odd.fill(record, fields[:, place], place)
        odd.texts = {int(np.count_nonzero(stays_in[:place])): text for place, text in odd.texts.items()}
        return SplitEvents(self.records, numbers, fields, stays, odd).chosen(stays_in), masks[stays_in]

    def _facts(self, events: SplitEvents, masks: Any) -> dict[str, Any]:
        """The facts of the records of transactions that are judged over all splits."""
        kind, checks = events.fields[RecordField.KIND], events.fields[RecordField.CHECK_TIMES]
        halves = np.flatnonzero(kind <= RecordKind.PUT_BACK)
        counted = np.where(checks == NOTHING, 0, checks)
        is_of_a_transaction = kind != RecordKind.OTHER
        return {
            "events": len(kind),
            "marks": _marks(masks[is_of_a_transaction], events.at[is_of_a_transaction]),
            "last_half": [int(events.at[halves[-1]]), int(masks[halves[-1]])] if len(halves) else [-1, 0],
            "discard_checks": int(counted[kind == RecordKind.DISCARDED].max(initial=0)),
            "copy_checks": int(counted[kind <= RecordKind.PUT_BACK].max(initial=0)),
            "half_end": _queue_ends(events.chosen(halves)),
            "op_end": _queue_ends(events.chosen(np.flatnonzero(kind == RecordKind.OP))),
            "hosts": self._hosts(events),
        }

    def _hosts(self, events: SplitEvents) -> dict[str, list[int]]:
        """For each store host the number of its records, and where the first one stands."""
        merged: dict[str, list[int]] = {}

        def add(host: str, count: int, first: int) -> None:
            known = merged.setdefault(host, [0, first])
            merged[host] = [known[0] + count, min(known[1], first)]

        is_odd = events.fields[RecordField.IS_ODD] != 0
        hosts = encoded_hosts(self.records, events.numbers[~is_odd], of_store=True)
        which, first, counts = np.unique(hosts.indices.to_numpy(), return_index=True, return_counts=True)
        names, places = hosts.dictionary.to_pylist(), events.at[~is_odd][first]
        for number, at, count in zip(which.tolist(), places.tolist(), counts.tolist(), strict=True):
            add(host_text(names[number]), count, at)
        for number, at in zip(events.numbers[is_odd].tolist(), events.at[is_odd].tolist(), strict=True):
            add(self.records.record(number).store_host, 1, at)
        return merged

    def _note_unsound_bodies(self) -> None:
        for number in np.flatnonzero(self.outlines[Outline.IS_BODY_SOUND] == 0):
            if self.outlines[Outline.IS_REPAIRED, number]:
                continue
            frame = self.records.frame(int(number))
            region = self.records.reader.region(
                int(self.outlines[Outline.POSITION, number]), f"the body of {frame.name} does not match its checksum"
            )
            self.findings.append(found(Rank.LOG, order_of(frame.physical_offset), region))

    def _unordered(self, events: SplitEvents) -> list[DamageFinding]:
        """Records whose properties are in no known order; whether that is damage is judged over all splits."""
        fields = events.fields
        is_in_order = fields[RecordField.FEATURES] & (Feature.SMALL_ORDER | Feature.LARGE_ORDER) != 0
        places = events.at[(fields[RecordField.KIND] <= RecordKind.DISCARDED) & ~is_in_order].tolist()
        return [at_record(self.log, Rank.UNORDERED, at, UNORDERED) for at in places]

    def _immunity(self, seconds: Any) -> Any:
        """:func:`spark_trace_analysis.records.transaction_record.immunity_ms` of numbers."""
        milliseconds = np.where(seconds == -1, self.task.timeout_ms, seconds * 1000)
        return np.where(seconds == NOTHING, NOTHING, milliseconds)

    def _physical(self, position: int) -> int:
        return int(self.records.reader.file.start) + position


def _marks(masks: Any, at: Any) -> list[list[int]]:
    """Releases as bits, each with the first and the last place of a record that leaves them."""
    kinds = [(int(mask), at[masks == mask]) for mask in np.unique(masks)]
    return [[mask, int(places[0]), int(places[-1])] for mask, places in kinds]


def _queue_ends(events: SplitEvents) -> dict[str, int]:
    """Where each queue of some records ends as far as this split knows it."""
    queues, offsets = events.outline(Outline.QUEUE_ID), events.outline(Outline.QUEUE_OFFSET)
    return {str(queue): int(offsets[queues == queue].max()) + 1 for queue in np.unique(queues)}
