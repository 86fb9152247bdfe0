"""The op batch of 5.1 and later: half offsets wait in memory and are written together by a thread of its own.

RocketMQ: TransactionalMessageServiceImpl#batchSendOpMessage, TransactionalOpBatchService.
"""

from __future__ import annotations

from spec.constants import Constants
from spec.language import LONG_AGO, Bits, action, require, within
from spec.state import State


def batch_size(s: State, c: Constants) -> int:
    """How many half offsets wait."""
    return sum(s.batch.names.has(h) for h in range(c.half_slots))


@action(event="op_stored")
def write_op_batch(s: State, c: Constants) -> None:
    """The waiting half offsets are written as one op message, when the interval is over or when they are many.

    RocketMQ: TransactionalMessageServiceImpl#batchSendOpMessage → #getOpMessage.
    """
    require(not s.batch.names.is_empty(), "half offsets wait in the batch")
    require(
        s.now - s.batch.written_at >= c.op_batch_interval or batch_size(s, c) >= c.op_batch_size,
        "the batch interval is over since the last write, or the batch is full",
    )
    within(s.op_length < c.op_slots, "the op queue of the instance has room")
    s.op[s.op_length].names = s.batch.names
    s.op[s.op_length].born_at = s.now
    s.op_length += 1
    s.batch.names = Bits()
    s.batch.waiting_since = LONG_AGO
    s.batch.written_at = s.now


def batch_is_overdue(s: State, c: Constants) -> bool:
    """The batch thread, which wakes once an interval, has had its chance to write what waits.

    An entry waits for the interval since the last write and then for the next wake-up: up to two intervals (A16).
    """
    is_waiting_long = s.now - s.batch.waiting_since >= c.op_batch_interval
    is_unwritten_long = s.now - s.batch.written_at >= c.batch_cut
    return not s.batch.names.is_empty() and is_waiting_long and is_unwritten_long


def drop_batch(s: State) -> None:
    """The process dies: what waits is gone."""
    s.batch.names = Bits()
    s.batch.is_open = False
    s.batch.waiting_since = LONG_AGO
    s.batch.written_at = LONG_AGO
