"""S4, no foreign resolution: an op entry resolves only the half that it was written for."""

from __future__ import annotations

from spec.constants import Constants
from spec.language import NONE, always, each, sometimes
from spec.state import Left, State


@always(
    "S4",
    clause="same_offsets",
    resembles=("B10",),
    needs=("power_loss or retention", "second_transaction"),
    h=each("half_slots"),
)
def an_op_entry_is_of_its_own_transaction(s: State, c: Constants, h: int) -> bool:
    """No half is settled by an END_TRANSACTION of another transaction, whose half stood at its place before."""
    return not (s.half[h].acknowledged and s.half[h].foreign)


@always(
    "S4",
    clause="foreign_original",
    resembles=("B56",),
    needs=("preset_original", "second_transaction"),
    h=each("half_slots"),
)
def a_half_knows_its_own_original(s: State, c: Constants, h: int) -> bool:
    """No half is passed for an op message of another transaction, which it came to name as that of its original."""
    return not (
        s.half[h].left == Left.SETTLED_ELSEWHERE
        and s.half[h].original != NONE
        and s.half[s.half[h].original].transaction != s.half[h].transaction
    )


@sometimes("S4", h=each("half_slots"))
def a_half_is_settled_by_its_own_end(s: State, c: Constants, h: int) -> bool:
    """Some half is settled by an END_TRANSACTION of its own transaction."""
    return s.half[h].acknowledged and not s.half[h].foreign
