"""The order of the commit log, and what of it is on the disk."""

from __future__ import annotations

from spec.constants import Constants
from spec.state import State


def flush(s: State, c: Constants) -> None:
    """All messages survive a power loss. What no power loss can ask for is not kept."""
    matters = c.power_loss and s.mishaps < c.mishaps
    s.flushed.halves = s.half_length if matters else 0
    s.flushed.ops = s.op_length if matters else 0


def flush_before_answer(s: State, c: Constants) -> None:
    """A repaired broker answers for a half or an op message only when it is on the disk.

    RocketMQ: CommitLog.GroupCommitService, where flushDiskType is SYNC_FLUSH; an op message does not wait for it
    (TransactionalMessageBridge#makeOpMessageInner).
    """
    if c.flushes_before_answering:
        flush(s, c)


def order_is_asked_for(c: Constants) -> bool:
    """Something may ask which of a half and an op message was stored first."""
    return c.power_loss or c.retention or (c.undecodable_op and c.skips_undecodable_ops)


def ops_among(s: State, c: Constants, records: int) -> int:
    """How many op messages are among the first records of the log: one has its number of records before it."""
    return sum(o < s.op_length and s.op[o].halves_before + o < records for o in range(c.op_slots))
