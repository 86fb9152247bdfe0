"""L1, no orphan: every unresolved transaction is checked in the end, or lands in the discard topic.

As a safety property: no transaction is lost for good. It is lost when it is neither delivered nor rolled back nor
parked, nothing of it is under way, and no round will ever look at a half of it. One clause a way to be lost.
"""

from __future__ import annotations

from spec.constants import Constants
from spec.half_queue import stored_halves
from spec.language import always, each, sometimes
from spec.state import End, Left, Local, RolledBack, Settled, State


def is_lost(s: State, c: Constants, t: int) -> bool:
    """Nothing more will become of the transaction."""
    is_over = s.transaction[t].deliveries > 0 or s.transaction[t].rolled_back != RolledBack.NO
    is_elsewhere = s.transaction[t].parked or s.transaction[t].escaped > 0
    is_running = s.transaction[t].local == Local.NOT_SENT or s.transaction[t].local == Local.EXECUTING
    return not is_over and not is_elsewhere and not is_running and not is_ahead_of_a_round(s, c, t)


def is_ahead_of_a_round(s: State, c: Constants, t: int) -> bool:
    """Some half of the transaction is at or above the half offset, or an END_TRANSACTION or a check names one."""
    return any(
        h < s.half_length
        and s.half[h].transaction == t
        and (h >= s.offsets.half or s.half[h].end != End.NONE or s.half[h].check_in_flight)
        for h in range(c.half_slots)
    )


def was_left(s: State, c: Constants, t: int, how: Left) -> bool:
    """Some half of the transaction that no END_TRANSACTION settled was left in this way, and is not forgotten."""
    return any(
        h < s.half_length and s.half[h].transaction == t and s.half[h].left == how and s.half[h].settled == Settled.NO
        for h in range(c.half_slots)
    )


@always(
    "L1",
    clause="discarded_without_a_record",
    resembles=("A31", "B31"),
    needs=("-keeps_discarded or put_failure",),
    t=each("transactions"),
)
def no_transaction_ends_as_a_log_line(s: State, c: Constants, t: int) -> bool:
    """No transaction is lost as its half was discarded without a record."""
    was_dropped = was_left(s, c, t, Left.DROPPED) or s.transaction[t].dropped_before
    return not (is_lost(s, c, t) and was_dropped)


@always(
    "L1",
    clause="passed_over",
    resembles=("A07", "B14", "B51", "B55"),
    needs=("null_half or undecodable_half or power_loss or retention",),
    t=each("transactions"),
)
def no_transaction_is_passed_over(s: State, c: Constants, t: int) -> bool:
    """No transaction is lost as no round looked at its half."""
    is_unseen = (
        was_left(s, c, t, Left.NO)
        or was_left(s, c, t, Left.PASSED_OVER)
        or was_left(s, c, t, Left.SKIPPED_BY_EXCEPTION)
        or s.transaction[t].unseen_before
    )
    return not (is_lost(s, c, t) and is_unseen)


@always("L1", clause="copy_lost", resembles=("B13",), needs=("power_loss",), t=each("transactions"))
def no_transaction_is_lost_with_its_copy(s: State, c: Constants, t: int) -> bool:
    """No transaction is lost as a power loss took the copy, and not the offset that passed the half."""
    has_lost_its_copy = was_left(s, c, t, Left.COPY_LOST) or s.transaction[t].copy_lost_before
    return not (is_lost(s, c, t) and has_lost_its_copy)


@always("L1", clause="escape_given_up", resembles=("B21",), needs=("acting_slave", "+escapes"), t=each("transactions"))
def no_transaction_is_given_up(s: State, c: Constants, t: int) -> bool:
    """No transaction is lost as an acting slave could not send its half elsewhere."""
    was_given_up = was_left(s, c, t, Left.GIVEN_UP) or s.transaction[t].given_up_before
    return not (is_lost(s, c, t) and was_given_up)


@always("L1", clause="half_lost", needs=("power_loss or retention",), t=each("transactions"))
def no_transaction_is_lost_with_its_half(s: State, c: Constants, t: int) -> bool:
    """No transaction is lost as a power loss took its only half, although the send was answered."""
    return not is_lost(s, c, t) or stored_halves(s, c, t) > 0


@sometimes("L1", t=each("transactions"))
def a_transaction_is_parked(s: State, c: Constants, t: int) -> bool:
    """Some transaction lands in the discard topic, undelivered."""
    return s.transaction[t].parked and s.transaction[t].deliveries == 0
