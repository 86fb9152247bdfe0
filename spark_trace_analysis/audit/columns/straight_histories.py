"""Judges the straight histories of a bucket from columns, without an object for each.

A history is straight if it is one half, put back any number of times, each time once and from the copy before, and then
delivered, rolled back or discarded once from the last copy, or still pending, with nothing that disagrees and nothing
after it. Of these
:func:`spark_trace_analysis.audit.rules.state.judge` says one state and no rule of
:mod:`spark_trace_analysis.audit.rules.resembles` speaks; whatever is not surely so is left to those rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spark_trace_analysis.audit.rules.state import TransactionState
from spark_trace_analysis.records.transaction_record import NOTHING, RecordKind
from spark_trace_analysis.records.version import is_since

if TYPE_CHECKING:
    from spark_trace_analysis.audit.columns.bucket import Bucket, Flags, Numbers
    from spark_trace_analysis.audit.rules.circumstances import Circumstances

STATES = list(TransactionState)
_DELIVERED, _ROLLED_BACK, _PARKED, _PENDING = map(
    STATES.index,
    (TransactionState.DELIVERED, TransactionState.ROLLED_BACK, TransactionState.PARKED, TransactionState.PENDING),
)


@dataclass(frozen=True, slots=True)
class Straight:
    """The straight histories of a bucket: the numbers of their transactions, and of each the put-backs and the state.

    A state is its place among all states; `is_plain` are those that are plainly delivered or rolled back.
    """

    numbers: Numbers
    put_backs: Numbers
    state: Numbers
    is_plain: Flags


def straight_histories(bucket: Bucket, at: Circumstances) -> Straight:
    """Find and judge the straight histories."""
    kind = bucket.column("kind")
    put_backs = bucket.sums(kind == RecordKind.PUT_BACK)
    deliveries, discards = (bucket.sums(kind == one) for one in (RecordKind.DELIVERED, RecordKind.DISCARDED))
    last = bucket.starts + put_backs
    is_straight = bucket.all_of(_continues(bucket, kind))
    is_straight &= (bucket.sizes == 1 + put_backs + deliveries + discards) & (bucket.op_counts <= 1)
    is_straight &= ~bucket.is_odd & bucket.agrees & ~bucket.has_shadow & ~bucket.has_namesakes
    # What follows looks at one record behind the last copy, and at one op entry: only where the counts allow it.
    ends = np.minimum(last + 1, max(len(kind) - 1, 0))
    last = np.minimum(last, max(len(kind) - 1, 0))
    is_delivered, is_discarded = deliveries == 1, discards == 1
    is_open = (deliveries == 0) & (discards == 0) & (bucket.op_counts == 0)
    is_straight &= np.where(is_delivered, _is_its_delivery(bucket, last, ends, put_backs, at), True)
    is_straight &= np.where(is_discarded, _is_unanswered(bucket), True)
    if any(is_since(one.version, "5.4.0") for one in at.all):
        is_straight &= bucket.all_of(_is_due(bucket, kind, at))
    is_settled = _is_settled(bucket, last, ends, put_backs, at, is_delivered=is_delivered)
    is_straight &= np.where(is_open, _is_surely_pending(bucket, last, at), is_settled)
    is_straight &= is_open | is_delivered | is_discarded | (bucket.op_counts == 1)
    if at.unknown_halves:
        is_straight &= _is_seen(bucket, at)
    if at.hidden:
        is_straight &= is_open | is_delivered | _is_surely_undelivered(bucket, ends, at, is_discarded=is_discarded)
    numbers = np.flatnonzero(is_straight)
    state = np.select([is_open, is_delivered, is_discarded], [_PENDING, _DELIVERED, _PARKED], _ROLLED_BACK)
    is_plain = (state == _DELIVERED) | (state == _ROLLED_BACK)
    return Straight(numbers, put_backs[numbers], state[numbers], is_plain[numbers])


def _continues(bucket: Bucket, kind: Any) -> Flags:
    """Whether each record follows from the one before it in its transaction.

    The half comes first; a put-back renews the copy before it, in the same queue, with the next check count; a delivery
    or a discard is the last record.
    """
    place = np.arange(len(kind)) - bucket.starts[bucket.owner]
    before = np.maximum(np.arange(len(kind)) - 1, 0)
    queue, offset = bucket.column("queue_id"), bucket.column("queue_offset")
    renews = (bucket.column("check_times") == place) & (kind[before] <= RecordKind.PUT_BACK)
    renews &= (queue == queue[before]) & (offset > offset[before])
    is_last = place == bucket.sizes[bucket.owner] - 1
    flags: Flags = np.where(
        place == 0,
        kind == RecordKind.FIRST_HALF,
        np.where(kind == RecordKind.PUT_BACK, renews, is_last & (kind > RecordKind.PUT_BACK)),
    )
    return flags


def _is_due(bucket: Bucket, kind: Any, at: Circumstances) -> Flags:
    """Whether no record is a copy of a copy that was put back sooner than rounds follow each other (B52)."""
    time = bucket.column("store_timestamp")
    before = np.maximum(np.arange(len(kind)) - 1, 0)
    is_copy = kind == RecordKind.PUT_BACK
    return np.asarray(~(is_copy & is_copy[before]) | (time - time[before] >= at.check_interval_ms), bool)


def _is_its_delivery(bucket: Bucket, last: Numbers, delivery: Numbers, put_backs: Numbers, at: Circumstances) -> Flags:
    """Whether a message is the last copy's own: committed from it, with its flag and check count.

    Left to the rules: a flag that a put-back lost (B32), and checks that are used up where a discard leaves no record
    (A14).
    """
    flag, checks = bucket.column("flag"), bucket.column("check_times")
    is_its = (bucket.column("prepared_offset")[delivery] == bucket.at[last]) & (flag[delivery] == flag[last])
    is_its &= checks[delivery] == np.where(put_backs == 0, NOTHING, put_backs)
    is_its &= (flag[bucket.starts] == 0) | (flag[delivery] != 0)
    if any(one.discards_silently for one in at.all):
        is_its &= put_backs < at.check_max
    return np.asarray(is_its, bool)


def _is_unanswered(bucket: Bucket) -> Flags:
    """Whether a discard follows checks without an answer; that of an immune half is left to the rules (A09)."""
    immunity = bucket.column("immunity_ms")[bucket.starts]
    return np.asarray((bucket.op_counts == 0) & (immunity == NOTHING), bool)


def _is_settled(
    bucket: Bucket, last: Numbers, ends: Numbers, put_backs: Numbers, at: Circumstances, *, is_delivered: Flags
) -> Flags:
    """Whether no copy is live, and the op, if there is one, names the last copy and was written after its message."""
    op_at, op_offset = bucket.op_column("at"), bucket.op_column("op_offset")
    has_op = bucket.op_counts > 0
    queue_offset = bucket.column("queue_offset")
    queue_id = bucket.column("queue_id")[bucket.starts]
    half_saved = _by_queue(queue_id, at.half_of)
    is_settled = queue_offset[last] < half_saved
    if len(op_at):
        op = np.minimum(bucket.op_starts, len(op_at) - 1)
        counts = op_offset[op] >= _by_queue(queue_id, at.op_of)
        before = np.maximum(last - 1, 0)
        is_settled |= has_op & counts & ((put_backs == 0) | (queue_offset[before] < half_saved))
        is_its = (bucket.op_record[op] == last) & (~is_delivered | (op_at[op] > bucket.at[ends]))
        is_settled &= ~has_op | is_its
    return np.asarray(is_settled, bool)


def _is_surely_pending(bucket: Bucket, last: Numbers, at: Circumstances) -> Flags:
    """Whether the next round visits the last copy, which no op names, and saved offsets say so that can be believed."""
    queue_id = bucket.column("queue_id")[bucket.starts]
    is_live = bucket.column("queue_offset")[last] >= _by_queue(queue_id, at.half_of)
    doubts = _by_queue(queue_id, lambda queue: queue in at.unknown_queues or at.is_op_offset_ahead(queue))
    return np.asarray(is_live & (doubts == 0), bool)


def _is_surely_undelivered(bucket: Bucket, ends: Numbers, at: Circumstances, *, is_discarded: Flags) -> Flags:
    """Whether no real message may have stood in damage between the half and its discard, or else its op message."""
    op_at = np.append(bucket.op_column("at"), 0)
    end = np.where(is_discarded, bucket.at[ends], op_at[np.minimum(bucket.op_starts, len(op_at) - 1)])
    behind_half = np.searchsorted(at.hidden, bucket.at[bucket.starts], side="right")
    return np.asarray(behind_half >= np.searchsorted(at.hidden, end), bool)


def _is_seen(bucket: Bucket, at: Circumstances) -> Flags:
    """Whether the saved offsets decide about all records and op messages of a history."""
    unknown = np.fromiter(at.unknown_halves, np.int64)
    is_seen = bucket.all_of(~np.isin(bucket.at, unknown))
    is_seen[bucket.owner[bucket.op_record[np.isin(bucket.op_column("at"), unknown)]]] = False
    return is_seen


def _by_queue(queue_ids: Any, offset_of: Any) -> Numbers:
    """A saved offset for each half, by its queue."""
    queues, inverse = np.unique(queue_ids, return_inverse=True)
    return np.array([offset_of(int(queue)) for queue in queues], np.int64)[inverse]
