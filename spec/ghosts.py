"""What only properties read: why a settled transaction goes on, what is left of a half, why a round was stuck.

At the end: what became of a transaction, as far as anybody can know.
"""

from __future__ import annotations

from spec.constants import Constants
from spec.half import (
    age,
    can_be_copied,
    can_be_decoded,
    has_immunity,
    has_no_checks_left,
    is_first_half,
    is_over_age,
    was_resumed,
)
from spec.half_queue import half_offset
from spec.op_pull import is_settled_by_an_op, names_it_from, op_offset_after_round
from spec.state import Budget, Burnt, Cause, Direct, End, Left, Local, Pull, Quiet, RolledBack, Settled, State, Stuck


def remember_refusal(s: State, c: Constants, h: int, why: Direct) -> None:
    """Note that a commit which the producer sent of its own accord is not carried out."""
    t = s.half[h].transaction
    if (
        s.half[h].end == End.COMMIT
        and names_a_half_unasked(s, c, h)
        and s.transaction[t].local == Local.COMMIT
        and s.transaction[t].deliveries == 0
    ):
        s.transaction[t].direct = why


def names_a_half_unasked(s: State, c: Constants, h: int) -> bool:
    """The END_TRANSACTION for half h answers no check: the first half is meant, or the one that a proxy knows."""
    return (c.proxies == 0 and is_first_half(s, h)) or (c.proxies > 0 and not s.half[h].claims_check)


def remember_end(s: State, c: Constants, h: int) -> None:
    """Note what the copies of a half lead to, when an END_TRANSACTION names the half itself."""
    t = s.half[h].transaction
    if s.transaction[t].cause == Cause.NONE:
        if s.half[h].left == Left.FOR_CHECK:
            is_in_time = has_immunity(s, h) and age(s, h) <= c.timeout
            s.transaction[t].cause = Cause.SHORT_IMMUNITY if is_in_time else Cause.AFTER_A_CHECK
        elif s.half[h].left == Left.FOR_IMMUNITY:
            s.transaction[t].cause = Cause.IMMUNE_HALF
        elif s.half[h].left == Left.ESCAPED:
            s.transaction[t].cause = Cause.ENDED_AFTER_ESCAPE


def remember_put_back(s: State, c: Constants, h: int, why: Left) -> None:
    """Note that half h now has a copy, and what that copy may lead to."""
    t = s.half[h].transaction
    if s.transaction[t].cause == Cause.NONE:
        if s.half[h].left == Left.ESCAPED:
            s.transaction[t].cause = Cause.ESCAPED_AND_KEPT
        elif is_read_for_another(s, h) and (has_another_copy(s, h) or is_settled_by_an_op(s, h)):
            s.transaction[t].cause = Cause.READ_FOR_ANOTHER
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


def is_read_for_another(s: State, h: int) -> bool:
    """The round has asked for an earlier half, which retention has deleted, and removeMap was asked for that one."""
    return s.round.running and s.round.cursor < h


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


def is_named_unreadably(s: State, c: Constants, h: int) -> bool:
    """Some op message that cannot be decoded names half h."""
    return any(s.op[o].undecodable and s.op[o].names.has(h) for o in range(c.op_slots))


def remember_burnt_check(s: State, why: Burnt) -> None:
    """Ghost: the copy that was stored last counts a check that was not sent."""
    if s.half[s.half_length - 1].burnt == Burnt.NO:
        s.half[s.half_length - 1].burnt = why


def remember_settled_elsewhere(s: State, h: int) -> None:
    """Ghost: half h is passed for the sake of another half."""
    if s.half[h].left == Left.NO or s.half[h].left == Left.COPY_LOST:
        s.half[h].left = Left.SETTLED_ELSEWHERE


def remember_discard(s: State, c: Constants, h: int, how: Left) -> None:
    """Ghost: note what is left of the half, and whether it had all its checks."""
    t = s.half[h].transaction
    if s.transaction[t].cause == Cause.NONE:
        if s.half[h].left == Left.ESCAPED:
            s.transaction[t].cause = Cause.ENDED_AFTER_ESCAPE
        elif is_read_for_another(s, h) and has_another_copy(s, h):
            s.transaction[t].cause = Cause.READ_FOR_ANOTHER
        elif has_another_copy(s, h):
            s.transaction[t].cause = Cause.FORKED_COPY
    s.half[h].left = Left.SETTLED_ASIDE if s.half[h].acknowledged and how == Left.KEPT_ASIDE else how
    if s.transaction[t].discarded == Budget.NO or s.transaction[t].discarded == Budget.SPENT:
        if not has_no_checks_left(s, c, h):
            can_be_kept = can_be_copied(s, h) and can_be_decoded(s, h)
            if is_over_age(s, c, h) and (can_be_kept or not c.asks_the_old):
                has_just_come = is_first_half(s, h) and s.half[h].stored_at == s.now
                s.transaction[t].discarded = Budget.OLD_ON_ARRIVAL if has_just_come else Budget.OVER_AGE
        elif s.half[h].burnt == Burnt.IMMUNITY:
            s.transaction[t].discarded = Budget.BURNT_BY_IMMUNITY
        elif s.half[h].burnt == Burnt.NOBODY_TO_ASK:
            s.transaction[t].discarded = Budget.NOBODY_TO_ASK
        elif s.half[h].burnt == Burnt.PRESET:
            s.transaction[t].discarded = Budget.PRESET
        else:
            s.transaction[t].discarded = Budget.SPENT


def remember_skipped(s: State, c: Constants) -> None:
    """Note that a round which failed leaves behind what it has jumped over."""
    for h in range(c.half_slots):
        if h >= s.offsets.half and h < s.round.cursor and s.half[h].left == Left.PASSED_OVER:
            s.half[h].left = Left.SKIPPED_BY_EXCEPTION


def remember_end_of_round(s: State, why: Stuck) -> None:
    """Note whether the round was stuck: it ended where it had begun, for a reason that is not RocketMQ's intention."""
    if s.round.cursor == half_offset(s):
        remember_stuck(s, why)
    else:
        remember_stuck(s, Stuck.NO)


def remember_stuck(s: State, why: Stuck) -> None:
    """Count rounds on end that were stuck for the same reason."""
    if why == Stuck.NO:
        s.stuck_rounds = 0
    elif s.stuck != why:
        s.stuck_rounds = 1
    elif s.stuck_rounds < 2:
        s.stuck_rounds += 1
    s.stuck = why


def remember_ops_left_behind(s: State, c: Constants) -> None:
    """Note whether a round that read all op messages and passed all halves leaves an op message for the next one."""
    has_met_all = s.round.cursor == s.half_length and s.round.next_op == s.op_length
    s.op_left_behind = has_met_all and op_offset_after_round(s, c) < s.op_length


# --- outcomes ---------------------------------------------------------------------------------------------------------


def is_settled(s: State, t: int) -> bool:
    """It was delivered, rolled back, put aside or sent to another broker."""
    return (
        s.transaction[t].deliveries > 0
        or s.transaction[t].rolled_back != RolledBack.NO
        or s.transaction[t].parked
        or s.transaction[t].escaped > 0
    )


def has_an_outcome(s: State, t: int) -> bool:
    """It is settled, and a rollback of what its producer has committed does not count."""
    return (
        s.transaction[t].deliveries > 0
        or s.transaction[t].parked
        or s.transaction[t].escaped > 0
        or (s.transaction[t].rolled_back != RolledBack.NO and s.transaction[t].local != Local.COMMIT)
    )
