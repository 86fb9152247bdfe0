"""S8, half-offset safety: the saved half offset passes a half only if it is settled, copied or kept aside."""

from __future__ import annotations

from spec.constants import Constants
from spec.language import always, each, sometimes
from spec.state import Left, Settled, State


def is_passed(s: State, h: int) -> bool:
    """No round will look at the half again, not even after a restart."""
    return h < s.saved.half


def is_passed_unsettled(s: State, h: int) -> bool:
    """The same, and no END_TRANSACTION that named it was carried out."""
    return is_passed(s, h) and h < s.half_length and s.half[h].settled == Settled.NO


@always(
    "S8",
    clause="discarded_without_a_record",
    resembles=("A31", "B31"),
    needs=("-keeps_discarded or put_failure",),
    h=each("half_slots"),
)
def a_discarded_half_leaves_a_record(s: State, c: Constants, h: int) -> bool:
    """A half that was discarded is kept in the discard topic."""
    return not is_passed_unsettled(s, h) or s.half[h].left != Left.DROPPED


@always(
    "S8",
    clause="neither_settled_nor_copied",
    resembles=("B14", "B55"),
    needs=("power_loss or retention",),
    h=each("half_slots"),
)
def a_passed_half_lives_on(s: State, c: Constants, h: int) -> bool:
    """A half behind the saved half offset was settled, put back or discarded: rounds looked at it."""
    return not is_passed_unsettled(s, h) or s.half[h].left != Left.NO


@always(
    "S8",
    clause="passed_over",
    resembles=("A07", "A08", "B51", "B55"),
    needs=("null_half or undecodable_half or retention",),
    h=each("half_slots"),
)
def no_half_is_passed_over(s: State, c: Constants, h: int) -> bool:
    """No half is behind the saved half offset that a round jumped over or skipped."""
    return not is_passed_unsettled(s, h) or s.half[h].left != Left.PASSED_OVER


@always(
    "S8",
    clause="skipped_by_exception",
    resembles=("A08",),
    needs=("+commits_after_exception", "null_half"),
    h=each("half_slots"),
)
def no_half_is_skipped_by_an_exception(s: State, c: Constants, h: int) -> bool:
    """No half is behind the saved half offset that a round jumped over before an exception ended it."""
    return not is_passed_unsettled(s, h) or s.half[h].left != Left.SKIPPED_BY_EXCEPTION


@always("S8", clause="copy_lost", resembles=("B13",), needs=("power_loss",), h=each("half_slots"))
def a_copy_survives_with_the_offset(s: State, c: Constants, h: int) -> bool:
    """No half is behind the saved half offset whose copy a power loss has taken."""
    return not is_passed_unsettled(s, h) or s.half[h].left != Left.COPY_LOST


@always("S8", clause="escape_given_up", resembles=("B21",), needs=("acting_slave", "+escapes"), h=each("half_slots"))
def no_half_is_given_up(s: State, c: Constants, h: int) -> bool:
    """No half is behind the saved half offset that an acting slave could not send elsewhere."""
    return not is_passed_unsettled(s, h) or s.half[h].left != Left.GIVEN_UP


@always("S8", clause="parked_although_settled", resembles=("A10",), needs=("+keeps_discarded",), h=each("half_slots"))
def a_settled_half_is_not_parked(s: State, c: Constants, h: int) -> bool:
    """No half is discarded for which an END_TRANSACTION was acknowledged before."""
    return s.half[h].left != Left.SETTLED_ASIDE


@sometimes("S8", h=each("half_slots"))
def the_saved_half_offset_passes_a_copied_half(s: State, c: Constants, h: int) -> bool:
    """Some half that was put back for a check is behind the saved half offset."""
    return is_passed(s, h) and s.half[h].left == Left.FOR_CHECK
