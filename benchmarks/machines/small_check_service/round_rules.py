"""What the steps of a round have in common: guards, predicates, and what a round does to the offsets."""

from __future__ import annotations

from benchmarks.machines.small_check_service.state import Constants, State
from spec.language import NONE, Bits, require


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
