"""S7, op-offset safety: the op offset has not passed an op message that names a half no round has looked at."""

from __future__ import annotations

from spec.constants import Constants
from spec.language import always, each, sometimes
from spec.state import State


@always(
    "S7",
    clause="in_memory",
    resembles=("A02", "A15", "B56"),
    needs=(
        "third_transaction or twin_send or slow_round or put_failure or null_half or undecodable_op or clock_step"
        " or crash or power_loss or offset_regression or preset_original or graceful_stop or retention",
    ),
    o=each("op_slots"),
    h=each("half_slots"),
)
def no_passed_op_names_a_half_ahead(s: State, c: Constants, o: int, h: int) -> bool:
    """Between rounds, no op message below the op offset names a half that is there, at or above the half offset."""
    is_ahead = h >= max(s.offsets.half, s.gone.halves)
    return s.round.running or o >= s.offsets.op or not s.op[o].names.has(h) or not is_ahead


@always(
    "S7",
    clause="in_the_file",
    resembles=("A02", "A15", "B56"),
    needs=(
        "second_transaction or twin_send or slow_round or null_half or crash or power_loss or offset_regression"
        " or graceful_stop or slow_proxy",
    ),
    o=each("op_slots"),
    h=each("half_slots"),
)
def no_op_that_a_restart_passes_names_a_half_ahead(s: State, c: Constants, o: int, h: int) -> bool:
    """No op message below the saved op offset names a half that is there, at or above the saved half offset."""
    return o >= s.saved.op or not s.op[o].names.has(h) or h < max(s.saved.half, s.gone.halves)


@sometimes("S7")
def the_op_offset_moves(s: State, c: Constants) -> bool:
    """Some op message is behind the op offset."""
    return s.offsets.op > 0
