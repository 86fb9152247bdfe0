"""S8, half-offset safety: the saved half offset passes a half only if it is settled, copied or kept aside."""

from __future__ import annotations

from spec.constants import Constants
from spec.language import always, each, sometimes
from spec.state import Left, Settled, State


def is_passed(s: State, h: int) -> bool:
    """No round will look at the half again, not even after a restart."""
    return h < s.saved.half


@always("S8", clause="discarded_without_a_record", resembles=("A31",), h=each("half_slots"))
def a_discarded_half_leaves_a_record(s: State, c: Constants, h: int) -> bool:
    """A half that was discarded is kept in the discard topic."""
    return not is_passed(s, h) or s.half[h].left != Left.DROPPED or s.half[h].settled != Settled.NO


@always("S8", clause="neither_settled_nor_copied", resembles=("B13", "B14"), h=each("half_slots"))
def a_passed_half_lives_on(s: State, c: Constants, h: int) -> bool:
    """A half behind the saved half offset was settled, put back or discarded."""
    return not is_passed(s, h) or s.half[h].settled != Settled.NO or s.half[h].left != Left.NO


@sometimes("S8", h=each("half_slots"))
def the_saved_half_offset_passes_a_copied_half(s: State, c: Constants, h: int) -> bool:
    """Some half that was put back for a check is behind the saved half offset."""
    return is_passed(s, h) and s.half[h].left == Left.FOR_CHECK
