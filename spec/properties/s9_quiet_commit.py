"""S9, quiet commit: a half whose END_TRANSACTION was acknowledged in time and before any check is never checked.

In time: at an age of at most the timeout or its immunity, whichever is longer. One clause a cause, as for S1.
"""

from __future__ import annotations

from spec.constants import Constants
from spec.language import always, each, sometimes
from spec.state import Cause, Quiet, State


def is_checked_all_the_same(s: State, t: int) -> bool:
    """Its END_TRANSACTION was acknowledged in time, and a check was sent afterwards."""
    return s.transaction[t].quiet == Quiet.CHECKED


@always("S9", clause="immune_half", resembles=("B01",), t=each("transactions"))
def an_end_inside_the_immunity_ends_the_checks(s: State, c: Constants, t: int) -> bool:
    """An END_TRANSACTION inside the immunity of a half that was put back for it ends the checks of its copy, too."""
    return not (is_checked_all_the_same(s, t) and s.transaction[t].cause == Cause.IMMUNE_HALF)


@always("S9", clause="lost_op", resembles=("B02",), t=each("transactions"))
def no_check_for_want_of_a_lost_op(s: State, c: Constants, t: int) -> bool:
    """No settled half is checked because its op message was lost."""
    return not (is_checked_all_the_same(s, t) and s.transaction[t].cause == Cause.LOST_OP)


@always("S9", clause="late_op", resembles=("B05", "B06", "A16"), t=each("transactions"))
def no_check_ahead_of_a_late_op(s: State, c: Constants, t: int) -> bool:
    """No settled half is checked because its op message was written too late for a round to see it."""
    return not (is_checked_all_the_same(s, t) and s.transaction[t].cause == Cause.LATE_OP)


@always("S9", clause="forked_copy", resembles=("B16",), t=each("transactions"))
def no_check_of_a_forked_copy(s: State, c: Constants, t: int) -> bool:
    """No copy is checked that was made after the half offset went back over a half that was settled."""
    return not (is_checked_all_the_same(s, t) and s.transaction[t].cause == Cause.FORKED_COPY)


@always("S9", clause="passed_op", resembles=("A02",), t=each("transactions"))
def no_check_behind_a_passed_op(s: State, c: Constants, t: int) -> bool:
    """No settled half is checked because the op offset passed its op message too early."""
    return not (is_checked_all_the_same(s, t) and s.transaction[t].cause == Cause.PASSED_OP)


@always("S9", clause="unexplained", t=each("transactions"))
def every_needless_check_has_a_cause(s: State, c: Constants, t: int) -> bool:
    """There is no needless check that the other clauses do not speak of."""
    unexplained = (
        s.transaction[t].cause == Cause.NONE
        or s.transaction[t].cause == Cause.AFTER_A_CHECK
        or s.transaction[t].cause == Cause.DOUBLED_REQUEST
    )
    return not (is_checked_all_the_same(s, t) and unexplained)


@sometimes("S9", t=each("transactions"))
def an_end_is_acknowledged_in_time(s: State, c: Constants, t: int) -> bool:
    """Some END_TRANSACTION is acknowledged in time and before any check."""
    return s.transaction[t].quiet == Quiet.ENDED
