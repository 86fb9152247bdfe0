"""S4: an op entry resolves only the half that it was written for."""

import numpy as np
from polars import col, when

from spark_trace_analysis.judge.properties import so_far
from spark_trace_analysis.judge.properties.invariant import Codes, Invariant, RunSettings, Until, WholeTraces
from spark_trace_analysis.judge.properties.kernel_room import ACKNOWLEDGEMENTS, forget, room_for
from spark_trace_analysis.judge.running_aggregates import Broken, Rows, is_action, is_event, last
from spark_trace_analysis.traces import events
from spec.chapters import producer


def find_foreign(rows: WholeTraces, actions: Codes, _settings: RunSettings, at: Until) -> None:
    """Find a half that was settled and that another transaction's END_TRANSACTION has named."""
    of_another = actions[0]
    is_foreign, is_settled = 1, 2
    marks = np.zeros(max(room_for(rows.half), room_for(rows.copy)), np.int8)
    for n in range(len(at)):
        forget(marks, rows.half, rows.starts[n], rows.starts[n + 1], 0)
        forget(marks, rows.copy, rows.starts[n], rows.starts[n + 1], 0)
        for row in range(rows.starts[n], rows.starts[n + 1]):
            event, half = rows.event[row], rows.half[row]
            if rows.copy[row] >= 0:
                marks[rows.copy[row]] = 0
            if half < 0:
                continue
            if event == events.half_stored:
                marks[half] = 0
            elif event == events.local_outcome and rows.action[row] == of_another:
                marks[half] |= is_foreign
            elif event in ACKNOWLEDGEMENTS:
                marks[half] |= is_settled
            if marks[half] == is_foreign | is_settled:
                at[n] = row - rows.starts[n] + 1
                break


def from_the_foreign_settlement(_settings: RunSettings) -> Broken:
    """What fills an offset is settled, and another transaction has asked for that."""
    asks = is_event(events.local_outcome) & is_action(producer.commit_another_half)
    is_foreign = col("foreign_at") >= col("filled_at").fill_null(-1)
    return Broken(
        {Rows.HALF: is_foreign & so_far.IS_SETTLED},
        (so_far.FILLED_AT, so_far.SETTLED_AT, last("foreign_at", Rows.HALF, when(asks).then("step"))),
    )


NO_FOREIGN_RESOLUTION = Invariant(
    property_id="S4",
    sentence="no half is settled by another transaction's END_TRANSACTION",
    shows="an END_TRANSACTION of another transaction is sent for a half, and the half is settled",
    is_exact=True,
    actions=(producer.commit_another_half,),
    needs="local_outcome",
    kernel=find_foreign,
    broken=from_the_foreign_settlement,
)
