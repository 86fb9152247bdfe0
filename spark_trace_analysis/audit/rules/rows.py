"""The row of one history: its states, what it looks like, and what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_trace_analysis.audit.rules.resembles import catalogue_ids
from spark_trace_analysis.audit.rules.state import states_of
from spark_trace_analysis.audit.rules.transaction_row import HistoryEvent, TransactionRow
from spark_trace_analysis.records.record_kind import RecordKind

if TYPE_CHECKING:
    from spark_trace_analysis.audit.rules.circumstances import Circumstances
    from spark_trace_analysis.audit.rules.history import Delivery, Discard, HalfCopy, History, OpEntry

EVENTS = ("half", "put back", "delivered", "discarded", "op")
"""The words for what happens to a transaction, by the kind of the record."""


def row_of(history: History, circumstances: Circumstances) -> TransactionRow:
    """Judge one history."""
    states = states_of(history, circumstances)
    put_backs = sum(copy.check_times is not None for copy in history.copies)
    last = (
        history.copies[-1].check_times
        if history.copies
        else max((discard.check_times or 0 for discard in history.discards), default=0)
    )
    return TransactionRow(
        unique_key=history.key.unique_key,
        group=history.key.group,
        topic=history.topic,
        state=states[0],
        also=tuple(states[1:]),
        deliveries=len(history.deliveries),
        checks=max(last or 0, 0),
        put_backs=put_backs,
        half_offsets=tuple(copy.queue_offset for copy in history.copies),
        op_offsets=tuple(dict.fromkeys(op.op_offset for op in history.ops)),
        resembles=tuple(catalogue_ids(history, states, circumstances)),
        history=_events(history),
    )


def _events(history: History) -> tuple[HistoryEvent, ...]:
    records: list[tuple[RecordKind, HalfCopy | OpEntry | Delivery | Discard]] = [
        (RecordKind.FIRST_HALF if copy.check_times is None else RecordKind.PUT_BACK, copy) for copy in history.copies
    ]
    records += [(RecordKind.OP, op) for op in history.ops]
    records += [(RecordKind.DELIVERED, delivery) for delivery in history.deliveries]
    records += [(RecordKind.DISCARDED, discard) for discard in history.discards]
    events = (HistoryEvent(EVENTS[kind], one.commit_log_offset, one.store_timestamp) for kind, one in records)
    return tuple(sorted(events, key=lambda event: event.at))
