"""END_TRANSACTION on the broker: the real message is stored, then the op message is written or buffered.

Two writes, so two steps: the process may die between them. The op queue is never read here, so that a repeated or a
contradicting request is carried out again (A12, A13). RocketMQ: EndTransactionProcessor#processRequest.
"""

from __future__ import annotations

from spec.constants import Constants
from spec.half_queue import age, has_immunity, immunity, is_first_half
from spec.language import Bits, action, each, require, within
from spec.state import Cause, End, Left, Quiet, RolledBack, Settled, State


def is_refused_as_late(s: State, c: Constants, h: int) -> bool:
    """A direct END_TRANSACTION of a half whose own immunity, the timeout at least, is over.

    What says that it answers a check is never late.

    RocketMQ: EndTransactionProcessor#rejectCommitOrRollback, TransactionalMessageUtil#getImmunityTime (5.1.1, #6401).
    """
    is_over = age(s, h) > immunity(s, c, h) and age(s, h) > c.timeout
    is_direct = is_first_half(s, h) and not s.half[h].claims_check
    return c.refuses_late_end and is_direct and has_immunity(s, h) and is_over


def forget_end(s: State, h: int) -> None:
    """No END_TRANSACTION names half h any more."""
    s.half[h].end = End.NONE
    s.half[h].claims_check = False


@action(event="end_refused", h=each("half_slots"))
def refuse_late_end(s: State, c: Constants, h: int) -> None:
    """The broker answers ILLEGAL_OPERATION to a late direct END_TRANSACTION; the producer never looks (A58).

    RocketMQ: EndTransactionProcessor#rejectCommitOrRollback.
    """
    require(s.half[h].end == End.COMMIT or s.half[h].end == End.ROLLBACK, "an END_TRANSACTION for this half arrives")
    require(is_refused_as_late(s, c, h), "it is direct, and the half's immunity is over")
    forget_end(s, h)


@action(event="message_delivered", h=each("half_slots"))
def store_real_message(s: State, c: Constants, h: int) -> None:
    """A commit arrives: the message is stored in its real topic, where consumers see it.

    RocketMQ: EndTransactionProcessor#sendFinalMessage.
    """
    require(s.half[h].end == End.COMMIT, "a commit for this half arrives")
    require(not is_refused_as_late(s, c, h), "it is not refused as late")
    s.half[h].end = End.COMMIT_STORED
    remember_delivery(s, h)


@action(event="op_stored", h=each("half_slots"))
def write_op(s: State, c: Constants, h: int) -> None:
    """The op message that names this half is written at once, and the END_TRANSACTION is answered SUCCESS.

    RocketMQ: TransactionalMessageServiceImpl#deletePrepareMessage up to 5.0.
    """
    answers_a_handled_end(s, c, h)
    require(not c.batches_ops, "this version writes an op message for each END_TRANSACTION")
    within(s.op_length < c.op_slots, "the op queue of the instance has room")
    s.op[s.op_length].names = Bits.only(h)
    s.op[s.op_length].born_at = s.now
    s.op_length += 1
    acknowledge(s, c, h)


@action(event="op_buffered", h=each("half_slots"))
def buffer_op(s: State, c: Constants, h: int) -> None:
    """The half's offset joins the op batch in memory, and the END_TRANSACTION is answered SUCCESS (B02).

    RocketMQ: TransactionalMessageServiceImpl#deletePrepareMessage from 5.1.0 on.
    """
    answers_a_handled_end(s, c, h)
    require(c.batches_ops, "this version writes op messages in batches")
    if s.batch.names.is_empty():
        s.batch.waiting_since = s.now
    if not s.batch.is_open:
        s.batch.is_open = True
        s.batch.written_at = s.now
    s.batch.names.add(h)
    acknowledge(s, c, h)


def answers_a_handled_end(s: State, c: Constants, h: int) -> None:
    """What writing and buffering an op need: there is an END_TRANSACTION to answer, and it is not refused."""
    require(
        s.half[h].end == End.COMMIT_STORED or s.half[h].end == End.ROLLBACK,
        "the real message of a commit is stored, or a rollback arrives",
    )
    require(s.half[h].end == End.COMMIT_STORED or not is_refused_as_late(s, c, h), "it is not refused as late")


# --- ghosts: what the properties speak of -----------------------------------------------------------------------------


def remember_end(s: State, h: int) -> None:
    """Note what the copies of a half lead to, when an END_TRANSACTION names the half itself."""
    t = s.half[h].transaction
    if s.transaction[t].cause == Cause.NONE:
        if s.half[h].left == Left.FOR_CHECK:
            s.transaction[t].cause = Cause.AFTER_A_CHECK
        elif s.half[h].left == Left.FOR_IMMUNITY:
            s.transaction[t].cause = Cause.IMMUNE_HALF


def remember_delivery(s: State, h: int) -> None:
    """Count the delivery, and note what makes it a second one."""
    t = s.half[h].transaction
    if s.transaction[t].deliveries == 1 and s.half[h].settled == Settled.COMMITTED:
        s.transaction[t].cause = Cause.DOUBLED_REQUEST
    if s.transaction[t].deliveries < 2:
        remember_end(s, h)
        s.transaction[t].deliveries += 1
    s.half[h].settled = Settled.COMMITTED


def acknowledge(s: State, c: Constants, h: int) -> None:
    """SUCCESS was answered to an END_TRANSACTION that named half h."""
    t = s.half[h].transaction
    if s.half[h].end == End.ROLLBACK:
        remember_end(s, h)
        s.half[h].settled = Settled.ROLLED_BACK
        if s.transaction[t].rolled_back == RolledBack.NO:
            s.transaction[t].rolled_back = (
                RolledBack.UNDELIVERED if s.transaction[t].deliveries == 0 else RolledBack.DELIVERED
            )
    if s.transaction[t].quiet == Quiet.NO and is_early_enough(s, c, h) and not was_checked(s, c, t):
        s.transaction[t].quiet = Quiet.ENDED
    s.half[h].acknowledged = True
    forget_end(s, h)


def is_early_enough(s: State, c: Constants, h: int) -> bool:
    """The half is at most as old as the timeout or its immunity, whichever is longer."""
    return age(s, h) <= c.timeout or age(s, h) <= immunity(s, c, h)


def was_checked(s: State, c: Constants, t: int) -> bool:
    """A check was sent for the transaction."""
    return any(s.half[h].transaction == t and s.half[h].left == Left.FOR_CHECK for h in range(c.half_slots))
