"""Writing to the half queue: a first half, or a put-back copy of an earlier one."""

from __future__ import annotations

from spec.constants import Constants
from spec.language import NONE, within
from spec.state import Cause, End, Left, Quiet, Settled, State


def age(s: State, h: int) -> int:
    """How old the message is: born when its producer sent it, not when a copy was stored."""
    return s.now - s.half[h].born_at


def immunity(s: State, c: Constants, h: int) -> int:
    """checkImmunityTime: the message's own, or else the timeout.

    RocketMQ: TransactionalMessageServiceImpl#check and #getImmunityTime.
    """
    own = s.transaction[s.half[h].transaction].immunity
    return c.timeout if own == NONE else own


def has_immunity(s: State, h: int) -> bool:
    """The message carries CHECK_IMMUNITY_TIME_IN_SECONDS."""
    return s.transaction[s.half[h].transaction].immunity != NONE


def is_first_half(s: State, h: int) -> bool:
    """The half that the producer's send stored, not a put-back copy."""
    return s.transaction[s.half[h].transaction].first_half == h


def room_for_a_half(s: State, c: Constants) -> None:
    """The instance ends where its half queue is full."""
    within(s.half_length < c.half_slots, "the half queue of the instance has room")


def append_half(s: State, transaction: int, born_at: int) -> None:
    """RocketMQ: TransactionalMessageBridge#putHalfMessage, #putMessageReturnResult."""
    s.half[s.half_length].transaction = transaction
    s.half[s.half_length].born_at = born_at
    s.half[s.half_length].stored_at = s.now
    s.half_length += 1


def append_copy(s: State, h: int) -> None:
    """A copy of half h at the end of the queue: one check more, the first birth, and the properties that h carries.

    RocketMQ: TransactionalMessageBridge#renewHalfMessageInner; #needDiscard has counted the check up before.
    """
    s.half[s.half_length].check_times = s.half[h].check_times + 1
    s.half[s.half_length].original = s.half[h].original
    s.half[s.half_length].checks_sent = s.half[h].checks_sent
    append_half(s, s.half[h].transaction, s.half[h].born_at)


# --- ghosts: why a settled transaction goes on ------------------------------------------------------------------------


def remember_put_back(s: State, c: Constants, h: int, why: Left) -> None:
    """Note that half h now has a copy, and what that copy may lead to."""
    t = s.half[h].transaction
    if s.transaction[t].cause == Cause.NONE:
        if s.half[h].left != Left.NO:
            s.transaction[t].cause = Cause.FORKED_COPY
        elif s.half[h].settled != Settled.NO:
            s.transaction[t].cause = why_its_op_was_not_seen(s, c, h)
    if why == Left.FOR_CHECK and s.transaction[t].quiet == Quiet.ENDED:
        s.transaction[t].quiet = Quiet.CHECKED
    s.half[h].left = why


def why_its_op_was_not_seen(s: State, c: Constants, h: int) -> Cause:
    """A settled half is put back as the round knows no op message for it: not written yet, passed over, or lost."""
    if s.batch.names.has(h) or s.half[h].end != End.NONE or names_it_from(s, c, h, s.round.next_op):
        return Cause.LATE_OP
    if names_it_from(s, c, h, 0):
        return Cause.PASSED_OP
    return Cause.LOST_OP


def names_it_from(s: State, c: Constants, h: int, first: int) -> bool:
    """Some op message at offset `first` or later names half h."""
    return any(o >= first and s.op[o].names.has(h) for o in range(c.op_slots))
