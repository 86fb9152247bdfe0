"""L3, head-of-line progress: one bad half or op message delays the others by a bounded time.

As a safety property: no two rounds on end leave the half offset where it was for the same reason. One clause a reason.
"""

from __future__ import annotations

from spec.constants import Constants
from spec.language import always, sometimes
from spec.state import State, Stuck


@always("L3", clause="exception", resembles=("A08", "B24"), needs=("null_half or retention", "two_mishaps"))
def exceptions_do_not_stop_the_scan(s: State, c: Constants) -> bool:
    """No two rounds on end get nowhere as the store did not find what it has."""
    return s.stuck != Stuck.EXCEPTION or s.stuck_rounds < 2


@always("L3", clause="undecodable_half", resembles=("A07",), needs=("undecodable_half",))
def an_undecodable_half_does_not_stop_the_scan(s: State, c: Constants) -> bool:
    """No two rounds on end get nowhere for a half that cannot be decoded."""
    return s.stuck != Stuck.UNDECODABLE_HALF or s.stuck_rounds < 2


@always("L3", clause="undecodable_op", resembles=("B17",), needs=("undecodable_op",))
def an_undecodable_op_does_not_stop_the_scan(s: State, c: Constants) -> bool:
    """No two rounds on end get nowhere for an op message that cannot be decoded."""
    return s.stuck != Stuck.UNDECODABLE_OP or s.stuck_rounds < 2


@always("L3", clause="failed_put", resembles=("B08",), needs=("put_failure",))
def a_failed_put_does_not_stop_the_scan(s: State, c: Constants) -> bool:
    """No two rounds on end get nowhere as a copy was not stored."""
    return s.stuck != Stuck.FAILED_PUT or s.stuck_rounds < 2


@always("L3", clause="poison_half", resembles=("B07",), needs=("put_failure",))
def a_poison_half_does_not_stop_the_scan(s: State, c: Constants) -> bool:
    """No two rounds on end get nowhere for a half whose copy can never be stored."""
    return s.stuck != Stuck.POISON or s.stuck_rounds < 2


@always("L3", clause="time_limit", resembles=("B29",), needs=("slow_round",))
def the_time_limit_does_not_stop_the_scan(s: State, c: Constants) -> bool:
    """No two rounds on end reach their time limit at the half at which they began."""
    return s.stuck != Stuck.TIME_LIMIT or s.stuck_rounds < 2


@always("L3", clause="clock_step", resembles=("B28",), needs=("clock_step", "clock_that_steps"))
def a_step_of_the_clock_does_not_stop_the_scan(s: State, c: Constants) -> bool:
    """No round ends at a half because that seems to be stored in the future."""
    return s.stuck != Stuck.CLOCK or s.stuck_rounds < 1


@sometimes("L3")
def the_half_offset_moves(s: State, c: Constants) -> bool:
    """Some half is behind the half offset."""
    return s.offsets.half > 0
