"""S10, honest acknowledgement: SUCCESS to an END_TRANSACTION implies that its op entry survives."""

from __future__ import annotations

from spec.constants import Constants
from spec.language import always, each, sometimes
from spec.op_pull import names_it_from
from spec.state import State


def has_lost_its_op_entry(s: State, c: Constants, h: int) -> bool:
    """An END_TRANSACTION of half h was acknowledged, and its op entry is neither in the batch nor in the op queue."""
    return s.half[h].acknowledged and not s.batch.names.has(h) and not names_it_from(s, c, h, 0)


@always(
    "S10",
    clause="op_entry_dies_with_the_process",
    resembles=("B02", "B03", "B53"),
    needs=("crash or power_loss or graceful_stop or acting_slave", "+batches_ops or power_loss"),
    h=each("half_slots"),
)
def an_acknowledged_end_keeps_its_op_entry(s: State, c: Constants, h: int) -> bool:
    """The op entry of an acknowledged END_TRANSACTION waits in the batch or stands in the op queue."""
    return s.half[h].op_write_failed or not has_lost_its_op_entry(s, c, h)


@always(
    "S10",
    clause="op_entry_not_stored",
    resembles=("B04",),
    needs=("op_write_failure or role_change",),
    h=each("half_slots"),
)
def an_acknowledged_end_stores_its_op_entry(s: State, c: Constants, h: int) -> bool:
    """No END_TRANSACTION is acknowledged whose op message could not be stored."""
    return not (s.half[h].op_write_failed and has_lost_its_op_entry(s, c, h))


@sometimes("S10", h=each("half_slots"))
def an_acknowledged_end_has_its_op_message(s: State, c: Constants, h: int) -> bool:
    """Some END_TRANSACTION is acknowledged, and the op queue names its half."""
    return s.half[h].acknowledged and names_it_from(s, c, h, 0)
