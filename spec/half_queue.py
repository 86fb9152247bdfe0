"""Writing to the half queue: a first half, or a put-back copy of an earlier one."""

from __future__ import annotations

from spec.constants import Constants
from spec.language import NONE, within
from spec.state import Cause, End, Kind, Left, Pull, Quiet, RolledBack, Settled, State


def age(s: State, h: int) -> int:
    """How old the message is: born when its producer sent it, not when a copy was stored."""
    return s.now - s.half[h].born_at


def own_immunity(s: State, h: int) -> int:
    """CHECK_IMMUNITY_TIME_IN_SECONDS of the message, or NONE."""
    return s.transaction[s.half[h].transaction].immunity


def immunity(s: State, c: Constants, h: int) -> int:
    """checkImmunityTime: the message's own, or else the timeout.

    RocketMQ: TransactionalMessageServiceImpl#check and #getImmunityTime. END_TRANSACTION never takes it for shorter
    than the timeout (TransactionalMessageUtil#getImmunityTime), the check service does (B25).
    """
    own = own_immunity(s, h)
    return c.timeout if own == NONE or (c.one_immunity and own < c.timeout) else own


def has_immunity(s: State, h: int) -> bool:
    """The message carries CHECK_IMMUNITY_TIME_IN_SECONDS."""
    return own_immunity(s, h) != NONE


def is_first_half(s: State, h: int) -> bool:
    """The half that the producer's send stored, not a put-back copy."""
    return s.transaction[s.half[h].transaction].first_half == h


def can_be_copied(s: State, h: int) -> bool:
    """A copy of the half, which is longer than the half itself, can be stored (B07)."""
    return s.transaction[s.half[h].transaction].kind != Kind.POISON


def can_be_decoded(s: State, h: int) -> bool:
    """The half is a message that can be read."""
    return s.transaction[s.half[h].transaction].kind != Kind.UNDECODABLE


def is_known_as_settled(s: State, c: Constants, t: int) -> bool:
    """The index of settled transactions has it, where there is one (a repair). Resuming a half opens it again."""
    is_put_aside = s.transaction[t].parked and not was_resumed(s, c, t)
    return c.settles_once and (
        s.transaction[t].deliveries > 0 or s.transaction[t].rolled_back != RolledBack.NO or is_put_aside
    )


def was_resumed(s: State, c: Constants, t: int) -> bool:
    """A discarded half of the transaction was put back by an operator."""
    return any(s.half[h].transaction == t and s.half[h].left == Left.RESUMED for h in range(c.half_slots))


def room_for_a_half(s: State, c: Constants) -> None:
    """The instance ends where its half queue is full."""
    within(s.half_length < c.half_slots, "the half queue of the instance has room")


def append_half(s: State, transaction: int, born_at: int) -> None:
    """RocketMQ: TransactionalMessageBridge#putHalfMessage, #putMessageReturnResult."""
    s.half[s.half_length].transaction = transaction
    s.half[s.half_length].born_at = born_at
    s.half[s.half_length].stored_at = s.now
    s.half_length += 1


def append_copy(s: State, c: Constants, h: int, checks: int) -> None:
    """A copy of half h at the end of the queue: the first birth, the properties that h carries, and `checks` more.

    RocketMQ: TransactionalMessageBridge#renewHalfMessageInner; TransactionalMessageServiceImpl#needDiscard has
    counted the check up before.
    """
    s.half[s.half_length].check_times = s.half[h].check_times + checks
    s.half[s.half_length].original = s.half[h].original
    s.half[s.half_length].burnt = s.half[h].burnt
    append_half(s, s.half[h].transaction, s.now if c.ages_from_storing else s.half[h].born_at)


# --- ghosts: why a settled transaction goes on ------------------------------------------------------------------------


def remember_put_back(s: State, c: Constants, h: int, why: Left) -> None:
    """Note that half h now has a copy, and what that copy may lead to."""
    t = s.half[h].transaction
    if s.transaction[t].cause == Cause.NONE:
        if s.half[h].left == Left.ESCAPED:
            s.transaction[t].cause = Cause.ESCAPED_AND_KEPT
        elif has_another_copy(s, h):
            s.transaction[t].cause = Cause.FORKED_COPY
        elif s.half[h].settled != Settled.NO:
            s.transaction[t].cause = why_its_op_was_not_seen(s, c, h)
        elif why == Left.FOR_CHECK and s.transaction[t].quiet == Quiet.ENDED and was_resumed(s, c, t):
            s.transaction[t].cause = Cause.RESUMED_HALF
    if why == Left.FOR_CHECK and s.transaction[t].quiet == Quiet.ENDED:
        s.transaction[t].quiet = Quiet.CHECKED
    if s.half[h].left != Left.ESCAPED:
        s.half[h].left = why


def has_another_copy(s: State, h: int) -> bool:
    """Half h was put back or put aside before."""
    return (
        s.half[h].left == Left.FOR_CHECK
        or s.half[h].left == Left.FOR_IMMUNITY
        or s.half[h].left == Left.KEPT_ASIDE
        or s.half[h].left == Left.SETTLED_ASIDE
        or s.half[h].left == Left.RESUMED
    )


def why_its_op_was_not_seen(s: State, c: Constants, h: int) -> Cause:
    """A settled half is put back as the round knows no op message for it: unwritten, unread, passed over, or lost."""
    if s.batch.names.has(h):
        overslept = s.now - s.batch.waiting_since > c.op_batch_interval
        return Cause.OVERSLEPT_OP if overslept else Cause.LATE_OP
    if s.half[h].end != End.NONE:
        return Cause.LATE_OP
    return why_its_op_message_was_not_seen(s, c, h)


def why_its_op_message_was_not_seen(s: State, c: Constants, h: int) -> Cause:
    """The same, where no op entry of the half is still to be written."""
    if is_named_unreadably(s, c, h):
        return Cause.UNREADABLE_OP
    if names_it_from(s, c, h, s.round.next_op):
        return Cause.STALE_OP_END if s.round.last_pull == Pull.END else Cause.UNREAD_OP
    if names_it_from(s, c, h, 0):
        return Cause.PASSED_OP
    return Cause.LOST_OP


def names_it_from(s: State, c: Constants, h: int, first: int) -> bool:
    """Some op message at offset `first` or later names half h."""
    return any(o >= first and s.op[o].names.has(h) for o in range(c.op_slots))


def is_named_unreadably(s: State, c: Constants, h: int) -> bool:
    """Some op message that cannot be decoded names half h."""
    return any(s.op[o].undecodable and s.op[o].names.has(h) for o in range(c.op_slots))


def its_copy_is_there(s: State, c: Constants, h: int) -> bool:
    """A later half is a copy of half h, or of one that stands for it."""
    return any(
        k > h and k < s.half_length and s.half[k].transaction == s.half[h].transaction for k in range(c.half_slots)
    )
