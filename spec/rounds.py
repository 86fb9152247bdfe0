"""A check round: its time, what it asks of a half, and its end, where offsets are committed in memory.

RocketMQ: TransactionalMessageServiceImpl#check.
"""

from __future__ import annotations

from spec.constants import Constants
from spec.ghosts import remember_end_of_round, remember_ops_left_behind, remember_skipped, remember_stuck
from spec.half import age, immunity
from spec.half_queue import half_offset
from spec.language import LONG_AGO
from spec.op_pull import (
    forget_ops,
    last_op_pulled_came_late,
    names_it_from,
    op_offset_to_commit,
    read_op_messages,
)
from spec.state import Pull, State, Stuck


def is_within_limit(s: State, c: Constants) -> bool:
    """The round has not yet lasted longer than MAX_PROCESS_TIME_LIMIT; a repaired one settles its first half anyway."""
    is_at_first_half = c.finishes_reading and s.round.cursor == half_offset(s) and s.round.cursor < s.half_length
    return has_time_left(s, c) or is_at_first_half


def has_time_left(s: State, c: Constants) -> bool:
    """The round has lasted for MAX_PROCESS_TIME_LIMIT at most. Nothing is compared with the start of a longer one."""
    return s.now - s.round.started_at <= c.round_limit


def is_fresh(s: State, c: Constants, h: int) -> bool:
    """The message was stored in this round, as its time says; a repaired round asks only within its time limit."""
    is_from_the_future = s.half[h].stored_at > s.now
    seems_fresh = has_time_left(s, c) and s.half[h].stored_at >= s.round.started_at
    return seems_fresh and not (c.distrusts_future and is_from_the_future)


def may_check(s: State, c: Constants, h: int) -> bool:
    """isNeedCheck: all op messages are read and the half is old, or they run late, or the clocks disagree.

    A repaired service reads on as long as the op queue has a message that names the half, and beyond its time limit, as
    long as there are op messages at all.
    """
    no_more_ops = s.round.last_pull == Pull.END and age(s, h) > immunity(s, c, h) and not c.skips_when_ops_are_drained
    ops_run_late = s.round.last_pull == Pull.FOUND and has_time_left(s, c) and last_op_pulled_came_late(s, c)
    clock_ahead = age(s, h) <= -1
    return (no_more_ops or ops_run_late or clock_ahead) and not (
        c.keeps_check_open and names_it_from(s, c, h, max(s.round.next_op, s.gone.ops))
    )


def end_round(s: State, c: Constants, why: Stuck) -> None:
    """Both offsets are committed, in memory: the half offset to the cursor, the op offset past what is done.

    The op offset is left alone when the round moved it nowhere, also where a pull has set it meanwhile (A02). `why`
    tells what kept the round from going on, if something did. A service that knows settled transactions reads what is
    left of the op queue, which would grow for ever otherwise.
    """
    remember_end_of_round(s, why)
    if c.settles_once:
        read_op_messages(s, c, s.round.next_op, c.op_slots)
    remember_ops_left_behind(s, c)
    if s.round.cursor != half_offset(s):
        s.offsets.half = s.round.cursor
    if op_offset_to_commit(s, c) != s.round.first_op or (c.crowded == 1 and s.round.held != 0):
        s.offsets.op = op_offset_to_commit(s, c)
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
    s.round.met = 0
    forget_ops(s, c)
