"""The op batch of 5.1 and later: half offsets wait in memory and are written together by a thread of its own.

RocketMQ: TransactionalMessageServiceImpl#batchSendOpMessage, TransactionalOpBatchService.
"""

from __future__ import annotations

from spec.commit_log import flush_before_answer, order_is_asked_for
from spec.constants import Constants
from spec.language import LONG_AGO, Bits, action, assume, require, within
from spec.observation import OPS_WRITTEN
from spec.state import Role, State


def batch_size(s: State, c: Constants) -> int:
    """How many half offsets wait."""
    return sum(s.batch.names.has(h) for h in range(c.half_slots))


def batch_is_due(s: State, c: Constants) -> None:
    """What writing the batch needs: something waits, for long enough or enough of it."""
    require(not s.batch.names.is_empty(), "half offsets wait in the batch")
    require(
        batch_is_ready(s, c) or s.batch.others, "the batch interval is over since the last write, or the batch is full"
    )


def batch_is_ready(s: State, c: Constants) -> bool:
    """The batch interval is over since the last write, or the batch is full."""
    return s.now - s.batch.written_at >= c.op_batch_interval or batch_size(s, c) >= c.op_batch_size


@action(event="op_stored", place=260, shows=OPS_WRITTEN)
def write_op_batch(s: State, c: Constants) -> None:
    """The waiting half offsets are written as one op message, when the interval is over or when they are many.

    RocketMQ: TransactionalMessageServiceImpl#batchSendOpMessage → #getOpMessage.
    """
    batch_is_due(s, c)
    require(s.role == Role.MASTER, "the broker is the master, so that its store takes messages")
    within(s.op_length < c.op_slots, "the op queue of the instance has room")
    append_op(s, c, s.batch.names)
    empty_batch(s)


@action(event="op_lost", place=270)
def fail_to_write_op_batch(s: State, c: Constants) -> None:
    """The op message of the batch is not stored; its entries were taken out before, and are gone (B04).

    RocketMQ: TransactionalMessageServiceImpl#batchSendOpMessage logs what TransactionalMessageBridge#writeOp returns. A
    slave's store refuses every write.
    """
    batch_is_due(s, c)
    require(s.role != Role.STOPPING, "the op batch thread has not ended")
    require(not c.keeps_failed_ops, "what was not written does not wait for the next time")
    assume(c.op_write_failure or s.role != Role.MASTER, "op messages are stored")
    for h in range(c.half_slots):
        if s.batch.names.has(h):
            s.half[h].op_write_failed = True
    empty_batch(s)


def append_op(s: State, c: Constants, names: Bits) -> None:
    """An op message at the end of its queue, behind the halves that are there in the commit log."""
    s.op[s.op_length].names = names
    s.op[s.op_length].born_at = s.now
    if c.forgets == 0 or order_is_asked_for(c):
        s.op[s.op_length].halves_before = s.half_length
    if c.forgets == 1 and not c.power_loss:
        s.had_ops = True
    s.op_length += 1
    flush_before_answer(s, c)


def empty_batch(s: State) -> None:
    """The entries are taken out, and the time is noted."""
    s.batch.names = Bits()
    s.batch.others = False
    s.batch.waiting_since = LONG_AGO
    s.batch.written_at = s.now


def batch_is_overdue(s: State, c: Constants) -> bool:
    """The batch thread has had its chance to write what waits.

    An entry waits for the interval since the last write. Up to 5.4.0 the thread wakes once an interval, and may miss
    that by a moment: then the entry waits for the next wake-up, for up to two intervals (A16). Later it wakes an
    interval after the last write, and where that is over it does not sleep (A17).
    """
    is_unwritten_long = s.now - s.batch.written_at >= c.op_batch_interval
    is_waiting_long = s.now - s.batch.waiting_since >= c.op_batch_interval
    is_slept_through = s.now - s.batch.written_at >= c.batch_cut and is_waiting_long
    is_awaited = is_slept_through if c.batch_thread_oversleeps else is_unwritten_long
    return (s.batch.others or not s.batch.names.is_empty()) and is_awaited


def drop_batch(s: State) -> None:
    """The process is over: what waits is gone."""
    s.batch.names = Bits()
    s.batch.others = False
    s.batch.is_open = False
    s.batch.waiting_since = LONG_AGO
    s.batch.written_at = LONG_AGO
