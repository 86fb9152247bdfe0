"""The states of a transaction, the gravest first.

The broker's own rules decide, not the looks of the records (``TransactionalMessageServiceImpl#check``): a half that was
put back has no op, only the saved half offset hides it; an op counts only if it names a copy at or beyond that offset
and was itself not yet passed by the saved op offset. Whether those offsets can be believed is asked besides
(:mod:`spark_trace_analysis.audit.rules.unknown_cause`).
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from spark_trace_analysis.audit.rules.unknown_cause import (
    why_not_surely_lost,
    why_not_surely_pending,
    why_not_surely_undelivered,
)

if TYPE_CHECKING:
    from spark_trace_analysis.audit.rules.circumstances import Circumstances
    from spark_trace_analysis.audit.rules.history import HalfCopy, History
    from spark_trace_analysis.audit.rules.unknown_cause import UnknownCause


class TransactionState(StrEnum):
    """The states, the gravest first; a history that is several of them is shown as the first."""

    LOST = "lost"
    DOUBLED = "doubled"
    PARKED = "parked"
    UNKNOWN = "unknown"
    PENDING = "pending"
    DELIVERED = "delivered"
    ROLLED_BACK = "rolled_back"


def is_live(copy: HalfCopy, at: Circumstances) -> bool:
    """Whether the next check round visits a copy and finds no op for it."""
    if copy.queue_offset < at.half_of(copy.queue_id):
        return False
    first_op = at.op_of(copy.queue_id)
    return not any(op.op_offset >= first_op and at.is_op_seen(op) for op in (*copy.ops, *copy.foreign_ops))


class JudgedHistory(NamedTuple):
    """The verdict on a history.

    Attributes
    ----------
    states
        Every state, the gravest first; never empty.
    unknown_cause
        Why one of them is ``unknown``; None if none is.
    """

    states: list[TransactionState]
    unknown_cause: UnknownCause | None


def judge(history: History, at: Circumstances) -> JudgedHistory:
    """Every state that holds of a history.

    ``lost`` holds when nothing else does: the half is behind the saved offset, nobody will ask for it again, and there
    is neither a delivered nor a rolled back nor a discarded message. ``rolled_back`` beside a delivery says that an END
    more than the delivered ones was accepted, so both decisions were. ``unknown`` stands for ``pending``, ``lost`` or
    ``rolled_back`` where the files do not say it, and beside ``parked`` for a delivery that may stand in damage.
    """
    deliveries = len(history.deliveries)
    open_causes = [why_not_surely_pending(history, copy, at) for copy in history.copies if is_live(copy, at)]
    is_pending = None in open_causes
    is_rolled_back = len(history.ops) > deliveries
    cause = None if is_pending else next(iter(open_causes), None)
    is_given_up = bool(history.discards) and not deliveries
    if (is_rolled_back or is_given_up) and (damaged := why_not_surely_undelivered(history, at)) is not None:
        is_rolled_back = False
        cause = cause or (None if is_pending else damaged)
    holding = {
        TransactionState.DOUBLED: deliveries > 1,
        TransactionState.PARKED: bool(history.discards),
        TransactionState.UNKNOWN: cause is not None,
        TransactionState.PENDING: is_pending,
        TransactionState.DELIVERED: deliveries == 1,
        TransactionState.ROLLED_BACK: is_rolled_back,
    }
    states = [state for state, holds in holding.items() if holds]
    if states:
        return JudgedHistory(states, cause)
    cause = why_not_surely_lost(history, at)
    return JudgedHistory([TransactionState.LOST if cause is None else TransactionState.UNKNOWN], cause)
