"""The trace that a store holds: its transactional records in the order of the commit log, numbered as traces are.

A transaction's number is its place among the first halves; copies belong to the latest first half with their identity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from model_check.trace_validation.observed import EventKind, ObservedEvent
from reference.format import properties
from reference.format.broker_conf import BrokerConf, read_broker_conf
from reference.format.commit_log import CommitLog
from reference.format.errors import CorruptRegion, NotAStoreError
from reference.format.frame import Frame
from reference.format.store_paths import StorePaths, store_paths
from spark_trace_analysis.records.rocksdb_halves import require_halves_in_the_log
from spark_trace_analysis.records.transaction_record import (
    RecordKind,
    check_times,
    classify,
    concerns_a_transaction,
    identity_of,
    immunity_ms,
    is_batched,
    parse_op_body,
)
from spark_trace_analysis.records.version import RECORDED_DISCARDS, VersionMarks, is_before
from spec.language import NONE

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from pathlib import Path

    from reference.format.record import LogRecord

_PROGRESS_RECORDS = 10_000
_NEVER_STORED = -2
"""The half of a delivery when no half stands where it was committed from."""


class StoreTrace:
    """Takes in the records of a store in the order of its log; an unreadable immunity stands for `transactionTimeOut`.

    There is an event for each half, op, committed and discarded message, and the commit log offset of its record.
    `unfit` says why the store is no trace from a broker's first start on, and is empty if it is one; `keys` are the
    UNIQ_KEYs by the transactions' numbers, empty where one has none.
    """

    def __init__(self, timeout_ms: int) -> None:
        self.events: list[ObservedEvent] = []
        self.unfit: list[str] = []
        self.commit_log_offsets: list[int] = []
        self.keys: list[str] = []
        self._timeout_ms = timeout_ms
        self._numbers: dict[Hashable, int] = {}
        self._half_at: dict[int, int] = {}
        self._discarded: set[int] = set()

    def add(self, record: LogRecord, kind: RecordKind) -> None:
        """Take in one record; those of other topics leave no event."""
        event = self._event_of(record, kind)
        if event is not None:
            self.events.append(event)
            self.commit_log_offsets.append(record.physical_offset)

    def before(self, offset: int) -> StoreTrace:
        """The same up to an offset of the commit log."""
        part = StoreTrace(self._timeout_ms)
        part.keys, part.unfit = self.keys, self.unfit
        count = sum(1 for at in self.commit_log_offsets if NONE != at < offset)
        part.events, part.commit_log_offsets = self.events[:count], self.commit_log_offsets[:count]
        return part

    def add_saved_offsets(self, half: int, op: int) -> None:
        """Take in the offsets of `config/consumerOffset.json`, behind all records."""
        time = self.events[-1].time if self.events else 0
        self.events.append(ObservedEvent(kind=EventKind.OFFSETS_SAVED, time=time, half=half, op=op))
        self.commit_log_offsets.append(NONE)

    def _event_of(self, record: LogRecord, kind: RecordKind) -> ObservedEvent | None:
        if kind is RecordKind.OTHER:
            return None
        if kind is RecordKind.OP:
            return self._op(record)
        if record.queue_id != 0 and kind in (RecordKind.FIRST_HALF, RecordKind.PUT_BACK):
            self.unfit.append(f"a half stands in queue {record.queue_id} of the half topic; brokers use queue 0 only")
        identity = identity_of(record)
        if kind is RecordKind.FIRST_HALF:
            self._numbers[identity] = len(self.keys)
            self.keys.append(record.properties.get(properties.UNIQUE_KEY, ""))
        transaction = self._numbers.get(identity)
        if transaction is None:
            self.unfit.append(f"the first half of the message at {record.physical_offset} is not in the log")
            return None
        if kind is RecordKind.DELIVERED:
            half = self._half_at.get(record.prepared_transaction_offset, _NEVER_STORED)
            return ObservedEvent(
                kind=EventKind.DELIVERED,
                time=record.store_timestamp,
                transaction=transaction,
                half=half,
                born=record.born_timestamp,
            )
        if kind is RecordKind.DISCARDED:
            self._discarded.add(transaction)
            return ObservedEvent(
                kind=EventKind.DISCARDED,
                time=record.store_timestamp,
                transaction=transaction,
                born=record.born_timestamp,
                check_times=check_times(record) or 0,
            )
        return self._half(record, kind, transaction)

    def _half(self, record: LogRecord, kind: RecordKind, transaction: int) -> ObservedEvent:
        values = record.properties
        self._half_at[record.physical_offset] = record.queue_offset
        if transaction in self._discarded and check_times(record) == 0:
            self.unfit.append(f"an operator has resumed a discarded half: that at {record.physical_offset}")
        immunity = immunity_ms(values.get(properties.IMMUNITY_SECONDS), self._timeout_ms)
        return ObservedEvent(
            kind=EventKind.HALF_STORED if kind is RecordKind.FIRST_HALF else EventKind.PUT_BACK,
            time=record.store_timestamp,
            transaction=transaction,
            half=record.queue_offset,
            born=record.born_timestamp,
            check_times=check_times(record) or 0,
            original=int(values.get(properties.PREPARED_QUEUE_OFFSET, NONE)),
            immunity=NONE if immunity is None else max(immunity, 0),
        )

    def _op(self, record: LogRecord) -> ObservedEvent | None:
        names = parse_op_body(record.body)
        if names is None:
            self.unfit.append(f"the op message at {record.physical_offset} can't be read")
            return None
        return ObservedEvent(
            kind=EventKind.OP_STORED,
            time=record.store_timestamp,
            op=record.queue_offset,
            names=tuple(names),
            born=record.born_timestamp,
            is_batched=is_batched(record.body),
            body_size=len(record.body),
        )


def read_store_trace(
    store: Path | StorePaths, on_progress: Callable[[int, int], None] | None = None
) -> tuple[StoreTrace, bool]:
    """The trace of a whole, undamaged store, and whether the version that wrote it leaves a record of a discard.

    Calls now and then with the bytes read and the bytes in all.

    Raises
    ------
    reference.format.errors.StoreError
        It is no store, a record of it is damaged, or its log does not begin with a broker's first start.
    StoreNotJudgedError
        Its halves lie in RocksDB.
    """
    paths = store if isinstance(store, StorePaths) else store_paths(store)
    store = paths.root
    log, conf_path = CommitLog.open(paths), paths.conf
    conf = BrokerConf() if conf_path is None else read_broker_conf(conf_path)
    trace = StoreTrace(conf.or_default("transactionTimeOut", None))
    marks = VersionMarks()
    for number, entry in enumerate(log.read(concerns_a_transaction), start=1):
        if isinstance(entry, CorruptRegion):
            message = f"{store}: a record is damaged: {entry}"
            raise NotAStoreError(message)
        if isinstance(entry, Frame):
            require_halves_in_the_log(store, entry)
        else:
            kind = classify(entry)
            marks.see(entry, kind)
            trace.add(entry, kind)
        if on_progress is not None and number % _PROGRESS_RECORDS == 0:
            on_progress(entry.physical_offset - log.start, log.size_bytes)
    if log.start:
        message = f"{store}: the commit log begins at {log.start}: what was before is gone"
        raise NotAStoreError(message)
    if trace.unfit:
        message = f"{store}: {trace.unfit[0]}"
        raise NotAStoreError(message)
    return trace, not is_before(marks.version(), RECORDED_DISCARDS)
