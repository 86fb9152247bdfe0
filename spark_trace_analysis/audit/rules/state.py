"""The states of a transaction, the gravest first, and the causes of an unknown one.

The broker's own rules decide, not the looks of the records (``TransactionalMessageServiceImpl#check``): a half that was
put back has no op, only the saved half offset hides it; an op counts only if it names a copy at or beyond that offset
and was itself not yet passed by the saved op offset.

Whether those offsets can be believed is asked besides. A copy of a store is often skewed: its files were read one after
the other while the broker went on. What the log and the saved offsets say together is then true of no moment. Where
files show that, a half that the saved offset has passed is lost only if the log itself shows it; and one that it has
not passed is pending only if no round has passed it already.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from spark_trace_analysis.audit.rules.circumstances import Circumstances
    from spark_trace_analysis.audit.rules.history import HalfCopy, History


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
    """The verdict on a history: every state, the gravest first and never none; why one is ``unknown``, if one is."""

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


class UnknownCause(StrEnum):
    """The cause; how to find out, and the state otherwise, stand under ``[learn]`` and ``[otherwise]`` of the advice.

    Attributes
    ----------
    OFFSETS_UNREADABLE, OFFSETS_IN_ROCKSDB
        Neither ``consumerOffset.json`` nor its backup can be understood, and a broker does not start so. Or a broker
        keeps its offsets in RocksDB, which is not read.
    NOT_IN_ITS_QUEUE
        The half's record, or an op message that names it, has no entry in its consume queue.
    HALF_OFFSET_AHEAD, OP_OFFSET_AHEAD
        The saved half offset lies beyond the end of its queue: the log is older than ``config/``, or its end was lost
        (B14). Or the saved op offset does, and the half offset has not passed the half.
    DAMAGED
        Something in the store is damaged, and the record that settled or delivered the half may have stood there.
    NO_OFFSETS, PASSED_ALREADY
        Only copies that a round has renewed or discarded already are still before the saved half offset: ``config/`` is
        older than the log, or there are no saved offsets.
    SKEWED
        The half is behind the saved half offset, and the store's files are of different moments.
    HANDED_ON
        The half is behind the half offset of a slave that may act for its master (``enableSlaveActingMaster``): its
        rounds hand halves on to another master or give them up, and leave no record of either.
    """

    OFFSETS_UNREADABLE = "offsets_unreadable"
    OFFSETS_IN_ROCKSDB = "offsets_in_rocksdb"
    NOT_IN_ITS_QUEUE = "not_in_its_queue"
    HALF_OFFSET_AHEAD = "half_offset_ahead"
    OP_OFFSET_AHEAD = "op_offset_ahead"
    DAMAGED = "damaged"
    NO_OFFSETS = "no_offsets"
    PASSED_ALREADY = "passed_already"
    SKEWED = "skewed"
    HANDED_ON = "handed_on"


def why_not_surely_pending(history: History, copy: HalfCopy, at: Circumstances) -> UnknownCause | None:
    """Why a copy that the saved offsets do not hide may not be checked all the same; None if it surely is."""
    cause = at.unknown_cause_of(copy)
    is_discarded = any(copy.commit_log_offset < discard.commit_log_offset for discard in history.discards)
    if cause is None and (copy.children or is_discarded):
        cause = UnknownCause.PASSED_ALREADY if at.has_offsets else UnknownCause.NO_OFFSETS
    if cause is None and at.is_op_offset_ahead(copy.queue_id):
        cause = UnknownCause.OP_OFFSET_AHEAD
    return cause


def why_not_surely_lost(history: History, at: Circumstances) -> UnknownCause | None:
    """Why a half that nothing came of, and of which no copy seems live, may not be lost; None if it is.

    A round that puts back a half has passed every one before it, and has left an op, a copy or a discard of each that
    stands in the log by then (``TransactionalMessageServiceImpl#check``): then it is lost, however old the log is.
    """
    causes = [at.unknown_cause_of(copy) for copy in history.copies]
    for cause in causes:
        if cause is not None:
            return cause
    if at.may_hide(history.half_offset, before=None):
        return UnknownCause.DAMAGED
    if all(at.has_passed(copy) for copy in history.copies):
        return None
    if at.hands_on:
        return UnknownCause.HANDED_ON
    queue_id = history.copies[-1].queue_id
    if at.is_half_offset_ahead(queue_id):
        return UnknownCause.HALF_OFFSET_AHEAD
    return UnknownCause.SKEWED if at.is_skewed or at.is_op_offset_ahead(queue_id) else None


def why_not_surely_undelivered(history: History, at: Circumstances) -> UnknownCause | None:
    """Why a real message may have come of a half that ended in an op message or a discard; None if none surely did.

    A commit stores its real message behind the half and before the op message (EndTransactionProcessor#processRequest).
    """
    ends = [*(op.commit_log_offset for op in history.ops), *(one.commit_log_offset for one in history.discards)]
    return UnknownCause.DAMAGED if ends and at.may_hide(history.half_offset, before=max(ends)) else None


def has_used_up_checks(history: History, at: Circumstances) -> bool:
    """Whether the last copy of a half has as many checks as the broker sends."""
    return bool(history.copies) and (history.copies[-1].check_times or 0) >= at.check_max
