"""What became of a transaction, and what else is true of it.

The broker's own rules decide, not the looks of the records (``TransactionalMessageServiceImpl#check``): a half that was
put back has no op, only the saved half offset hides it; an op counts only if it names a copy at or beyond that offset
and was itself not yet passed by the saved op offset.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spark_trace_analysis.audit.rules.circumstances import Circumstances
    from spark_trace_analysis.audit.rules.history import HalfCopy, History


class TransactionState(StrEnum):
    """The states, the gravest first; a history that is several of them is shown as the first."""

    LOST = "lost"
    DOUBLED = "doubled"
    PARKED = "parked"
    PENDING = "pending"
    DELIVERED = "delivered"
    ROLLED_BACK = "rolled_back"


def is_live(copy: HalfCopy, at: Circumstances) -> bool:
    """Whether the next check round visits a copy and finds no op for it."""
    if copy.queue_offset < at.half_of(copy.queue_id):
        return False
    first_op = at.op_of(copy.queue_id)
    return not any(op.op_offset >= first_op for op in copy.ops)


def states_of(history: History, at: Circumstances) -> list[TransactionState]:
    """Every state that holds of a history, the gravest first; never empty.

    ``lost`` holds when nothing else does: the half is behind the saved offset, nobody will ask for it again, and there
    is neither a delivered nor a rolled back nor a discarded message. ``rolled_back`` beside a delivery says that an END
    more than the delivered ones was accepted, so both decisions were.
    """
    deliveries = len(history.deliveries)
    holding = {
        TransactionState.DOUBLED: deliveries > 1,
        TransactionState.PARKED: bool(history.discards),
        TransactionState.PENDING: any(is_live(copy, at) for copy in history.copies),
        TransactionState.DELIVERED: deliveries == 1,
        TransactionState.ROLLED_BACK: len(history.ops) > deliveries,
    }
    return [state for state, holds in holding.items() if holds] or [TransactionState.LOST]
