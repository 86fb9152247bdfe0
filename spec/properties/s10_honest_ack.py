"""S10, honest acknowledgement: SUCCESS to an END_TRANSACTION implies that its op entry survives."""

from __future__ import annotations

from spec.constants import Constants
from spec.half_queue import names_it_from
from spec.language import always, each, sometimes
from spec.state import State


@always("S10", clause="op_entry_dies_with_the_process", resembles=("B02",), h=each("half_slots"))
def an_acknowledged_end_keeps_its_op_entry(s: State, c: Constants, h: int) -> bool:
    """The op entry of an acknowledged END_TRANSACTION waits in the batch or stands in the op queue."""
    return not s.half[h].acknowledged or s.batch.names.has(h) or names_it_from(s, c, h, 0)


@sometimes("S10", h=each("half_slots"))
def an_acknowledged_end_has_its_op_message(s: State, c: Constants, h: int) -> bool:
    """Some END_TRANSACTION is acknowledged, and the op queue names its half."""
    return s.half[h].acknowledged and names_it_from(s, c, h, 0)
