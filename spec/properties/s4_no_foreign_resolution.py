"""S4, no foreign resolution: an op entry resolves only the half that it was written for."""

from __future__ import annotations

from spec.constants import Constants
from spec.language import always, each, sometimes
from spec.state import State


@always(
    "S4", clause="same_offsets", resembles=("B10",), needs=("power_loss", "second_transaction"), h=each("half_slots")
)
def an_op_entry_is_of_its_own_transaction(s: State, c: Constants, h: int) -> bool:
    """No half is settled by an END_TRANSACTION of another transaction, whose half stood at its place before."""
    return not (s.half[h].acknowledged and s.half[h].foreign)


@sometimes("S4", h=each("half_slots"))
def a_half_is_settled_by_its_own_end(s: State, c: Constants, h: int) -> bool:
    """Some half is settled by an END_TRANSACTION of its own transaction."""
    return s.half[h].acknowledged and not s.half[h].foreign
