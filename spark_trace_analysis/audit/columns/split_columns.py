"""The columns that a split hands on: op entries, halves by their place in the queue, records by transaction.

Records that are not as a broker writes them are decoded by Python, which fills in their fields.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from reference.format import properties
from reference.format.stored_message import host_bytes
from spark_trace_analysis.audit.rules.consistency import is_in_a_known_order, wrong_form
from spark_trace_analysis.audit.rules.damage import DamageFinding, Rank, at_record
from spark_trace_analysis.records.bytes_kernels import gather, hash_bytes
from spark_trace_analysis.records.property_kernels import birth_hash, list_entries
from spark_trace_analysis.records.record_kernels import Outline
from spark_trace_analysis.records.transaction_record import (
    NOTHING,
    Feature,
    RecordField,
    RecordKind,
    check_times,
    classify,
    identity_of,
    immunity_ms,
    parse_op_body,
)
from spark_trace_analysis.records.version import mask_of, writers_of

if TYPE_CHECKING:
    from reference.format.commit_log import CommitLog
    from reference.format.record import LogRecord
    from spark_trace_analysis.records.split_records import SplitRecords


class OddRecords:
    """Takes in the odd records of one split.

    Parameters
    ----------
    timeout_ms
        The immunity that an unreadable one stands for.

    Attributes
    ----------
    findings
        Records of a form that their kind never has.
    ops
        Commit log offset of each odd op message, and the half offsets in its body.
    texts
        Place of each other record to its unique key, group, real topic, KEYS and TAGS; without a unique key to another
        identity of its transaction, and None.
    """

    def __init__(self, log: CommitLog, timeout_ms: int) -> None:
        self._log = log
        self._timeout_ms = timeout_ms
        self.findings: list[DamageFinding] = []
        self.ops: list[tuple[int, list[int]]] = []
        self.texts: dict[int, tuple[str | None, ...]] = {}

    def fill(self, record: LogRecord, fields: Any, place: int) -> int:
        """Fill in the fields of a record, its column; gives the releases that could have written it as bits."""
        kind = classify(record)
        at = record.physical_offset
        values = record.properties
        fields[RecordField.KIND], fields[RecordField.IS_ODD] = kind, 1
        checks = check_times(record)
        fields[RecordField.CHECK_TIMES] = NOTHING if checks is None else checks
        immunity = immunity_ms(values.get(properties.IMMUNITY_SECONDS), self._timeout_ms)
        fields[RecordField.IMMUNITY_SECONDS] = NOTHING if immunity is None else immunity
        fields[RecordField.TAGS_CODE] = properties.tags_code_of(values)
        fields[RecordField.BIRTH_HASH] = birth_hash(
            record.born_timestamp, hash_bytes(host_bytes(record.born_host)), record.body_crc
        )
        fields[RecordField.ENTRIES] = 0
        fields[[field for field in RecordField if field.name.endswith("_SIZE")]] = 0
        self.findings.extend(
            at_record(self._log, Rank.FORM, at, reason, rule) for rule, reason in enumerate(wrong_form(record, kind))
        )
        if kind is RecordKind.OP:
            self._take_op(record)
        elif kind is not RecordKind.OTHER:
            unique_key = values.get(properties.UNIQUE_KEY)
            name, group = (
                (unique_key, values.get(properties.PRODUCER_GROUP, ""))
                if unique_key
                else (repr(identity_of(record)), None)
            )
            fields[RecordField.KEY_HASH] = hash_bytes(name.encode())
            topic = values.get(properties.REAL_TOPIC, record.topic)
            keys, tags = values.get(properties.KEYS, ""), values.get(properties.TAGS, "")
            self.texts[place] = name, group, topic, keys, tags
            fields[RecordField.FEATURES] = Feature.SMALL_ORDER if is_in_a_known_order(record) else 0
        return mask_of(writers_of(record, kind))

    def _take_op(self, record: LogRecord) -> None:
        offsets = parse_op_body(record.body) if record.has_sound_body else None
        if offsets is not None:
            self.ops.append((record.physical_offset, list(offsets)))
        elif record.has_sound_body:
            reason = f"the op body {record.body[:40]!r} is not a list of half offsets"
            self.findings.append(at_record(self._log, Rank.OP, record.physical_offset, reason))


@dataclass(frozen=True, slots=True)
class SplitEvents:
    """Those records of one split, by their numbers among all, that are part of a transaction's life.

    The fields have a row for each :class:`~spark_trace_analysis.records.transaction_record.RecordField`, a column for
    each record; their ``STAYS_AT`` are places in the bytes `stays`. The odd ones, which Python had to read, have their
    texts by the places here.
    """

    records: SplitRecords
    numbers: np.ndarray[Any, np.dtype[np.int64]]
    fields: np.ndarray[Any, np.dtype[np.int64]]
    stays: np.ndarray[Any, np.dtype[np.uint8]]
    odd: OddRecords

    def outline(self, field: Outline) -> Any:
        """One field of each record's outline."""
        return self.records.outlines[field, self.numbers]

    @property
    def at(self) -> Any:
        """Where each stands in the commit log."""
        return self.outline(Outline.POSITION) + self.records.reader.file.start

    def chosen(self, places: Any) -> SplitEvents:
        """Some of them, by place or flag."""
        return SplitEvents(self.records, self.numbers[places], self.fields[:, places], self.stays, self.odd)


