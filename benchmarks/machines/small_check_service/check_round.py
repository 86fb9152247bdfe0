"""One round of the small check service: each step of its loop is an action.

For the half at the cursor, in this order: settled by an op message · discard · stored in this round · immune or young ·
check · otherwise pull more op messages and look again.
"""

from __future__ import annotations

from benchmarks.machines.small_check_service.state import Constants, State
from spec.language import NONE, Bits, action, require

# --- the steps --------------------------------------------------------------------------------------------------------


@action()
def begin_round(s: State, c: Constants) -> None:
    """The check service wakes up and reads the op queue."""
    require(not s.round.running, "no round runs")
    require(s.offsets.half < s.half_length or s.offsets.op < s.op_length, "there is something to read")
    s.round.running = True
    s.round.cursor = s.offsets.half
    s.round.new_half_offset = s.offsets.half
    s.round.next_op = s.offsets.op
    pull_ops(s, c)


@action()
def pass_settled_half(s: State, c: Constants) -> None:
    """An op message names the half; the op is done with its last half."""
    stands_on_a_half(s, c)
    require(s.half[s.round.cursor].removed_by != NONE, "an op message names it")
    s.op[s.half[s.round.cursor].removed_by].unresolved.discard(s.round.cursor)
    if s.op[s.half[s.round.cursor].removed_by].unresolved.is_empty():
        s.round.done.add(s.half[s.round.cursor].removed_by)
    s.half[s.round.cursor].removed_by = NONE
    go_on(s)


@action()
def discard_half(s: State, c: Constants) -> None:
    """The half has no checks left."""
    stands_on_a_half(s, c)
    require(s.half[s.round.cursor].removed_by == NONE, "no op message names it")
    require(s.half[s.round.cursor].checks >= c.check_max, "it has no checks left")
    s.transaction[s.half[s.round.cursor].transaction].discarded = True
    go_on(s)


@action()
def pass_half_of_settled_original(s: State, c: Constants) -> None:
    """An op message names the half of which this immune one is a copy; that op is done as a whole."""
    stands_on_an_earlier_half(s, c)
    require(is_immune(s, s.round.cursor), "its immunity is not over")
    require(original_is_settled(s, s.round.cursor), "an op message names its original")
    s.round.done.add(s.half[s.half[s.round.cursor].original].removed_by)
    s.half[s.half[s.round.cursor].original].removed_by = NONE
    go_on(s)


@action()
def put_back_immune_half(s: State, c: Constants) -> None:
    """An immune half goes to the end of the queue as a copy that knows its original."""
    stands_on_an_earlier_half(s, c)
    require(is_immune(s, s.round.cursor), "its immunity is not over")
    require(not original_is_settled(s, s.round.cursor), "no op message names its original")
    require(s.half_length < c.half_slots, "the half queue has room")
    s.half[s.half_length].original = (
        s.half[s.round.cursor].original if s.half[s.round.cursor].original != NONE else s.round.cursor
    )
    append_copy(s)


@action()
def put_back_and_check(s: State, c: Constants) -> None:
    """An old half goes to the end of the queue as a copy, and its producer is asked."""
    stands_on_an_old_half(s, c)
    require(may_check(s, c), "no more op messages are to be expected for it")
    require(s.half_length < c.half_slots, "the half queue has room")
    s.half[s.half_length].original = s.half[s.round.cursor].original
    s.half[s.half_length].check_in_flight = True
    append_copy(s)


@action()
def pull_more_ops(s: State, c: Constants) -> None:
    """It is too early to check: more op messages are read, and the same half is looked at again."""
    stands_on_an_old_half(s, c)
    require(not may_check(s, c), "more op messages may be expected for it")
    require(s.round.last_pull > 0 or s.round.next_op < s.op_length, "that changes something")
    pull_ops(s, c)


@action()
def end_round_at_time_limit(s: State, c: Constants) -> None:
    """The round has lasted too long."""
    require(s.round.running, "a round runs")
    require(s.round.age > c.round_limit, "it is over its time limit")
    end_round(s, c)


@action()
def end_round_at_queue_end(s: State, c: Constants) -> None:
    """No half is left to look at."""
    require(s.round.running, "a round runs")
    require(s.round.age <= c.round_limit, "it is within its time limit")
    require(s.round.cursor >= s.half_length, "the cursor stands at the end of the half queue")
    end_round(s, c)


@action()
def end_round_at_fresh_half(s: State, c: Constants) -> None:
    """The half was stored in this round."""
    stands_on_an_unsettled_half(s, c)
    require(s.half[s.round.cursor].age <= s.round.age, "it was stored in this round")
    end_round(s, c)


