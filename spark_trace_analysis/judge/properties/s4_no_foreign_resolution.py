"""S4: an op entry resolves only the half that it was written for."""

import numpy as np
import numpy.typing as npt
from polars import col, when

from spark_trace_analysis.judge.properties import so_far
from spark_trace_analysis.judge.properties.invariant import Invariant, Rows, World
from spark_trace_analysis.judge.properties.kernel_room import forget, room_for
from spark_trace_analysis.judge.properties.running import Broken, Over, is_action, is_event, last


def find_foreign(
    starts: npt.NDArray[np.int64],
    rows: Rows,
    events: npt.NDArray[np.int16],
    actions: npt.NDArray[np.int16],
    _world: World,
    at: npt.NDArray[np.int32],
) -> None:
    """Find a half that was settled and that another transaction's END_TRANSACTION has named."""
    stored, decided, op_stored, op_buffered, op_lost = events
    of_another = actions[0]
    is_foreign, is_settled = 1, 2
    marks = np.zeros(max(room_for(rows.half), room_for(rows.copy)), np.int8)
    for n in range(len(at)):
        forget(marks, rows.half, starts[n], starts[n + 1], 0)
        forget(marks, rows.copy, starts[n], starts[n + 1], 0)
        for row in range(starts[n], starts[n + 1]):
            event, half = rows.event[row], rows.half[row]
            if rows.copy[row] >= 0:
                marks[rows.copy[row]] = 0
            if half < 0:
                continue
            if event == stored:
                marks[half] = 0
            elif event == decided and rows.action[row] == of_another:
                marks[half] |= is_foreign
            elif event in (op_stored, op_buffered, op_lost):
                marks[half] |= is_settled
            if marks[half] == is_foreign | is_settled:
                at[n] = row - starts[n] + 1
                break


def from_the_foreign_settlement(_world: World) -> Broken:
    """What fills an offset is settled, and another transaction has asked for that."""
    asks = is_event("local_outcome") & is_action("commit_another_half")
    is_foreign = col("foreign_at") >= col("filled_at").fill_null(-1)
    return Broken(
        {Over.HALF: is_foreign & so_far.IS_SETTLED},
        (so_far.FILLED_AT, so_far.SETTLED_AT, last("foreign_at", Over.HALF, when(asks).then("step"))),
    )


NO_FOREIGN_RESOLUTION = Invariant(
    property_id="S4",
    sentence="no half is settled by another transaction's END_TRANSACTION",
    shows="an END_TRANSACTION of another transaction is sent for a half, and the half is settled",
    is_exact=True,
    events=("half_stored", "local_outcome", "op_stored", "op_buffered", "op_lost"),
    actions=("commit_another_half",),
    needs="local_outcome",
    kernel=find_foreign,
    broken=from_the_foreign_settlement,
)
