"""S4: an op entry resolves only the half that it was written for."""

import numpy as np
import numpy.typing as npt

from spark_trace_analysis.invariants.invariant import Invariant, Rows, World
from spark_trace_analysis.invariants.kernel_room import forget, room_for


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
                continue
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


_FOREIGN = "event = 'local_outcome' AND action = 'commit_another_half'"
_SETTLED = "event IN ('op_stored', 'op_buffered', 'op_lost') AND half >= 0"
_FILLED = "event = 'half_stored' OR copy >= 0"

NO_FOREIGN_RESOLUTION = Invariant(
    property_id="S4",
    sentence="no half is settled by another transaction's END_TRANSACTION",
    shows="an END_TRANSACTION of another transaction is sent for a half, and the half is settled",
    is_exact=True,
    events=("half_stored", "local_outcome", "op_stored", "op_buffered", "op_lost"),
    actions=("commit_another_half",),
    needs="local_outcome",
    kernel=find_foreign,
    so_far={
        "filled_at": f"max(if({_FILLED}, step, -1)) OVER of_slot",
        "foreign_at": f"max(if({_FOREIGN}, step, -1)) OVER of_slot",
        "settled_at": f"max(if({_SETTLED}, step, -1)) OVER of_slot",
    },
    suspect=f"count_if({_FOREIGN}) > 0",
    broken="slot >= 0 AND foreign_at > filled_at AND settled_at > filled_at",
)
