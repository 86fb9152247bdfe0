"""The end of a check round: offsets are committed in memory, and the memory of the round is gone."""

from __future__ import annotations

from spec.constants import Constants
from spec.language import LONG_AGO
from spec.op_pull import forget_ops, op_offset_after_round
from spec.state import Left, State, Stuck


def end_round(s: State, c: Constants, why: Stuck) -> None:
    """Both offsets are committed, in memory: the half offset to the cursor, the op offset past what is done.

    The op offset is left alone when the round moved it nowhere, also where a pull has set it meanwhile (A02). `why`
    tells what kept the round from going on, if something did.
    """
    remember_end_of_round(s, why)
    remember_ops_left_behind(s, c)
    s.offsets.half = s.round.cursor
    if op_offset_after_round(s, c) != s.round.first_op:
        s.offsets.op = op_offset_after_round(s, c)
    s.round_ended_at = s.now
    forget_round(s, c)


def abort_round(s: State, c: Constants, why: Stuck) -> None:
    """An exception ends the round, and what it has passed is not committed (A08).

    RocketMQ: TransactionalMessageServiceImpl#check, the catch around the loop. PR #9523 would commit the half offset in
    a finally block; a repair commits what was passed one by one, but no jump.
    """
    if c.commits_after_exception or (c.keeps_progress and not s.round.null_met):
        if c.commits_after_exception:
            remember_skipped(s, c)
        end_round(s, c, why)
    else:
        remember_stuck(s, why)
        s.round_ended_at = s.now
        forget_round(s, c)


def forget_round(s: State, c: Constants) -> None:
    """The memory of a round is gone."""
    s.round.running = False
    s.round.started_at = LONG_AGO
    s.round.cursor = 0
    s.round.null_met = False
    forget_ops(s, c)


# --- ghosts -----------------------------------------------------------------------------------------------------------


def remember_skipped(s: State, c: Constants) -> None:
    """Note that a round which failed leaves behind what it has jumped over."""
    for h in range(c.half_slots):
        if h >= s.offsets.half and h < s.round.cursor and s.half[h].left == Left.PASSED_OVER:
            s.half[h].left = Left.SKIPPED_BY_EXCEPTION


def remember_end_of_round(s: State, why: Stuck) -> None:
    """Note whether the round was stuck: it ended where it had begun, for a reason that is not RocketMQ's intention."""
    if s.round.cursor == s.offsets.half:
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
