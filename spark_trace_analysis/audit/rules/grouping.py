"""Groups the records of a log by transaction.

The producer's UNIQ_KEY and its group name a transaction. A message without a UNIQ_KEY (a client may leave it out) is
followed by what a put-back never changes: birth, host, body and real queue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.format import properties
from spark_trace_analysis.audit.rules.history import Delivery, Discard, HalfCopy, History, OpEntry, TransactionKey
from spark_trace_analysis.records.transaction_record import (
    RecordKind,
    check_times,
    classify,
    identity_of,
    immunity_ms,
    parse_op_body,
)

if TYPE_CHECKING:
    from collections.abc import Hashable

    from reference.format.record import LogRecord


class Grouping:
    """Takes in records in the order of the log and holds the histories by identity, in the order of their first record.

    A negative or unreadable immunity stands for the timeout (``TransactionalMessageServiceImpl#getImmunityTime``).

    Attributes
    ----------
    half_end, op_end
        Queue id to the offset behind its last record so far, in the half queue and in its op queue.
    strange_ops
        Op records that can't be right, with the reason.
    """

    def __init__(self, transaction_timeout_ms: int) -> None:
        self.histories: dict[Hashable, History] = {}
        self.half_end: dict[int, int] = {}
        self.op_end: dict[int, int] = {}
        self.strange_ops: list[tuple[LogRecord, str]] = []
        self._timeout_ms = transaction_timeout_ms
        self._copies: dict[tuple[int, int], HalfCopy] = {}
        self._together: dict[tuple[int, int], list[HalfCopy]] = {}

    def add(self, record: LogRecord) -> tuple[RecordKind, History | None]:
        """Take in one record and say what it is, and whose; an op may concern many transactions and is nobody's."""
        kind = classify(record)
        history = None
        if kind is RecordKind.OP:
            self._add_op(record)
        elif kind is not RecordKind.OTHER:
            history = self._history_of(record)
            if kind is RecordKind.DELIVERED:
                history.deliveries.append(_delivery(record))
            elif kind is RecordKind.DISCARDED:
                history.discards.append(_discard(record))
            else:
                self._add_half(record, history)
        return kind, history

    def put_backs(self) -> list[HalfCopy]:
        """Every copy of every half that a round put back, in the order of the half queue."""
        return sorted(
            (copy for copy in self._copies.values() if copy.check_times is not None),
            key=lambda copy: copy.commit_log_offset,
        )

    def _add_half(self, record: LogRecord, history: History) -> None:
        queue_id, offset = record.queue_id, record.queue_offset
        self.half_end[queue_id] = max(self.half_end.get(queue_id, 0), offset + 1)
        age_ms = record.store_timestamp - record.born_timestamp
        copy = HalfCopy(
            queue_id=queue_id,
            queue_offset=offset,
            commit_log_offset=record.physical_offset,
            check_times=check_times(record),
            store_timestamp=record.store_timestamp,
            flag=record.flag,
            is_immunity_put_back=properties.PREPARED_QUEUE_OFFSET in record.properties
            and history.immunity_ms is not None
            and age_ms <= history.immunity_ms,
        )
        history.copies.append(copy)
        before = self._copies.get((queue_id, offset))
        if before is not None:
            together = self._together.setdefault((queue_id, offset), [before])
            copy.foreign_ops += [op for other in together for op in other.ops]
            together.append(copy)
        self._copies[queue_id, offset] = copy

    def _add_op(self, record: LogRecord) -> None:
        queue_id = record.queue_id
        self.op_end[queue_id] = max(self.op_end.get(queue_id, 0), record.queue_offset + 1)
        offsets = parse_op_body(record.body) if record.has_sound_body else None
        if offsets is None:
            if record.has_sound_body:
                self.strange_ops.append((record, f"the op body {record.body[:40]!r} is not a list of half offsets"))
            return
        for offset in offsets:
            copy = self._copies.get((queue_id, offset))
            if copy is not None:
                op = OpEntry(record.queue_offset, record.physical_offset, record.store_timestamp)
                copy.ops.append(op)
                for other in self._together.get((queue_id, offset), [copy])[:-1]:
                    other.foreign_ops.append(op)
            elif offset >= self.half_end.get(queue_id, 0):
                end = self.half_end.get(queue_id, 0)
                self.strange_ops.append((record, beyond_the_end(offset, end)))

    def _history_of(self, record: LogRecord) -> History:
        identity = identity_of(record)
        history = self.histories.get(identity)
        if history is None:
            values = record.properties
            key = values.get(properties.UNIQUE_KEY) or f"@{record.physical_offset}"
            history = History(
                key=TransactionKey(key, values.get(properties.PRODUCER_GROUP, "")),
                topic=values.get(properties.REAL_TOPIC, record.topic),
                born_timestamp=record.born_timestamp,
                birth=birth_of(record),
                immunity_ms=immunity_ms(values.get(properties.IMMUNITY_SECONDS), self._timeout_ms),
                keys=values.get(properties.KEYS, ""),
                tags=values.get(properties.TAGS, ""),
            )
            self.histories[identity] = history
        return history


def birth_of(record: LogRecord) -> tuple[int, str, int]:
    """The :attr:`~spark_trace_analysis.audit.rules.history.History.birth` of a transaction, from one of its records."""
    return record.born_timestamp, record.born_host, record.body_crc


def beyond_the_end(offset: int, end: int) -> str:
    """The complaint about an op that names a half which was not there yet."""
    return f"the op names half {offset}, but the half queue ended at {end} when it was written"


def _delivery(record: LogRecord) -> Delivery:
    return Delivery(
        queue_id=record.queue_id,
        queue_offset=record.queue_offset,
        commit_log_offset=record.physical_offset,
        prepared_offset=record.prepared_transaction_offset,
        store_timestamp=record.store_timestamp,
        flag=record.flag,
        check_times=check_times(record),
    )


def _discard(record: LogRecord) -> Discard:
    return Discard(
        queue_id=record.queue_id,
        queue_offset=record.queue_offset,
        commit_log_offset=record.physical_offset,
        check_times=check_times(record),
        store_timestamp=record.store_timestamp,
    )
