"""What goes wrong in a check round: halves that are not there, cannot be read or cannot be written, and exceptions.

RocketMQ: TransactionalMessageServiceImpl#check, #getHalfMsg, #fillOpRemoveMap; TransactionalMessageBridge#getMessage.
"""

from __future__ import annotations

from spec.bounds import room_for_a_mishap
from spec.chapters.check_round import may_begin
from spec.check_loop import (
    stands_on_a_half_to_check,
    stands_on_an_earlier_half,
    stands_on_an_old_half,
    stands_on_an_open_half,
)
from spec.constants import Constants
from spec.half import can_be_copied, can_be_decoded, is_immune
from spec.half_queue import half_read, is_empty
from spec.language import action, assume, each, require, within
from spec.observation import OF_AN_OP, READ
from spec.op_pull import op_offset, pull_throws
from spec.rounds import abort_round, end_round, is_within_limit, may_check
from spec.state import Left, Pull, State, Stuck

# --- no half at the cursor --------------------------------------------------------------------------------------------


@action(event="half_missed", place=470)
def jump_to_queue_end(s: State, c: Constants) -> None:
    """The half offset lies beyond the end of its queue: the round goes on where the store says, once.

    RocketMQ: DefaultMessageStore#getMessage, OFFSET_OVERFLOW_BADLY. Up to 4.9.3 that is the beginning of the queue, and
    the round judges op messages by the old offset: it takes all of them for settled long ago (B15).
    """
    require(s.round.running, "a round runs")
    require(is_within_limit(s, c), "the round is within its time limit")
    require(s.round.cursor > s.half_length, "the cursor stands beyond the end of the half queue")
    require(not is_empty(s), "the half queue is not empty")
    require(s.round.cursor >= s.lower_end.halves, "it is not below the lower end of the queue")
    require(not s.round.null_met, "the round has not jumped before")
    s.round.null_met = True
    s.round.cursor = 0 if c.rewinds_beyond_end and s.lower_end.halves == 0 else s.half_length


@action(event="half_missed", place=480, shows=READ)
def jump_over_half(s: State, c: Constants) -> None:
    """The store gives no message for the half at the cursor, and the round goes on behind it, once.

    RocketMQ: TransactionalMessageServiceImpl#check, getMessageNullCount; the same for a half that cannot be decoded
    from 4.9.5 on (A07).
    """
    sees_no_half(s, c)
    require(not s.round.null_met, "the round has not jumped before")
    require(not c.keeps_progress, "a round may jump over a half")
    count_miss(s, half_read(s))
    if s.half[half_read(s)].left == Left.NO:
        s.half[half_read(s)].left = Left.PASSED_OVER
    s.round.null_met = True
    s.round.cursor = half_read(s) + 1


@action(event="round_ended", place=490)
def end_round_at_missed_half(s: State, c: Constants) -> None:
    """The store gives no message for the half at the cursor for the second time in the round.

    RocketMQ: TransactionalMessageServiceImpl#check, MAX_RETRY_COUNT_WHEN_HALF_NULL. A repaired round does not jump.
    """
    sees_no_half(s, c)
    require(s.round.null_met or c.keeps_progress, "the round has jumped before")
    count_miss(s, half_read(s))
    end_round(s, c, Stuck.EXCEPTION)


def sees_no_half(s: State, c: Constants) -> None:
    """What both need: a half that the store does not give, or that cannot be decoded without an exception."""
    stands_on_an_open_half(s, c)
    require(can_be_decoded(s, half_read(s)) or not c.undecodable_throws, "there is no exception")
    require(can_be_decoded(s, half_read(s)) or not c.parks_poison, "what cannot be decoded is not put aside")
    assume(c.null_half or not can_be_decoded(s, half_read(s)), "the store finds what it has")
    within(not can_be_decoded(s, half_read(s)) or s.mishaps < c.mishaps, "the instance has mishaps left")


def count_miss(s: State, h: int) -> None:
    """A half that cannot be decoded is missed each time; any other one by mishap."""
    if can_be_decoded(s, h):
        s.mishaps += 1


# --- exceptions -------------------------------------------------------------------------------------------------------


@action(event="round_ended", place=500)
def abort_at_null_result(s: State, c: Constants) -> None:
    """The store answers nothing at all for the half at the cursor: a NullPointerException (A08).

    RocketMQ: DefaultMessageStore#getMessage returns null when it is not readable or shut down.
    """
    stands_on_an_open_half(s, c)
    require(can_be_decoded(s, half_read(s)), "it can be decoded")
    assume(c.null_half, "the store finds what it has")
    room_for_a_mishap(s, c)
    s.mishaps += 1
    abort_round(s, c, Stuck.EXCEPTION)


