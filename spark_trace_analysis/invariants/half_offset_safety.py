"""S8: a half is put aside only if nobody has settled it. What the saved half offset passes is in no event."""

import numpy as np
import numpy.typing as npt

from spark_trace_analysis.invariants.invariant import Invariant, Rows, World
from spark_trace_analysis.invariants.kernel_room import forget, room_for


def find_parked_although_settled(
    starts: npt.NDArray[np.int64],
    rows: Rows,
    events: npt.NDArray[np.int16],
    actions: npt.NDArray[np.int16],
    world: World,
    at: npt.NDArray[np.int32],
) -> None:
    """Find a half that is discarded after an END_TRANSACTION for it was acknowledged."""
    if not world.keeps_discarded:
        return
    stored, op_stored, op_buffered, op_lost, discarded = events
    unrecorded = actions[0]
    is_settled = np.zeros(max(room_for(rows.half), room_for(rows.copy)), np.bool_)
    for n in range(len(at)):
        forget(is_settled, rows.half, starts[n], starts[n + 1], False)
        forget(is_settled, rows.copy, starts[n], starts[n + 1], False)
        for row in range(starts[n], starts[n + 1]):
            event, half = rows.event[row], rows.half[row]
            if rows.copy[row] >= 0:
                is_settled[rows.copy[row]] = False
            elif half < 0:
                continue
            elif event == stored:
                is_settled[half] = False
            elif event in (op_stored, op_buffered, op_lost):
                is_settled[half] = True
            elif event == discarded and is_settled[half] and rows.action[row] != unrecorded:
                at[n] = row - starts[n] + 1
                break


_SETTLED = "event IN ('op_stored', 'op_buffered', 'op_lost') AND half >= 0"
_FILLED = "event = 'half_stored' OR copy >= 0"

HALF_OFFSET_SAFETY = Invariant(
    property_id="S8",
    sentence="no half is discarded for which an END_TRANSACTION was acknowledged before",
    shows="a settled half goes to the discard topic; what the saved half offset passes is in no event",
    is_exact=False,
    events=("half_stored", "op_stored", "op_buffered", "op_lost", "half_discarded"),
    actions=("discard_half_unrecorded",),
    kernel=find_parked_although_settled,
    so_far={
        "filled_at": f"max(if({_FILLED}, step, -1)) OVER of_slot",
        "settled_at": f"max(if({_SETTLED}, step, -1)) OVER of_slot",
    },
    suspect=f"count_if(event = 'half_discarded') > 0 AND count_if({_SETTLED}) > 0",
    broken="""event = 'half_discarded' AND half >= 0 AND keeps_discarded = 1 AND action <> 'discard_half_unrecorded'
        AND settled_at > filled_at""",
)
