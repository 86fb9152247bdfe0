"""S2: no transaction is both rolled back and delivered, nor delivered for the first time when it was parked.

A rollback is acknowledged when its op message is stored or lost at that, or joins a batch in memory; a broker's own
trace may say so in one event, ``half_rolled_back``, as does that of a half which was rolled back on another broker.
"""

import numpy as np
from polars import col

from spark_trace_analysis.judge.properties import so_far
from spark_trace_analysis.judge.properties.invariant import Codes, Invariant, RunSettings, Until, WholeTraces
from spark_trace_analysis.judge.properties.kernel_room import ACKNOWLEDGEMENTS, forget, room_for
from spark_trace_analysis.judge.running_aggregates import ROLLBACK, Broken, Rows, count, is_event
from spark_trace_analysis.traces import events
from spec.chapters import discarding


def find_contradicted(rows: WholeTraces, actions: Codes, settings: RunSettings, at: Until) -> None:
    """Find the event by which the broker has both delivered one transaction and decided against it."""
    unrecorded = actions[0]
    rollback = 2
    is_delivered, is_rolled_back, is_parked = 1, 2, 4
    seen = np.zeros(room_for(rows.transaction), np.int8)
    for n in range(len(at)):
        forget(seen, rows.transaction, rows.starts[n], rows.starts[n + 1], 0)
        for row in range(rows.starts[n], rows.starts[n + 1]):
            t, event = rows.transaction[row], rows.event[row]
            if t < 0:
                continue
            names_op = event in ACKNOWLEDGEMENTS
            if event == events.message_delivered:
                if seen[t] & is_delivered == 0 and seen[t] & is_parked and rows.half[row] >= 0:
                    at[n] = row - rows.starts[n] + 1
                    break
                seen[t] |= is_delivered
            elif event == events.half_rolled_back or (names_op and rows.outcome[row] == rollback):
                seen[t] |= is_rolled_back
            elif event == events.half_discarded and settings.keeps_discarded and rows.action[row] != unrecorded:
                seen[t] |= is_parked
            if seen[t] & is_delivered and seen[t] & is_rolled_back:
                at[n] = row - rows.starts[n] + 1
                break


def from_the_contradiction(settings: RunSettings) -> Broken:
    """What is both, and the first delivery of what lies aside."""
    rolled_back = is_event(events.half_rolled_back) | (
        is_event(events.op_stored, events.op_buffered, events.op_lost) & (col("outcome") == ROLLBACK)
    )
    is_first_delivery = is_event(events.message_delivered) & (col("half") >= 0) & (col("delivered") == 1)
    return Broken(
        {
            Rows.TRANSACTION: ((col("delivered") > 0) & (col("rolled_back") > 0))
            | (is_first_delivery & (col("parked") > 0))
        },
        (so_far.DELIVERED, so_far.parked(settings), count("rolled_back", Rows.TRANSACTION, rolled_back)),
    )


DECISION_AGREEMENT = Invariant(
    property_id="S2",
    sentence="no transaction is both rolled back and delivered, or delivered when it was parked",
    shows="a rollback is acknowledged and a real message stored, or a real message when the half lies aside",
    is_exact=True,
    actions=(discarding.discard_half_unrecorded,),
    kernel=find_contradicted,
    broken=from_the_contradiction,
)
