"""S5: consumers see nothing of a message before a commit of it was sent."""

import numpy as np
from polars import col

from spark_trace_analysis.judge.properties.invariant import Codes, Invariant, RunSettings, Until, WholeTraces
from spark_trace_analysis.judge.properties.kernel_room import forget, room_for
from spark_trace_analysis.judge.running_aggregates import COMMIT, Broken, Rows, count, is_event
from spark_trace_analysis.traces import events


def find_unasked(rows: WholeTraces, _actions: Codes, _settings: RunSettings, at: Until) -> None:
    """Find a delivery from a half for which no commit was sent before."""
    commit = 1
    is_asked_for = np.zeros(room_for(rows.half), np.bool_)
    for n in range(len(at)):
        forget(is_asked_for, rows.half, rows.starts[n], rows.starts[n + 1], False)
        for row in range(rows.starts[n], rows.starts[n + 1]):
            event, half = rows.event[row], rows.half[row]
            if half < 0:
                continue
            if event in (events.local_outcome, events.check_answered, events.end_sent):
                is_asked_for[half] = is_asked_for[half] or rows.outcome[row] == commit
            elif event == events.message_delivered and not is_asked_for[half]:
                at[n] = row - rows.starts[n] + 1
                break


def from_the_unasked_delivery(_settings: RunSettings) -> Broken:
    """A delivery from a half that no commit has named."""
    asks = is_event(events.local_outcome, events.check_answered, events.end_sent) & (col("outcome") == COMMIT)
    return Broken(
        {Rows.HALF: is_event(events.message_delivered) & (col("asked_for") == 0)},
        (count("asked_for", Rows.HALF, asks),),
    )


HALF_INVISIBILITY = Invariant(
    property_id="S5",
    sentence="no message is delivered but for a commit that named a half of it",
    shows="a real message is stored from a half for which no commit was sent; one that was sent may have been lost",
    needs="local_outcome",
    kernel=find_unasked,
    broken=from_the_unasked_delivery,
)
