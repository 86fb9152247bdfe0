"""One round of the check service, a step of its loop an action.

For the half at the cursor, in this order: settled by an op that was pulled · no half there · discard · stored in this
round · immune or young · check · otherwise pull more op messages and look again. RocketMQ:
TransactionalMessageServiceImpl#check.
"""

from __future__ import annotations

from spec.constants import Constants
from spec.half_queue import age, append_copy, has_immunity, immunity, remember_put_back, room_for_a_half
from spec.language import LONG_AGO, NONE, action, assume, require
from spec.op_pull import (
    forget_ops,
    is_settled_by_an_op,
    last_op_pulled_came_late,
    mark_done,
    op_offset_after_round,
    pull_op_messages,
    settle_by_op,
)
from spec.state import Budget, End, Left, Local, State

# --- predicates -------------------------------------------------------------------------------------------------------


def is_within_limit(s: State, c: Constants) -> bool:
    """The round has not yet lasted longer than MAX_PROCESS_TIME_LIMIT."""
    return s.now - s.round.started_at <= c.round_limit


def is_fresh(s: State, h: int) -> bool:
    """The message was stored in this round."""
    return s.half[h].stored_at >= s.round.started_at


def is_young(s: State, c: Constants, h: int) -> bool:
    """Its timeout or immunity is not over. At exactly that age, versions differ (A19)."""
    return age(s, h) < immunity(s, c, h) or (c.equal_age_is_young and age(s, h) == immunity(s, c, h))


def is_immune(s: State, c: Constants, h: int) -> bool:
    """It has an immunity of its own, which is not over."""
    return has_immunity(s, h) and is_young(s, c, h)


def original_is_settled(s: State, h: int) -> bool:
    """removeMap has the offset that an immunity put-back wrote down (TRAN_PREPARED_QUEUE_OFFSET)."""
    return s.half[h].original != NONE and s.round.removed_by[s.half[h].original] != NONE


def may_check(s: State, c: Constants, h: int) -> bool:
    """isNeedCheck: all op messages are read and the half is old, or they run late, or the clocks disagree."""
    no_more_ops = s.round.op_end_seen and age(s, h) > immunity(s, c, h)
    ops_run_late = not s.round.op_end_seen and last_op_pulled_came_late(s, c)
    clock_ahead = age(s, h) <= -1
    return no_more_ops or ops_run_late or clock_ahead


def awaits_its_producer(s: State, c: Constants, t: int) -> bool:
    """A check request or an END_TRANSACTION of the transaction is under way, or is being handled."""
    return any(
        s.half[h].transaction == t and (s.half[h].check_in_flight or s.half[h].end != End.NONE)
        for h in range(c.half_slots)
    )


# --- shared guards ----------------------------------------------------------------------------------------------------


def stands_on_a_half(s: State, c: Constants) -> None:
    """What every step of the loop needs: a round in its time, and a half to look at."""
    require(s.round.running, "a round runs")
    require(is_within_limit(s, c), "the round is within its time limit")
    require(s.round.cursor < s.half_length, "the cursor stands on a half")


def stands_on_an_unsettled_half(s: State, c: Constants) -> None:
    """The same, and neither an op message nor the number of checks has the last word on the half."""
    stands_on_a_half(s, c)
    require(not is_settled_by_an_op(s, s.round.cursor), "no op message that was pulled names it")
    require(s.half[s.round.cursor].check_times < c.check_max, "it has checks left")


def stands_on_an_earlier_half(s: State, c: Constants) -> None:
    """The same, and the half was there before the round."""
    stands_on_an_unsettled_half(s, c)
    require(not is_fresh(s, s.round.cursor), "it was stored before this round")


def stands_on_an_old_half(s: State, c: Constants) -> None:
    """The same, and its time for a check has come."""
    stands_on_an_earlier_half(s, c)
    require(not is_young(s, c, s.round.cursor), "its timeout or immunity is over")
    require(
        not c.heeds_settled_originals or not original_is_settled(s, s.round.cursor),
        "no op message that was pulled names its original",
    )


# --- actions ----------------------------------------------------------------------------------------------------------


@action(event="round_began")
def begin_round(s: State, c: Constants) -> None:
    """The check service wakes up, reads both offsets and pulls the first op messages.

    RocketMQ: TransactionalMessageCheckService#onWaitEnd → TransactionalMessageServiceImpl#check.
    """
    require(not s.round.running, "no round runs")
    require(s.now - s.round_ended_at >= c.check_interval, "the check interval is over since the last round")
    s.round.running = True
    s.round.started_at = s.now
    s.round.cursor = s.offsets.half
    s.round.first_op = s.offsets.op
    s.round.next_op = s.offsets.op
    pull_op_messages(s, c)


