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


@always(
    "S1",
    clause="doubled_request",
    resembles=("A13",),
    needs=("duplicate_end or reorder or wrong_end or power_loss or retention",),
    t=each("transactions"),
)
def a_repeated_end_delivers_once(s: State, c: Constants, t: int) -> bool:
    """A commit that arrives twice delivers the message once."""
    return not (is_delivered_twice(s, t) and s.transaction[t].delivered_twice_for_one)


@always("S1", clause="immune_half", resembles=("B01",), needs=("immunity",), t=each("transactions"))
def an_end_inside_the_immunity_delivers_once(s: State, c: Constants, t: int) -> bool:
    """A commit inside the immunity of a half that was put back for it is the last word: its copy is not delivered."""
    return not (is_delivered_twice(s, t) and s.transaction[t].cause == Cause.IMMUNE_HALF)


@always(
    "S1",
    clause="after_a_check",
    resembles=("A11", "B60"),
    needs=("slow_local or wrong_end or late_end or other_proxy",),
    t=each("transactions"),
)
def an_end_after_a_check_delivers_once(s: State, c: Constants, t: int) -> bool:
    """A commit for a half that was put back for a check is the last word: its copy is not delivered, too."""
    return not (is_delivered_twice(s, t) and s.transaction[t].cause == Cause.AFTER_A_CHECK)


@always(
    "S1",
    clause="short_immunity",
    resembles=("B25",),
    needs=("short_immunity", "slow_local or wrong_end or late_end"),
    t=each("transactions"),
)
def an_end_before_the_timeout_delivers_once(s: State, c: Constants, t: int) -> bool:
    """A commit before the timeout is the last word, also where the half was checked as its own immunity was shorter."""
    return not (is_delivered_twice(s, t) and s.transaction[t].cause == Cause.SHORT_IMMUNITY)


@always(
    "S1",
    clause="lost_op",
    resembles=("B02", "B03", "B04", "B17", "B53"),
    needs=(
        "op_write_failure or undecodable_op or crash or power_loss or graceful_stop or role_change or acting_slave",
    ),
    t=each("transactions"),
)
def a_lost_op_delivers_once(s: State, c: Constants, t: int) -> bool:
    """A delivered message is not delivered again because its op message was lost, or cannot be decoded."""
    is_lost = s.transaction[t].cause == Cause.LOST_OP or s.transaction[t].cause == Cause.UNREADABLE_OP
    return not (is_delivered_twice(s, t) and is_lost)


@always("S1", clause="late_op", resembles=("A16", "B05", "B06", "B27", "B47"), t=each("transactions"))
def a_late_op_delivers_once(s: State, c: Constants, t: int) -> bool:
    """A delivered message is not delivered again because its op message was written, or read, too late for a round."""
    is_late = (
        s.transaction[t].cause == Cause.LATE_OP
        or s.transaction[t].cause == Cause.OVERSLEPT_OP
        or s.transaction[t].cause == Cause.STALE_OP_END
        or s.transaction[t].cause == Cause.UNREAD_OP
    )
    return not (is_delivered_twice(s, t) and is_late)


@always(
    "S1",
    clause="forked_copy",
    resembles=("A08", "A29", "B16", "B50"),
    needs=("null_half or crash or power_loss or offset_regression or acting_slave or graceful_stop or retention",),
    t=each("transactions"),
)
def a_forked_copy_delivers_once(s: State, c: Constants, t: int) -> bool:
    """A half that was put back twice, as the half offset went back or files were deleted, is delivered once."""
    return not (is_delivered_twice(s, t) and s.transaction[t].cause == Cause.FORKED_COPY)


@always(
    "S1",
    clause="passed_op",
    resembles=("A02", "A15", "B15", "B56"),
    needs=(
        "third_transaction or slow_round or put_failure or null_half or clock_step or crash or power_loss"
        " or offset_regression or preset_original or graceful_stop or retention",
    ),
    t=each("transactions"),
)
def a_passed_op_delivers_once(s: State, c: Constants, t: int) -> bool:
    """A delivered message is not delivered again because the op offset passed its op message too early."""
    return not (is_delivered_twice(s, t) and s.transaction[t].cause == Cause.PASSED_OP)


