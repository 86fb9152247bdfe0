"""S8: a half is put aside only if nobody has settled it. What the saved half offset passes is in no event."""

import numpy as np
import numpy.typing as npt
from polars import lit

from spark_trace_analysis.judge.properties import so_far
from spark_trace_analysis.judge.properties.invariant import Invariant, Rows, World
from spark_trace_analysis.judge.properties.kernel_room import forget, room_for
from spark_trace_analysis.judge.properties.running import Broken, Over, is_action, is_event


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
            if half < 0:
                continue
            if event == stored:
                is_settled[half] = False
            elif event in (op_stored, op_buffered, op_lost):
                is_settled[half] = True
            elif event == discarded and is_settled[half] and rows.action[row] != unrecorded:
                at[n] = row - starts[n] + 1
                break


def from_the_parked_half(world: World) -> Broken:
    """A settled half that is put aside, where that is kept."""
    is_kept = is_event("half_discarded") & ~is_action("discard_half_unrecorded") & lit(bool(world.keeps_discarded))
    return Broken({Over.HALF: is_kept & so_far.IS_SETTLED}, (so_far.FILLED_AT, so_far.SETTLED_AT))


HALF_OFFSET_SAFETY = Invariant(
    property_id="S8",
    sentence="no half is discarded for which an END_TRANSACTION was acknowledged before",
    shows="a settled half goes to the discard topic; what the saved half offset passes is in no event",
    is_exact=False,
    events=("half_stored", "op_stored", "op_buffered", "op_lost", "half_discarded"),
    actions=("discard_half_unrecorded",),
    kernel=find_parked_although_settled,
    broken=from_the_parked_half,
)
