"""S3: the message that is delivered is one whose producer decided to commit it."""

import numpy as np
from polars import col

from spark_trace_analysis.judge.properties.invariant import Codes, Invariant, RunSettings, Until, WholeTraces
from spark_trace_analysis.judge.properties.kernel_room import forget, room_for
from spark_trace_analysis.judge.running_aggregates import COMMIT, Broken, Rows, count, is_event
from spark_trace_analysis.traces import events


def find_undecided(rows: WholeTraces, _actions: Codes, _settings: RunSettings, at: Until) -> None:
    """Find a delivery before which no producer has committed."""
    commit = 1
    has_committed = np.zeros(room_for(rows.transaction), np.bool_)
    for n in range(len(at)):
        forget(has_committed, rows.transaction, rows.starts[n], rows.starts[n + 1], False)
        for row in range(rows.starts[n], rows.starts[n + 1]):
            t = rows.transaction[row]
            if t >= 0 and rows.event[row] == events.local_outcome and rows.outcome[row] == commit:
                has_committed[t] = True
            elif t >= 0 and rows.event[row] == events.message_delivered and not has_committed[t]:
                at[n] = row - rows.starts[n] + 1
                break


def from_the_undecided_delivery(_settings: RunSettings) -> Broken:
    """A delivery before which no local transaction has committed."""
    commits = is_event(events.local_outcome) & (col("outcome") == COMMIT)
    return Broken(
        {Rows.TRANSACTION: is_event(events.message_delivered) & (col("committed") == 0)},
        (count("committed", Rows.TRANSACTION, commits),),
    )


NO_WRONG_COMMIT = Invariant(
    property_id="S3",
    sentence="no message is delivered whose local transaction is not committed",
    shows="a real message is stored, and no local transaction has committed before",
    is_exact=True,
    needs="local_outcome",
    kernel=find_undecided,
    broken=from_the_undecided_delivery,
)
