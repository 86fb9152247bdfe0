"""Wording of the broker's process and disk, of operators and of time."""

from model_check.wording.actions import Wording, arrow, bar, box

persist_offsets = Wording("the consumer offsets are saved", box("Broker", "offsets saved"))
flush_log = Wording("the commit log is flushed to disk", box("Broker", "commit log flushed"))
set_half_offset_back = Wording("the half offset goes back to {h}", box("Broker", "half offset back at {h}"))
set_op_offset_back = Wording("the op offset goes back to {o}", box("Broker", "op offset back at {o}"))
resume_discarded = Wording(
    "an operator puts the discarded half {h} back into the half queue, as half {last}",
    arrow("Operator", "Half queue", "half {copy}: half {h} resumed"),
)
crash = Wording("the broker's process dies and starts again", bar("the broker's process dies and starts again"))
lose_power = Wording(
    "the machine loses power: the first {records} messages of the commit log are left",
    bar("power loss: {records} records are left"),
)
step_clock_back = Wording("the broker's clock steps back", bar("the clock goes back by a tick"))
tick = Wording(None, bar("a tick passes"))
