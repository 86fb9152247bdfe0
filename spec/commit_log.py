"""What of the commit log is on the disk."""

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