@action(event="round_ended", place=510)
def abort_at_undecodable_half(s: State, c: Constants) -> None:
    """A half that cannot be decoded ends the round, and every later one at the same place (A07).

    RocketMQ 4.5.1: TransactionalMessageBridge#getMessage reads the store time of a null.
    """
    stands_on_an_open_half(s, c)
    require(not can_be_decoded(s, half_read(s)), "it cannot be decoded")
    require(c.undecodable_throws, "that is an exception")
    require(not c.parks_poison, "what cannot be decoded is not put aside")
    abort_round(s, c, Stuck.UNDECODABLE_HALF)


@action(event="round_ended", place=520)
def fail_to_begin_round(s: State, c: Constants) -> None:
    """An op message among the first cannot be decoded: the round ends before it begins (B17).

    RocketMQ 4.5.1: TransactionalMessageServiceImpl#fillOpRemoveMap.
    """
    may_begin(s, c)
    require(pull_throws(s, c, op_offset(s)), "one of the first op messages cannot be decoded")
    abort_round(s, c, Stuck.UNDECODABLE_OP)


@action(event="round_ended", place=530)
def abort_at_next_ops(s: State, c: Constants) -> None:
    """An op message among the next cannot be decoded (B17).

    RocketMQ 4.5.1: TransactionalMessageServiceImpl#fillOpRemoveMap.
    """
    stands_on_an_old_half(s, c)
    require(not may_check(s, c, half_read(s)), "more op messages may be expected for it")
    require(pull_throws(s, c, s.round.next_op), "one of the next op messages cannot be decoded")
    abort_round(s, c, Stuck.UNDECODABLE_OP)


@action(event="round_ended", place=540)
def abort_at_unreadable_pull(s: State, c: Constants) -> None:
    """The last pull gave only op messages that cannot be decoded, and the loop looks at the last of none (B17).

    RocketMQ from 4.6.0 on: TransactionalMessageServiceImpl#check, `opMsg.get(opMsg.size() - 1)`.
    """
    stands_on_an_old_half(s, c)
    require(s.round.last_pull == Pull.UNREADABLE, "the last pull gave nothing that can be decoded")
    abort_round(s, c, Stuck.UNDECODABLE_OP)


# --- failed writes ----------------------------------------------------------------------------------------------------


@action(event="round_ended", place=550)
def spin_at_failed_check(s: State, c: Constants) -> None:
    """The copy of a half to be checked cannot be stored: the round tries it over and over until its time limit (B08).

    RocketMQ: TransactionalMessageServiceImpl#check, `continue` after putBackHalfMsgQueue. All rounds do so for a half
    whose copy is too long (B07).
    """
    stands_on_a_half_to_check(s, c)
    assume(c.put_failure or not can_be_copied(s, half_read(s)), "what is put back is stored")
    require(not c.parks_poison or can_be_copied(s, half_read(s)), "what cannot be copied is not put aside")
    spin(s, c)


@action(event="round_ended", place=560)
def spin_at_failed_immunity(s: State, c: Constants) -> None:
    """The copy of an immune half cannot be stored: the round reads op messages over and over until its time limit.

    RocketMQ: TransactionalMessageServiceImpl#checkPrepareQueueOffset returns false.
    """
    stands_on_an_earlier_half(s, c)
    require(is_immune(s, c, half_read(s)), "its immunity is not over")
    assume(c.put_failure or not can_be_copied(s, half_read(s)), "what is put back is stored")
    require(not c.parks_poison or can_be_copied(s, half_read(s)), "what cannot be copied is not put aside")
    spin(s, c)


def spin(s: State, c: Constants) -> None:
    """The rest of the round's time goes by without progress; a repaired round ends at once (B08)."""
    if can_be_copied(s, half_read(s)):
        end_round(s, c, Stuck.FAILED_PUT)
    else:
        end_round(s, c, Stuck.POISON)


# --- decay ------------------------------------------------------------------------------------------------------------


@action(event="op_corrupted", place=570, shows=OF_AN_OP, o=each("op_slots"))
def corrupt_op(s: State, c: Constants, o: int) -> None:
    """An op message can no longer be decoded (B17)."""
    require(o < s.op_length, "the op message is stored")
    require(not s.op[o].undecodable, "it can be decoded")
    assume(c.undecodable_op, "what is stored can be decoded")
    room_for_a_mishap(s, c)
    s.mishaps += 1
    s.op[o].undecodable = True