def entry_columns(events: SplitEvents) -> dict[str, Any]:
    """The op entries, each with the end of the half queue as far as this split knows it."""
    o, fields, start = events.records.outlines, events.fields, events.records.reader.file.start
    is_plain_op = (fields[RecordField.KIND] == RecordKind.OP) & (fields[RecordField.IS_ODD] == 0)
    plain = events.numbers[is_plain_op]
    offsets, owners = list_entries(events.records.data, o, plain, int(fields[RecordField.ENTRIES, is_plain_op].sum()))
    numbers = plain[owners] if len(owners) else np.empty(0, np.int64)
    odd = events.odd.ops
    if odd:
        by_place = dict(zip(events.at.tolist(), events.numbers.tolist(), strict=True))
        offsets = np.append(offsets, [offset for _, listed in odd for offset in listed])
        numbers = np.append(numbers, [by_place[at] for at, listed in odd for _ in listed])
        order = np.argsort(numbers, kind="stable")
        offsets, numbers = offsets[order], numbers[order]
    queue_ids = o[Outline.QUEUE_ID, numbers]
    halves = events.numbers[fields[RecordField.KIND] <= RecordKind.PUT_BACK]
    ends = np.zeros(len(numbers), np.int64)
    for queue in np.unique(queue_ids):
        of_queue = halves[o[Outline.QUEUE_ID, halves] == queue]
        end = np.maximum.accumulate(np.append(0, o[Outline.QUEUE_OFFSET, of_queue] + 1))
        here = queue_ids == queue
        ends[here] = end[np.searchsorted(of_queue, numbers[here])]
    return {
        "queue_id": queue_ids,
        "half_offset": offsets,
        "op_offset": o[Outline.QUEUE_OFFSET, numbers],
        "at": o[Outline.POSITION, numbers] + start,
        "store_timestamp": o[Outline.STORE_TIMESTAMP, numbers],
        "half_end": ends,
    }


def half_columns(events: SplitEvents) -> dict[str, Any]:
    """The halves and their copies by their place in the queue."""
    halves = events.chosen(events.fields[RecordField.KIND] <= RecordKind.PUT_BACK)
    return {
        "key_hash": halves.fields[RecordField.KEY_HASH],
        "queue_id": halves.outline(Outline.QUEUE_ID),
        "queue_offset": halves.outline(Outline.QUEUE_OFFSET),
        "at": halves.at,
    }


def record_columns(events: SplitEvents) -> dict[str, Any]:
    """Halves, copies, deliveries and discards by transaction."""
    places = np.flatnonzero(events.fields[RecordField.KIND] <= RecordKind.DISCARDED)
    chosen = events.chosen(places)
    fields = chosen.fields
    texts = {int(np.searchsorted(places, place)): text for place, text in events.odd.texts.items()}
    return {
        "at": chosen.at,
        "kind": fields[RecordField.KIND].astype(np.int8),
        "is_odd": fields[RecordField.IS_ODD].astype(bool),
        "queue_id": chosen.outline(Outline.QUEUE_ID).astype(np.int32),
        "queue_offset": chosen.outline(Outline.QUEUE_OFFSET),
        "check_times": fields[RecordField.CHECK_TIMES],
        "store_timestamp": chosen.outline(Outline.STORE_TIMESTAMP),
        "born_timestamp": chosen.outline(Outline.BORN_TIMESTAMP),
        "flag": chosen.outline(Outline.FLAG).astype(np.int32),
        "prepared_offset": chosen.outline(Outline.PREPARED_TRANSACTION_OFFSET),
        "immunity_ms": fields[RecordField.IMMUNITY_SECONDS],
        "body_crc": chosen.outline(Outline.BODY_CRC),
        "constants": fields[RecordField.CONSTANTS],
        "real_queue": fields[RecordField.REAL_QUEUE],
        "prepared_queue_offset": fields[RecordField.PREPARED_QUEUE_OFFSET],
        "birth_hash": fields[RecordField.BIRTH_HASH],
        "stays": _gathered(chosen.stays, fields, RecordField.STAYS_AT, pa.binary()),
        "unique_key": _texts(chosen, RecordField.KEY_AT, texts, 0),
        "producer_group": _texts(chosen, RecordField.GROUP_AT, texts, 1).dictionary_encode(),
        "topic": _texts(chosen, RecordField.TOPIC_AT, texts, 2).dictionary_encode(),
        "message_keys": _texts(chosen, RecordField.KEYS_AT, texts, 3),
        "message_tags": _texts(chosen, RecordField.TAGS_AT, texts, 4).dictionary_encode(),
    }


def key_hashes(events: SplitEvents) -> Any:
    """For each row of :func:`record_columns` a number that all records of one transaction have; others may have it."""
    return events.fields[RecordField.KEY_HASH, events.fields[RecordField.KIND] <= RecordKind.DISCARDED]


def _gathered(data: Any, fields: Any, at: RecordField, kind: pa.DataType) -> pa.Array:
    """A stretch of bytes for each record; its size is the field behind its place."""
    raw, offsets = gather(data, fields[at], fields[at + 1])
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(raw)]
    return pa.Array.from_buffers(kind, len(offsets) - 1, buffers)


def _texts(events: SplitEvents, at: RecordField, texts: dict[int, tuple[str | None, ...]], which: int) -> pa.Array:
    """One text of each record: out of the file, or as Python read it."""
    array = _gathered(events.records.data, events.fields, at, pa.string())
    if texts:
        listed = array.to_pylist()
        for place, text in texts.items():
            listed[place] = text[which]
        array = pa.array(listed, pa.string())
    return array
