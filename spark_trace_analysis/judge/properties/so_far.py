"""The running aggregates that several properties use, as named columns."""

from polars import col, lit, when

from spark_trace_analysis.judge.running_aggregates import FILLED, Known, Rows, count, is_action, is_event, last
from spark_trace_analysis.traces import events
from spark_trace_analysis.traces.runs import RunSettings
from spec.chapters import discarding

PUT_BACK = is_event(events.put_back_for_check, events.put_back_for_immunity, events.put_back_unasked)
LEFT_BEHIND = PUT_BACK | is_event(events.half_passed, events.half_discarded, events.half_missed, events.half_escaped)
"""A half by which a round has come further."""

END_OF_A_PROCESS = is_event(
    events.crashed, events.stopped, events.role_changed, events.power_lost, events.offsets_regressed
)
ACKNOWLEDGEMENT = is_event(events.op_stored, events.op_buffered, events.op_lost) & (col("half") >= 0)
"""An END_TRANSACTION for a half was answered SUCCESS."""

DELIVERED = count("delivered", Rows.TRANSACTION, is_event(events.message_delivered))
"""Real messages of the transaction."""

ACKNOWLEDGED = count("acknowledged", Rows.TRANSACTION, ACKNOWLEDGEMENT)

SENT = count("sent", Rows.TRANSACTION, is_event(events.half_stored))
"""Halves that its producer's sends stored."""

FIRST_HALF = last("first_half", Rows.TRANSACTION, when(is_event(events.half_stored)).then("half"))
"""The offset that the producer knows: that of the last half which a send stored."""

POWER_LOST = count("power_lost", Rows.TRACE, is_event(events.power_lost))
"""How often the machine has lost power: from then on, offsets may have been filled twice."""

ESCAPED = count("escaped", Rows.TRACE, is_event(events.half_escaped))
"""Halves that were sent to another broker; one whose answer was lost is of no transaction in a trace."""

MOVED = last(
    "moved",
    Rows.TRACE,
    when(LEFT_BEHIND).then(lit(1)).when(END_OF_A_PROCESS | is_event(events.round_ended)).then(lit(0)),
    is_before=True,
)
"""1 if some half was left behind since a round, or the process, last ended."""

FILLED_AT = last("filled_at", Rows.HALF, when(is_event(events.half_stored) | (col("event") == FILLED)).then("step"))
SETTLED_AT = last("settled_at", Rows.HALF, when(ACKNOWLEDGEMENT).then("step"))
IS_SETTLED = col("settled_at") >= col("filled_at").fill_null(-1)
"""The message that fills the half's offset was acknowledged; what was there before it does not count."""


def parked(settings: RunSettings) -> Known:
    """Halves of the transaction that went to the discard topic."""
    is_parked = is_event(events.half_discarded) & ~is_action(discarding.discard_half_unrecorded)
    return count("parked", Rows.TRANSACTION, is_parked & lit(bool(settings.keeps_discarded)))
