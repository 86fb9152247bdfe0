"""S1, at-most-once resolution: a transaction is delivered at most once, however many END_TRANSACTIONs say commit.

One clause a cause, so that a well-known cause does not hide the others.
"""

from __future__ import annotations

from spec.constants import Constants
from spec.language import always, each, sometimes
from spec.state import Cause, State


def is_delivered_twice(s: State, t: int) -> bool:
    """Two real messages of the transaction were stored, or more."""
    return s.transaction[t].deliveries >= 2


@always("S1", clause="doubled_request", resembles=("A13",), t=each("transactions"))
def a_repeated_end_delivers_once(s: State, c: Constants, t: int) -> bool:
    """A commit that arrives twice delivers the message once."""
    return not (is_delivered_twice(s, t) and s.transaction[t].cause == Cause.DOUBLED_REQUEST)


@always("S1", clause="immune_half", resembles=("B01",), t=each("transactions"))
def an_end_inside_the_immunity_delivers_once(s: State, c: Constants, t: int) -> bool:
    """A commit inside the immunity of a half that was put back for it is the last word: its copy is not delivered."""
    return not (is_delivered_twice(s, t) and s.transaction[t].cause == Cause.IMMUNE_HALF)


@always("S1", clause="after_a_check", resembles=("A11",), t=each("transactions"))
def an_end_after_a_check_delivers_once(s: State, c: Constants, t: int) -> bool:
    """A commit for a half that was put back for a check is the last word: its copy is not delivered, too."""
    return not (is_delivered_twice(s, t) and s.transaction[t].cause == Cause.AFTER_A_CHECK)


@always("S1", clause="lost_op", resembles=("B02",), t=each("transactions"))
def a_lost_op_delivers_once(s: State, c: Constants, t: int) -> bool:
    """A delivered message is not delivered again because its op message was lost."""
    return not (is_delivered_twice(s, t) and s.transaction[t].cause == Cause.LOST_OP)


@always("S1", clause="late_op", resembles=("B05", "B06"), t=each("transactions"))
def a_late_op_delivers_once(s: State, c: Constants, t: int) -> bool:
    """A delivered message is not delivered again because its op message was written too late for a round to see it."""
    return not (is_delivered_twice(s, t) and s.transaction[t].cause == Cause.LATE_OP)


@always("S1", clause="forked_copy", resembles=("B16",), t=each("transactions"))
def a_forked_copy_delivers_once(s: State, c: Constants, t: int) -> bool:
    """A half that was put back twice, after the half offset went back, is delivered once."""
    return not (is_delivered_twice(s, t) and s.transaction[t].cause == Cause.FORKED_COPY)


@always("S1", clause="passed_op", resembles=("A02",), t=each("transactions"))
def a_passed_op_delivers_once(s: State, c: Constants, t: int) -> bool:
    """A delivered message is not delivered again because the op offset passed its op message too early."""
    return not (is_delivered_twice(s, t) and s.transaction[t].cause == Cause.PASSED_OP)


@always("S1", clause="unexplained", t=each("transactions"))
def every_second_delivery_has_a_cause(s: State, c: Constants, t: int) -> bool:
    """There is no second delivery that the other clauses do not speak of."""
    return not (is_delivered_twice(s, t) and s.transaction[t].cause == Cause.NONE)


@sometimes("S1", t=each("transactions"))
def a_check_led_to_a_delivery(s: State, c: Constants, t: int) -> bool:
    """Some transaction is delivered once, from a copy that was put back for a check."""
    return s.transaction[t].deliveries == 1 and any(
        s.half[h].transaction == t and s.half[h].check_times > 0 and s.half[h].acknowledged for h in range(c.half_slots)
    )
