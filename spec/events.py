"""The events of a trace as plain data: what a row says, whoever wrote it.

A trace is a sequence of events of one broker: walked through the specification, recorded from the reference broker, or
read from a real store. Fields that do not apply hold -1 (or 0 for `outcome`).
"""

from __future__ import annotations

from typing import Final, NamedTuple


class EventField(NamedTuple):
    """One column: its name, its type (`int8`, `int16`, `int32`, `int64` or `string`) and what it means."""

    name: str
    kind: str
    meaning: str


FIELDS: Final = (
    EventField("trace", "int64", "number of the trace in its run"),
    EventField("step", "int32", "place in the trace, from 0"),
    EventField("time", "int64", "broker's clock: ticks when simulated, milliseconds since 1970 when real"),
    EventField("event", "string", "what happened, one of EVENTS"),
    EventField("action", "string", "the action of the specification, empty when it is not known"),
    EventField("transaction", "int32", "number of the transaction, in the order of their sends"),
    EventField("half", "int32", "queue offset of the half message that the event is about"),
    EventField("copy", "int32", "queue offset of the copy that a put-back stored"),
    EventField("op", "int32", "queue offset of the op message that was written"),
    EventField("check_times", "int32", "TRANSACTION_CHECK_TIMES of that half message, after a put-back of its copy"),
    EventField("outcome", "int8", "what an END_TRANSACTION or a producer says: an OUTCOMES index"),
)

OUTCOMES: Final = ("none", "commit", "rollback", "unknown")

EVENTS: Final = (
    "half_stored",
    "local_outcome",
    "end_sent",
    "message_delivered",
    "half_rolled_back",
    "op_buffered",
    "op_stored",
    "end_refused",
    "check_sent",
    "check_answered",
    "round_began",
    "ops_pulled",
    "half_passed",
    "put_back_for_check",
    "put_back_for_immunity",
    "half_discarded",
    "round_ended",
    "offsets_persisted",
    "message_lost",
    "crashed",
    "time_passed",
    "op_lost",
    "op_corrupted",
    "put_back_unasked",
    "half_missed",
    "half_escaped",
    "half_resumed",
    "producer_gone",
    "producer_back",
    "log_flushed",
    "power_lost",
    "stopped",
    "role_changed",
    "offsets_regressed",
    "clock_stepped_back",
    "stop_began",
    "files_deleted",
    "lower_ends_moved",
    "log_truncated",
)
"""The vocabulary. `message_delivered`: a real message is stored; `op_buffered`: a half joins the op batch in memory."""
