"""S6: the message that is delivered is the one that was sent, whichever half of it was committed."""

import numpy as np
from polars import col, lit

from spark_trace_analysis.judge.properties import so_far
from spark_trace_analysis.judge.properties.invariant import Codes, Invariant, RunSettings, Until, WholeTraces
from spark_trace_analysis.judge.properties.kernel_room import forget, room_for
from spark_trace_analysis.judge.running_aggregates import Broken, Rows, is_event
from spark_trace_analysis.traces import events


def find_committed_copies(rows: WholeTraces, _actions: Codes, settings: RunSettings, at: Until) -> None:
    """Find a delivery from a copy, which has lost the flag of its message."""
    if settings.keeps_flag:
        return
    nowhere = -1
    first_half = np.full(room_for(rows.transaction), nowhere, np.int32)
    for n in range(len(at)):
        forget(first_half, rows.transaction, rows.starts[n], rows.starts[n + 1], nowhere)
        for row in range(rows.starts[n], rows.starts[n + 1]):
            t, half = rows.transaction[row], rows.half[row]
            if t < 0:
                continue
            if rows.event[row] == events.half_stored:
                first_half[t] = half
            elif (
                rows.event[row] == events.message_delivered
                and half >= 0
                and first_half[t] >= 0
                and half != first_half[t]
            ):
                at[n] = row - rows.starts[n] + 1
                break


def from_the_committed_copy(settings: RunSettings) -> Broken:
    """A delivery from another half than the send's, where copies lose the flag."""
    is_of_a_copy = (col("half") >= 0) & (col("first_half") >= 0) & (col("half") != col("first_half"))
    loses_flag = lit(not settings.keeps_flag)
    return Broken(
        {Rows.TRANSACTION: is_event(events.message_delivered) & is_of_a_copy & loses_flag}, (so_far.FIRST_HALF,)
    )


CONTENT_FIDELITY = Invariant(
    property_id="S6",
    sentence="no copy is committed that has lost the flag of its message",
    shows="a real message is stored from a half that no send stored; not, if the same message is sent again later",
    kernel=find_committed_copies,
    broken=from_the_committed_copy,
)