@always("S1", clause="twin_half", resembles=("A39",), needs=("twin_send or slow_proxy",), t=each("transactions"))
def a_message_that_was_sent_twice_is_delivered_once(s: State, c: Constants, t: int) -> bool:
    """A message of which a retry stored a second half is delivered once."""
    return not (is_delivered_twice(s, t) and s.transaction[t].cause == Cause.TWIN_HALF)


@always(
    "S1",
    clause="resumed_half",
    resembles=("B30",),
    needs=("resume_discarded", "+keeps_discarded", "room_to_resume"),
    t=each("transactions"),
)
def a_resumed_half_delivers_once(s: State, c: Constants, t: int) -> bool:
    """A message that was put back from the discard topic is delivered once."""
    return not (is_delivered_twice(s, t) and s.transaction[t].cause == Cause.RESUMED_HALF)


@always(
    "S1",
    clause="escaped_settled",
    resembles=("B20",),
    needs=("acting_slave", "+escapes", "second_transaction"),
    t=each("transactions"),
)
def a_settled_half_does_not_escape(s: State, c: Constants, t: int) -> bool:
    """A delivered message is not delivered again as an acting slave sent its half elsewhere before it read its op."""
    return not (is_delivered_twice(s, t) and s.transaction[t].cause == Cause.ESCAPED_SETTLED)


@always(
    "S1", clause="escaped_twice", resembles=("B22", "B54"), needs=("acting_slave", "+escapes"), t=each("transactions")
)
def a_half_escapes_once(s: State, c: Constants, t: int) -> bool:
    """A half whose escape had an unclear result is delivered once."""
    return not (is_delivered_twice(s, t) and s.transaction[t].cause == Cause.ESCAPED_TWICE)


@always(
    "S1",
    clause="escaped_and_kept",
    resembles=("B23", "B54"),
    needs=("acting_slave", "+escapes"),
    t=each("transactions"),
)
def an_escaped_half_is_not_kept(s: State, c: Constants, t: int) -> bool:
    """A half that has escaped is not checked by its own master any more."""
    return not (is_delivered_twice(s, t) and s.transaction[t].cause == Cause.ESCAPED_AND_KEPT)


@always("S1", clause="end_after_escape", needs=("acting_slave", "+escapes"), t=each("transactions"))
def an_end_after_the_escape_delivers_once(s: State, c: Constants, t: int) -> bool:
    """A half that has escaped is not committed by an END_TRANSACTION that reaches the master when it is back."""
    return not (is_delivered_twice(s, t) and s.transaction[t].cause == Cause.ENDED_AFTER_ESCAPE)


@always("S1", clause="read_for_another", resembles=("B50",), needs=("retention",), t=each("transactions"))
def a_half_that_is_read_for_another_delivers_once(s: State, c: Constants, t: int) -> bool:
    """A half that was read in the place of one that retention has deleted is not delivered for that."""
    return not (is_delivered_twice(s, t) and s.transaction[t].cause == Cause.READ_FOR_ANOTHER)


@always("S1", clause="unexplained", t=each("transactions"))
def every_second_delivery_has_a_cause(s: State, c: Constants, t: int) -> bool:
    """There is no second delivery that the other clauses do not speak of."""
    is_explained = s.transaction[t].cause != Cause.NONE or s.transaction[t].delivered_twice_for_one
    return not is_delivered_twice(s, t) or is_explained


@sometimes("S1", t=each("transactions"))
def a_check_led_to_a_delivery(s: State, c: Constants, t: int) -> bool:
    """Some transaction is delivered once, from a copy that was put back for a check."""
    return s.transaction[t].deliveries == 1 and any(
        s.half[h].transaction == t and s.half[h].check_times > 0 and s.half[h].acknowledged for h in range(c.half_slots)
    )
