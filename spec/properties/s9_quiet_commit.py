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


@always("S9", clause="immune_half", resembles=("B01",), needs=("immunity",), t=each("transactions"))
def an_end_inside_the_immunity_ends_the_checks(s: State, c: Constants, t: int) -> bool:
    """An END_TRANSACTION inside the immunity of a half that was put back for it ends the checks of its copy, too."""
    return not (is_checked_all_the_same(s, t) and s.transaction[t].cause == Cause.IMMUNE_HALF)


@always(
    "S9",
    clause="lost_op",
    resembles=("B02", "B03", "B04", "B17"),
    needs=(
        "op_write_failure or undecodable_op or crash or power_loss or graceful_stop or role_change or acting_slave",
    ),
    t=each("transactions"),
)
def no_check_for_want_of_a_lost_op(s: State, c: Constants, t: int) -> bool:
    """No settled half is checked because its op message was lost, or cannot be decoded."""
    is_lost = s.transaction[t].cause == Cause.LOST_OP or s.transaction[t].cause == Cause.UNREADABLE_OP
    return not (is_checked_all_the_same(s, t) and is_lost)


@always("S9", clause="late_op", resembles=("B05",), t=each("transactions"))
def no_check_ahead_of_a_late_op(s: State, c: Constants, t: int) -> bool:
    """No settled half is checked because its op message is not written yet."""
    return not (is_checked_all_the_same(s, t) and s.transaction[t].cause == Cause.LATE_OP)


@always("S9", clause="overslept_op", resembles=("A16",), needs=("+batches_ops",), t=each("transactions"))
def no_check_ahead_of_an_overslept_op(s: State, c: Constants, t: int) -> bool:
    """No settled half is checked because its op entry has waited in the op batch for more than an interval."""
    return not (is_checked_all_the_same(s, t) and s.transaction[t].cause == Cause.OVERSLEPT_OP)


@always("S9", clause="stale_op_end", resembles=("B06",), t=each("transactions"))
def no_check_on_a_stale_end_of_the_op_queue(s: State, c: Constants, t: int) -> bool:
    """No settled half is checked because its op message was written after the round had seen the end of the queue."""
    return not (is_checked_all_the_same(s, t) and s.transaction[t].cause == Cause.STALE_OP_END)


@always(
    "S9",
    clause="unread_op",
    resembles=("B27", "B47"),
    needs=("clock_skew or preset_original or power_loss or retention", "second_transaction"),
    t=each("transactions"),
)
def no_check_ahead_of_an_unread_op(s: State, c: Constants, t: int) -> bool:
    """No settled half is checked because the round has not read on to its op message."""
    return not (is_checked_all_the_same(s, t) and s.transaction[t].cause == Cause.UNREAD_OP)


@always(
    "S9",
    clause="forked_copy",
    resembles=("A08", "B16", "B50"),
    needs=(
        "immunity",
        "null_half or crash or power_loss or offset_regression or acting_slave or graceful_stop",
    ),
    t=each("transactions"),
)
def no_check_of_a_forked_copy(s: State, c: Constants, t: int) -> bool:
    """No copy is checked that was made after the half offset went back over a half that was settled."""
    return not (is_checked_all_the_same(s, t) and s.transaction[t].cause == Cause.FORKED_COPY)


@always(
    "S9",
    clause="passed_op",
    resembles=("A02", "A15", "B15", "B56"),
    needs=(
        "third_transaction or slow_round or put_failure or null_half or clock_step or crash or power_loss"
        " or offset_regression or preset_original or graceful_stop or retention",
    ),
    t=each("transactions"),
)
def no_check_behind_a_passed_op(s: State, c: Constants, t: int) -> bool:
    """No settled half is checked because the op offset passed its op message too early."""
    return not (is_checked_all_the_same(s, t) and s.transaction[t].cause == Cause.PASSED_OP)


@always(
    "S9",
    clause="second_half",
    resembles=("A39", "B23"),
    needs=("twin_send or acting_slave or resume_discarded or slow_proxy",),
    t=each("transactions"),
)
def no_check_of_a_second_half(s: State, c: Constants, t: int) -> bool:
    """No half is checked beside the one that was settled: a twin, a resumed half, or one that has escaped."""
    is_beside = (
        s.transaction[t].cause == Cause.TWIN_HALF
        or s.transaction[t].cause == Cause.RESUMED_HALF
        or s.transaction[t].cause == Cause.ESCAPED_SETTLED
        or s.transaction[t].cause == Cause.ESCAPED_TWICE
        or s.transaction[t].cause == Cause.ESCAPED_AND_KEPT
        or s.transaction[t].cause == Cause.ENDED_AFTER_ESCAPE
    )
    return not (is_checked_all_the_same(s, t) and is_beside)


@always("S9", clause="read_for_another", resembles=("B50",), needs=("retention",), t=each("transactions"))
def no_check_of_a_half_that_is_read_for_another(s: State, c: Constants, t: int) -> bool:
    """No settled half is checked as it was read in the place of one that retention has deleted."""
    return not (is_checked_all_the_same(s, t) and s.transaction[t].cause == Cause.READ_FOR_ANOTHER)


@always("S9", clause="unexplained", t=each("transactions"))
def every_needless_check_has_a_cause(s: State, c: Constants, t: int) -> bool:
    """There is no needless check that the other clauses do not speak of."""
    is_unexplained = (
        s.transaction[t].cause == Cause.NONE
        or s.transaction[t].cause == Cause.AFTER_A_CHECK
        or s.transaction[t].cause == Cause.SHORT_IMMUNITY
    )
    return not (is_checked_all_the_same(s, t) and is_unexplained)


@sometimes("S9", t=each("transactions"))
def an_end_is_acknowledged_in_time(s: State, c: Constants, t: int) -> bool:
    """Some END_TRANSACTION is acknowledged in time and before any check."""
    return s.transaction[t].quiet == Quiet.ENDED
