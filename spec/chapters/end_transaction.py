"""END_TRANSACTION on the broker: the real message is stored, then the op message is written or buffered.

Two writes, so two steps: the process may die between them. The op queue is never read here, so that a repeated or a
contradicting request is carried out again (A12, A13). RocketMQ: EndTransactionProcessor#processRequest.
"""

from __future__ import annotations

from spec.chapters.op_batch import append_op
from spec.constants import Constants
from spec.ghosts import remember_end, remember_refusal
from spec.half import (
    age,
    can_be_looked_up,
    has_immunity,
    immunity,
    is_first_half,
    is_known_as_settled,
    is_left_to_another,
    was_resumed,
)
from spec.language import Bits, action, assume, each, require, within
from spec.observation import OF_A_HALF, OP_WRITTEN, SETTLED, STORED
from spec.roles import is_master, takes_ends
from spec.state import Cause, Direct, End, Left, Quiet, RolledBack, Settled, State


def is_refused_as_late(s: State, c: Constants, h: int) -> bool:
    """A direct END_TRANSACTION of a half whose own immunity, the timeout at least, is over.

    What says that it answers a check is never late.

    RocketMQ: EndTransactionProcessor#rejectCommitOrRollback, TransactionalMessageUtil#getImmunityTime (5.1.1, #6401).
    """
    is_over = age(s, h) > immunity(s, c, h) and age(s, h) > c.timeout
    return may_be_late(s, c, h) and not s.half[h].claims_check and is_over


def may_be_late(s: State, c: Constants, h: int) -> bool:
    """The broker looks at the age of half h, unless its END_TRANSACTION says that it answers a check.

    RocketMQ: EndTransactionProcessor#rejectCommitOrRollback (5.1.1, #6401).
    """
    return c.refuses_late_end and (c.proxies > 0 or is_first_half(s, h)) and has_immunity(s, h)


def forget_end(s: State, h: int) -> None:
    """One END_TRANSACTION is over; another one that names half h may be left."""
    s.half[h].end = s.half[h].other_end
    s.half[h].other_end = End.NONE
    if s.half[h].end == End.NONE:
        s.half[h].claims_check = False


def forget_ends(s: State, h: int) -> None:
    """No END_TRANSACTION names half h any more."""
    s.half[h].end = End.NONE
    s.half[h].other_end = End.NONE
    s.half[h].claims_check = False


# --- refused ----------------------------------------------------------------------------------------------------------


def an_end_arrives(s: State, h: int) -> None:
    """What every refusal needs."""
    require(s.half[h].end == End.COMMIT or s.half[h].end == End.ROLLBACK, "an END_TRANSACTION for this half arrives")


@action(event="end_refused", place=210, shows=OF_A_HALF, h=each("half_slots"))
def refuse_late_end(s: State, c: Constants, h: int) -> None:
    """The broker answers ILLEGAL_OPERATION to a late direct END_TRANSACTION; the producer never looks (A58).

    RocketMQ: EndTransactionProcessor#rejectCommitOrRollback.
    """
    an_end_arrives(s, h)
    require(takes_ends(s, c), "the broker is the master")
    require(is_refused_as_late(s, c, h), "it is direct, and the half's immunity is over")
    remember_refusal(s, c, h, Direct.LATE)
    forget_end(s, h)


@action(event="end_refused", place=220, shows=OF_A_HALF, h=each("half_slots"))
def refuse_end_as_slave(s: State, c: Constants, h: int) -> None:
    """A slave answers SLAVE_NOT_AVAILABLE, also one that acts for the master.

    RocketMQ: EndTransactionProcessor#processRequest.
    """
    an_end_arrives(s, h)
    require(not is_master(s), "the broker is a slave")
    remember_refusal(s, c, h, Direct.REFUSED)
    forget_end(s, h)


@action(event="end_refused", place=230, shows=OF_A_HALF, h=each("half_slots"))
def refuse_unreadable(s: State, c: Constants, h: int) -> None:
    """The half cannot be read, so that there is nothing to commit or to roll back.

    RocketMQ: TransactionalMessageServiceImpl#getHalfMessageByOffset, "Find prepared transaction message failed".
    """
    an_end_arrives(s, h)
    require(takes_ends(s, c), "the broker is the master")
    require(not can_be_looked_up(s, h), "the half is not there, or cannot be decoded")
    remember_refusal(s, c, h, Direct.REFUSED)
    forget_end(s, h)


@action(event="end_refused", place=240, shows=OF_A_HALF, h=each("half_slots"))
def refuse_commit_unstored(s: State, c: Constants, h: int) -> None:
    """The real message cannot be stored; the one-way request is answered with an error, and no op message is written.

    RocketMQ: EndTransactionProcessor#sendFinalMessage.
    """
    may_be_committed(s, c, h)
    require(not c.retries_commits, "what could not be stored is not tried again")
    assume(c.put_failure, "real messages are stored")
    remember_refusal(s, c, h, Direct.REFUSED)
    forget_end(s, h)


@action(event="end_refused", place=250, shows=OF_A_HALF, h=each("half_slots"))
def ignore_repeated_end(s: State, c: Constants, h: int) -> None:
    """The transaction is known as settled or left to another broker: END_TRANSACTION changes nothing. A repair."""
    an_end_arrives(s, h)
    require(takes_ends(s, c), "the broker is the master")
    require(is_known_as_settled(s, c, s.half[h].transaction), "the broker knows the transaction as settled")
    if is_left_to_another(s, c, s.half[h].transaction):
        remember_refusal(s, c, h, Direct.REFUSED)
    forget_end(s, h)


