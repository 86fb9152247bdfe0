"""Records that are not as a broker writes them: Python decodes them and fills in their fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reference.format import properties
from reference.format.stored_message import host_bytes
from spark_trace_analysis.audit.rules.consistency import is_in_a_known_order, wrong_form
from spark_trace_analysis.audit.rules.damage import DamageFinding, Rank, at_record
from spark_trace_analysis.records.bytes_kernels import hash_bytes
from spark_trace_analysis.records.property_kernels import birth_hash
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
        """Fill in the fields of a record; gives the releases that could have written it as bits.

        Parameters
        ----------
        fields
            Its column, a number for each of `RecordField`.
        place
            The number of that column.
        """
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