@action(event="half_passed")
def pass_settled_half(s: State, c: Constants) -> None:
    """An op message names the half at the cursor: it is settled.

    RocketMQ: TransactionalMessageServiceImpl#check, the `removeMap` branch. 4.5.1 forgets to mark the op as done (A03).
    """
    stands_on_a_half(s, c)
    require(is_settled_by_an_op(s, s.round.cursor), "an op message that was pulled names it")
    settle_by_op(s, c, s.round.cursor)
    s.round.cursor += 1


@action(event="half_discarded")
def discard_half(s: State, c: Constants) -> None:
    """A half without checks left is moved away, before the rest of the op messages is read (A10).

    RocketMQ: TransactionalMessageServiceImpl#needDiscard, DefaultTransactionalMessageCheckListener#resolveDiscardMsg.
    Up to 4.5.1 only a log line remains of it (A31).
    """
    stands_on_a_half(s, c)
    require(not is_settled_by_an_op(s, s.round.cursor), "no op message that was pulled names it")
    require(s.half[s.round.cursor].check_times >= c.check_max, "it has no checks left")
    if c.keeps_discarded:
        s.transaction[s.half[s.round.cursor].transaction].parked = True
    remember_discard(s, c, s.round.cursor)
    s.round.cursor += 1


@action(event="half_passed")
def pass_half_of_settled_original(s: State, c: Constants) -> None:
    """An immune copy is passed because an op message names its original; that op counts as done as a whole (A15).

    The repair of B01 asks about every copy that knows its original, and marks the op as done with its last half.

    RocketMQ: TransactionalMessageServiceImpl#checkPrepareQueueOffset.
    """
    stands_on_an_earlier_half(s, c)
    require(c.heeds_settled_originals or is_immune(s, c, s.round.cursor), "its immunity is not over")
    require(original_is_settled(s, s.round.cursor), "an op message that was pulled names its original")
    if c.heeds_settled_originals:
        settle_by_op(s, c, s.half[s.round.cursor].original)
    else:
        mark_done(s, s.round.removed_by[s.half[s.round.cursor].original])
        s.round.removed_by[s.half[s.round.cursor].original] = NONE
    s.round.cursor += 1


@action(event="put_back_for_immunity")
def put_back_immune_half(s: State, c: Constants) -> None:
    """An immune half goes to the end of the queue as a copy that knows its original; that costs it a check (A09).

    RocketMQ: TransactionalMessageServiceImpl#putImmunityMsgBackToHalfQueue, TransactionalMessageBridge
    #renewImmunityHalfMessageInner.
    """
    stands_on_an_earlier_half(s, c)
    require(is_immune(s, c, s.round.cursor), "its immunity is not over")
    require(not original_is_settled(s, s.round.cursor), "no op message that was pulled names its original")
    room_for_a_half(s, c)
    remember_put_back(s, c, s.round.cursor, Left.FOR_IMMUNITY)
    append_copy(s, s.round.cursor)
    if s.half[s.round.cursor].original == NONE:
        s.half[s.half_length - 1].original = s.round.cursor
    s.round.cursor += 1


@action(event="put_back_for_check")
def put_back_and_check(s: State, c: Constants) -> None:
    """An old unsettled half goes to the end of the queue as a copy; then its producer is asked about the copy.

    RocketMQ: TransactionalMessageServiceImpl#putBackHalfMsgQueue, then AbstractTransactionalMessageCheckListener
    #resolveHalfMsg. The copy is stored before the check is sent and has no link to the half that the producer knows
    (A11).
    """
    stands_on_an_old_half(s, c)
    require(may_check(s, c, s.round.cursor), "no more op messages are to be expected for it")
    assume(
        c.slow_local or s.transaction[s.half[s.round.cursor].transaction].local != Local.EXECUTING,
        "a local transaction is over before its first check",
    )
    assume(
        c.late_end or not awaits_its_producer(s, c, s.half[s.round.cursor].transaction),
        "nothing is under way for a transaction when it is checked",
    )
    room_for_a_half(s, c)
    remember_put_back(s, c, s.round.cursor, Left.FOR_CHECK)
    append_copy(s, s.round.cursor)
    s.half[s.half_length - 1].checks_sent = s.half[s.round.cursor].checks_sent + 1
    s.half[s.half_length - 1].check_in_flight = True
    s.round.cursor += 1