# --- carried out ------------------------------------------------------------------------------------------------------


def may_be_ended(s: State, c: Constants, h: int) -> None:
    """What it takes to carry an END_TRANSACTION out."""
    require(takes_ends(s, c), "the broker is the master")
    require(not is_refused_as_late(s, c, h), "it is not refused as late")
    require(can_be_looked_up(s, h), "the half is there and can be decoded")
    require(not is_known_as_settled(s, c, s.half[h].transaction), "the broker does not know the transaction as settled")


def may_be_committed(s: State, c: Constants, h: int) -> None:
    """The same for a commit."""
    require(s.half[h].end == End.COMMIT, "a commit for this half arrives")
    may_be_ended(s, c, h)


@action(event="message_delivered", place=170, shows=STORED, h=each("half_slots"))
def store_real_message(s: State, c: Constants, h: int) -> None:
    """A commit arrives: the message is stored in its real topic, where consumers see it.

    RocketMQ: EndTransactionProcessor#sendFinalMessage.
    """
    may_be_committed(s, c, h)
    remember_delivery(s, c, h)
    s.half[h].end = End.COMMIT_STORED


@action(event="op_stored", place=180, shows=OP_WRITTEN, h=each("half_slots"))
def write_op(s: State, c: Constants, h: int) -> None:
    """The op message that names this half is written at once, and the END_TRANSACTION is answered SUCCESS.

    RocketMQ: TransactionalMessageServiceImpl#deletePrepareMessage up to 5.0.
    """
    answers_a_handled_end(s, c, h)
    require(not c.batches_ops, "this version writes an op message for each END_TRANSACTION")
    require(is_master(s), "the broker is the master, so that its store takes messages")
    within(s.op_length < c.op_slots, "the op queue of the instance has room")
    append_op(s, c, Bits.only(h))
    acknowledge(s, c, h)


@action(event="op_lost", place=200, shows=SETTLED, h=each("half_slots"))
def fail_to_write_op(s: State, c: Constants, h: int) -> None:
    """The op message is not stored, and the END_TRANSACTION is answered SUCCESS all the same (B04).

    RocketMQ: TransactionalMessageBridge#putOpMessage is ignored by #addRemoveTagInTransactionOp up to 5.0.
    """
    answers_a_handled_end(s, c, h)
    require(not c.batches_ops, "this version writes an op message for each END_TRANSACTION")
    require(not c.keeps_failed_ops, "what was not written is not tried again")
    assume(c.op_write_failure or not is_master(s), "op messages are stored")
    s.half[h].op_write_failed = True
    acknowledge(s, c, h)


@action(event="op_buffered", place=190, shows=SETTLED, h=each("half_slots"))
def buffer_op(s: State, c: Constants, h: int) -> None:
    """The half's offset joins the op batch in memory, and the END_TRANSACTION is answered SUCCESS (B02).

    RocketMQ: TransactionalMessageServiceImpl#deletePrepareMessage from 5.1.0 on.
    """
    answers_a_handled_end(s, c, h)
    require(c.batches_ops, "this version writes op messages in batches")
    if s.batch.names.is_empty() and not s.batch.others:
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
    require(
        s.half[h].end == End.COMMIT_STORED or may_be_rolled_back(s, c, h),
        "a rollback is not refused",
    )


def may_be_rolled_back(s: State, c: Constants, h: int) -> bool:
    """Nothing stands against a rollback of half h: what a commit asks of it one rule a line."""
    return (
        takes_ends(s, c)
        and not is_refused_as_late(s, c, h)
        and can_be_looked_up(s, h)
        and not is_known_as_settled(s, c, s.half[h].transaction)
    )


def remember_delivery(s: State, c: Constants, h: int) -> None:
    """Count the delivery, and note what makes it a second one."""
    t = s.half[h].transaction
    if s.half[h].end != End.COMMIT:
        s.transaction[t].shown_unasked = True
    if s.half[h].settled == Settled.COMMITTED:
        s.transaction[t].delivered_twice_for_one = True
    else:
        remember_end(s, c, h)
        if s.transaction[t].deliveries == 1 and s.transaction[t].cause == Cause.NONE:
            if was_resumed(s, c, t):
                s.transaction[t].cause = Cause.RESUMED_HALF
            elif s.half[h].settled == Settled.ROLLED_BACK:  # committed, rolled back, and committed once more
                s.transaction[t].delivered_twice_for_one = True
    if s.transaction[t].deliveries == 0 and s.transaction[t].parked:
        s.transaction[t].committed_aside = True
    if s.transaction[t].deliveries < 2:
        s.transaction[t].deliveries += 1
    s.half[h].settled = Settled.COMMITTED


def acknowledge(s: State, c: Constants, h: int) -> None:
    """SUCCESS was answered to an END_TRANSACTION that named half h."""
    t = s.half[h].transaction
    if s.half[h].end == End.ROLLBACK:
        remember_end(s, c, h)
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
    return s.transaction[t].checked_before or any(
        s.half[h].transaction == t and s.half[h].left == Left.FOR_CHECK for h in range(c.half_slots)
    )
