"""What the steps of a check round ask of the half at the cursor, in the order in which the loop asks it.

RocketMQ: TransactionalMessageServiceImpl#check.
"""

from __future__ import annotations

from spec.constants import Constants
from spec.half import age, born_ahead, can_be_decoded, immunity, is_known_as_settled, is_young, must_be_discarded
from spec.language import NONE, require
from spec.op_pull import is_settled_by_an_op, last_op_pulled_came_late, names_it_from
from spec.state import End, Pull, Role, State


def is_within_limit(s: State, c: Constants) -> bool:
    """The round has not yet lasted longer than MAX_PROCESS_TIME_LIMIT; a repaired one settles its first half anyway."""
    is_at_first_half = c.finishes_reading and s.round.cursor == s.offsets.half and s.round.cursor < s.half_length
    return has_time_left(s, c) or is_at_first_half


def has_time_left(s: State, c: Constants) -> bool:
    """The round has lasted for MAX_PROCESS_TIME_LIMIT at most. Nothing is compared with the start of a longer one."""
    return s.now - s.round.started_at <= c.round_limit


def is_fresh(s: State, c: Constants, h: int) -> bool:
    """The message was stored in this round, as its time says; a repaired round asks only within its time limit."""
    is_from_the_future = s.half[h].stored_at > s.now
    seems_fresh = has_time_left(s, c) and s.half[h].stored_at >= s.round.started_at
    return seems_fresh and not (c.distrusts_future and is_from_the_future)


def original_is_settled(s: State, h: int) -> bool:
    """removeMap has the offset that an immunity put-back wrote down (TRAN_PREPARED_QUEUE_OFFSET)."""
    return s.half[h].original != NONE and s.round.removed_by[s.half[h].original] != NONE


def may_check(s: State, c: Constants, h: int) -> bool:
    """isNeedCheck: all op messages are read and the half is old, or they run late, or the clocks disagree.

    A repaired service reads on as long as the op queue has a message that names the half, and beyond its time limit, as
    long as there are op messages at all.
    """
    no_more_ops = s.round.last_pull == Pull.END and age(s, h) > immunity(s, c, h) and not c.skips_when_ops_are_drained
    ops_run_late = s.round.last_pull == Pull.FOUND and has_time_left(s, c) and last_op_pulled_came_late(s, c)
    clock_ahead = age(s, h) <= -1
    return (no_more_ops or ops_run_late or clock_ahead) and not (
        c.keeps_check_open and names_it_from(s, c, h, s.round.next_op)
    )


def its_op_is_to_come(s: State, c: Constants, h: int) -> bool:
    """A repaired service knows that an END_TRANSACTION of the half was carried out and its op entry is on its way."""
    return c.keeps_check_open and (s.batch.names.has(h) or s.half[h].end == End.COMMIT_STORED)


def awaits_its_producer(s: State, c: Constants, t: int) -> bool:
    """A check request or an END_TRANSACTION of the transaction is under way, or is being handled."""
    return any(
        s.half[h].transaction == t and (s.half[h].check_in_flight or s.half[h].end != End.NONE)
        for h in range(c.half_slots)
    )


def stands_on_a_half(s: State, c: Constants) -> None:
    """What every step of the loop needs: a round in its time, and a half to look at."""
    require(s.round.running, "a round runs")
    require(is_within_limit(s, c), "the round is within its time limit")
    require(s.round.cursor < s.half_length, "the cursor stands on a half")


def stands_on_an_open_half(s: State, c: Constants) -> None:
    """The same, and nothing that the round has read settles it."""
    stands_on_a_half(s, c)
    require(not is_settled_by_an_op(s, s.round.cursor), "no op message that was pulled names it")
    require(
        not is_known_as_settled(s, c, s.half[s.round.cursor].transaction),
        "the broker does not know its transaction as settled",
    )


def stands_on_a_readable_half(s: State, c: Constants) -> None:
    """The same, and the store gives it."""
    stands_on_an_open_half(s, c)
    require(can_be_decoded(s, s.round.cursor), "it can be decoded")


def stands_on_the_masters_half(s: State, c: Constants) -> None:
    """The same, and the broker is no acting slave, which would let it escape."""
    stands_on_a_readable_half(s, c)
    require(s.role == Role.MASTER, "the broker is the master")


def stands_on_an_unsettled_half(s: State, c: Constants) -> None:
    """The same, and neither the number of checks nor its age has the last word on it."""
    stands_on_the_masters_half(s, c)
    require(not must_be_discarded(s, c, s.round.cursor), "it has checks left")


def stands_on_an_earlier_half(s: State, c: Constants) -> None:
    """The same, and the half was there before the round."""
    stands_on_an_unsettled_half(s, c)
    require(not is_fresh(s, c, s.round.cursor), "it was stored before this round")


def stands_on_an_old_half(s: State, c: Constants) -> None:
    """The same, and its time for a check has come."""
    stands_on_an_earlier_half(s, c)
    require(not is_young(s, c, s.round.cursor) or born_ahead(s, s.round.cursor), "its timeout or immunity is over")
    require(
        not c.heeds_settled_originals or not original_is_settled(s, s.round.cursor),
        "no op message that was pulled names its original",
    )


def stands_on_a_half_to_check(s: State, c: Constants) -> None:
    """The same, and no more op messages are read before its producer is asked."""
    stands_on_an_old_half(s, c)
    require(may_check(s, c, s.round.cursor), "no more op messages are to be expected for it")
    require(not its_op_is_to_come(s, c, s.round.cursor), "its op entry is not on its way")