@action(event="ops_pulled")
def pull_more_ops(s: State, c: Constants) -> None:
    """It is too early to check the half at the cursor: more op messages are read, and the same half is looked at again.

    RocketMQ: TransactionalMessageServiceImpl#check → #fillOpRemoveMap. 5.x sleeps a second when there was none.
    """
    stands_on_an_old_half(s, c)
    require(not may_check(s, c, s.round.cursor), "more op messages may be expected for it")
    pull_op_messages(s, c)


@action(event="round_ended")
def end_round_at_queue_end(s: State, c: Constants) -> None:
    """No half is left to look at.

    RocketMQ: TransactionalMessageServiceImpl#check, NO_NEW_MSG.
    """
    require(s.round.running, "a round runs")
    require(is_within_limit(s, c), "the round is within its time limit")
    require(s.round.cursor >= s.half_length, "the cursor stands at the end of the half queue")
    end_round(s, c)


@action(event="round_ended")
def end_round_at_fresh_half(s: State, c: Constants) -> None:
    """The half at the cursor was stored in this round.

    RocketMQ: TransactionalMessageServiceImpl#check, "Fresh stored".
    """
    stands_on_an_unsettled_half(s, c)
    require(is_fresh(s, s.round.cursor), "it was stored in this round")
    end_round(s, c)


@action(event="round_ended")
def end_round_before_dispatch(s: State, c: Constants) -> None:
    """The half at the cursor was stored in this round and is not in the consume queue yet; else it would be discarded.

    RocketMQ: DefaultMessageStore.ReputMessageService dispatches what the commit log holds, a moment later;
    TransactionalMessageServiceImpl#check then finds no message. Real 5.4.0 brokers discard in the next round for it,
    others in the same one.
    """
    stands_on_a_half(s, c)
    require(not is_settled_by_an_op(s, s.round.cursor), "no op message that was pulled names it")
    require(s.half[s.round.cursor].check_times >= c.check_max, "it has no checks left")
    require(is_fresh(s, s.round.cursor), "it was stored in this round")
    assume(c.slow_dispatch, "what is stored is in its consume queue at once")
    end_round(s, c)


@action(event="round_ended")
def end_round_at_young_half(s: State, c: Constants) -> None:
    """The half at the cursor has no immunity of its own and is younger than the timeout: those behind it wait, too.

    RocketMQ: TransactionalMessageServiceImpl#check, "New arrived".
    """
    stands_on_an_earlier_half(s, c)
    require(not has_immunity(s, s.round.cursor), "it has no immunity of its own")
    require(age(s, s.round.cursor) >= 0, "it was not born in the future")
    require(is_young(s, c, s.round.cursor), "its timeout is not over")
    end_round(s, c)


@action(event="round_ended")
def end_round_at_time_limit(s: State, c: Constants) -> None:
    """The round has lasted too long; the next one goes on from here.

    RocketMQ: TransactionalMessageServiceImpl#check, MAX_PROCESS_TIME_LIMIT.
    """
    require(s.round.running, "a round runs")
    require(not is_within_limit(s, c), "the round is over its time limit")
    end_round(s, c)


def end_round(s: State, c: Constants) -> None:
    """Both offsets are committed, in memory: the half offset to the cursor, the op offset past what is done.

    The op offset is left alone when the round moved it nowhere, also where a pull has set it meanwhile (A02).
    """
    s.offsets.half = s.round.cursor
    if op_offset_after_round(s, c) != s.round.first_op:
        s.offsets.op = op_offset_after_round(s, c)
    s.round_ended_at = s.now
    forget_round(s, c)


def forget_round(s: State, c: Constants) -> None:
    """The memory of a round is gone."""
    s.round.running = False
    s.round.started_at = LONG_AGO
    s.round.cursor = 0
    forget_ops(s, c)


# --- ghosts -----------------------------------------------------------------------------------------------------------


def remember_discard(s: State, c: Constants, h: int) -> None:
    """Note whether a record of the half is left, and whether it had all its checks."""
    t = s.half[h].transaction
    s.half[h].left = Left.KEPT_ASIDE if c.keeps_discarded else Left.DROPPED
    if s.half[h].checks_sent < c.check_max:
        s.transaction[t].discarded = Budget.BURNT
    elif s.transaction[t].discarded == Budget.NO:
        s.transaction[t].discarded = Budget.SPENT
