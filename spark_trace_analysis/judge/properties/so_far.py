"""What several properties ask of the rows before: columns, by the names under which they are known."""

from polars import col, lit, when

from spark_trace_analysis.judge.properties.invariant import World
from spark_trace_analysis.judge.properties.running import FILLED, Known, Over, count, is_action, is_event, last

PUT_BACK = is_event("put_back_for_check", "put_back_for_immunity", "put_back_unasked")
LEFT_BEHIND = PUT_BACK | is_event("half_passed", "half_discarded", "half_missed", "half_escaped")
"""A half by which a round has come further."""

END_OF_A_PROCESS = is_event("crashed", "stopped", "role_changed", "power_lost", "offsets_regressed")
ACKNOWLEDGEMENT = is_event("op_stored", "op_buffered", "op_lost") & (col("half") >= 0)
"""An END_TRANSACTION for a half was answered SUCCESS."""

DELIVERED = count("delivered", Over.TRANSACTION, is_event("message_delivered"))
"""Real messages of the transaction."""

ACKNOWLEDGED = count("acknowledged", Over.TRANSACTION, ACKNOWLEDGEMENT)

CHECKED = count("checked", Over.TRANSACTION, is_event("put_back_for_check", "put_back_unasked"))
"""Copies of its half that were stored for a check, be it that nobody could be asked."""

SENT = count("sent", Over.TRANSACTION, is_event("half_stored"))
"""Halves that its producer's sends stored."""

FIRST_HALF = last("first_half", Over.TRANSACTION, when(is_event("half_stored")).then("half"))
"""The offset that the producer knows: that of the last half which a send stored."""

POWER_LOST = count("power_lost", Over.TRACE, is_event("power_lost"))
"""How often the machine has lost power: from then on, offsets may have been filled twice."""

ESCAPED = count("escaped", Over.TRACE, is_event("half_escaped"))
"""Halves that were sent to another broker; one whose answer was lost is of no transaction in a trace."""

MOVED = last(
    "moved",
    Over.TRACE,
    when(LEFT_BEHIND).then(lit(1)).when(END_OF_A_PROCESS | is_event("round_ended")).then(lit(0)),
    is_before=True,
)
"""1 if some half was left behind since a round, or the process, last ended."""

FILLED_AT = last("filled_at", Over.HALF, when(is_event("half_stored") | (col("event") == FILLED)).then("step"))
SETTLED_AT = last("settled_at", Over.HALF, when(ACKNOWLEDGEMENT).then("step"))
IS_SETTLED = col("settled_at") >= col("filled_at").fill_null(-1)
"""The message that fills the half's offset was acknowledged; what was there before it does not count."""


def parked(world: World) -> Known:
    """Halves of the transaction that went to the discard topic."""
    is_parked = is_event("half_discarded") & ~is_action("discard_half_unrecorded")
    return count("parked", Over.TRANSACTION, is_parked & lit(bool(world.keeps_discarded)))
