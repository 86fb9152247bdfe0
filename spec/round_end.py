"""The end of a check round: offsets are committed in memory, and the memory of the round is gone."""

from __future__ import annotations

from spec.constants import Constants
from spec.ghosts import remember_end_of_round, remember_ops_left_behind, remember_skipped, remember_stuck
from spec.language import LONG_AGO
from spec.op_pull import forget_ops, op_offset_after_round
from spec.state import State, Stuck


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