@action()
def end_round_at_young_half(s: State, c: Constants) -> None:
    """The half has no immunity of its own and is younger than the timeout."""
    stands_on_an_earlier_half(s, c)
    require(s.transaction[s.half[s.round.cursor].transaction].immunity == 0, "it has no immunity of its own")
    require(s.transaction[s.half[s.round.cursor].transaction].age < c.timeout, "its timeout is not over")
    end_round(s, c)


# --- what the steps have in common: guards, predicates, and what a round does to the offsets --------------------------


def stands_on_a_half(s: State, c: Constants) -> None:
    """What every step of the loop needs: a round in its time, and a half to look at."""
    require(s.round.running, "a round runs")
    require(s.round.age <= c.round_limit, "it is within its time limit")
    require(s.round.cursor < s.half_length, "the cursor stands on a half")


def stands_on_an_unsettled_half(s: State, c: Constants) -> None:
    """The same, and neither an op message nor the number of checks has the last word."""
    stands_on_a_half(s, c)
    require(s.half[s.round.cursor].removed_by == NONE, "no op message names it")
    require(s.half[s.round.cursor].checks < c.check_max, "it has checks left")


def stands_on_an_earlier_half(s: State, c: Constants) -> None:
    """The same, and the half was there before the round."""
    stands_on_an_unsettled_half(s, c)
    require(s.half[s.round.cursor].age > s.round.age, "it was stored before this round")


def stands_on_an_old_half(s: State, c: Constants) -> None:
    """The same, and its timeout or its immunity is over."""
    stands_on_an_earlier_half(s, c)
    require(
        s.transaction[s.half[s.round.cursor].transaction].age >= immunity(s, c, s.round.cursor),
        "its timeout or immunity is over",
    )


def immunity(s: State, c: Constants, h: int) -> int:
    """The age from which a half may be checked."""
    return (
        s.transaction[s.half[h].transaction].immunity
        if s.transaction[s.half[h].transaction].immunity > 0
        else c.timeout
    )


def is_immune(s: State, h: int) -> bool:
    """The message has an immunity of its own, which is not over."""
    return s.transaction[s.half[h].transaction].age < s.transaction[s.half[h].transaction].immunity


def original_is_settled(s: State, h: int) -> bool:
    """An op message of this round names the half of which this one is a copy."""
    return s.half[h].original != NONE and s.half[s.half[h].original].removed_by != NONE


def may_check(s: State, c: Constants) -> bool:
    """The last pull found nothing and the half is old, or the last op message that was pulled came late."""
    nothing_left = s.round.last_pull == 0 and s.transaction[s.half[s.round.cursor].transaction].age > immunity(
        s, c, s.round.cursor
    )
    came_late = any(o + 1 == s.round.last_pull and s.round.age > s.op[o].age + c.timeout for o in range(c.op_slots))
    return nothing_left or came_late


def go_on(s: State) -> None:
    """The cursor moves to the next half."""
    s.round.cursor += 1
    s.round.new_half_offset = s.round.cursor


def append_copy(s: State) -> None:
    """The half at the cursor is stored again, one check the older, and the cursor moves on."""
    s.half[s.half_length].transaction = s.half[s.round.cursor].transaction
    s.half[s.half_length].checks = s.half[s.round.cursor].checks + 1
    s.half_length += 1
    go_on(s)


def pull_ops(s: State, c: Constants) -> None:
    """Read the op queue to its end, and enter the halves that are named, from the half offset on, as removed."""
    s.round.last_pull = 0
    if s.round.next_op < s.op_length:
        for o in range(c.op_slots):
            if s.round.next_op <= o and o < s.op_length:
                for h in range(c.half_slots):
                    if s.op[o].names.has(h) and h >= s.offsets.half:
                        s.op[o].unresolved.add(h)
                        s.half[h].removed_by = o
                if s.op[o].unresolved.is_empty():
                    s.round.done.add(o)
        s.round.last_pull = s.op_length
        s.round.next_op = s.op_length


def end_round(s: State, c: Constants) -> None:
    """Both offsets move: the half offset to the cursor, the op offset past the ops that are done."""
    s.offsets.half = s.round.new_half_offset
    s.offsets.op = s.offsets.op + sum(
        s.offsets.op <= o and all(i < s.offsets.op or s.round.done.has(i) for i in range(o + 1))
        for o in range(c.op_slots)
    )
    forget_round(s, c)


def forget_round(s: State, c: Constants) -> None:
    """The memory of a round is gone."""
    s.round.running = False
    s.round.cursor = 0
    s.round.new_half_offset = 0
    s.round.next_op = 0
    s.round.last_pull = 0
    s.round.done = Bits()
    s.round.age = 0
    for h in range(c.half_slots):
        s.half[h].removed_by = NONE
    for o in range(c.op_slots):
        s.op[o].unresolved = Bits()
