"""S6: the message that is delivered is the one that was sent, whichever half of it was committed."""

import numpy as np
import numpy.typing as npt
from polars import col, lit

from spark_trace_analysis.judge.properties import so_far
from spark_trace_analysis.judge.properties.invariant import Invariant, Rows, World
from spark_trace_analysis.judge.properties.kernel_room import forget, room_for
from spark_trace_analysis.judge.properties.running import Broken, Over, is_event


def find_committed_copies(
    starts: npt.NDArray[np.int64],
    rows: Rows,
    events: npt.NDArray[np.int16],
    _actions: npt.NDArray[np.int16],
    world: World,
    at: npt.NDArray[np.int32],
) -> None:
    """Find a delivery from a copy, which has lost the flag of its message."""
    if world.keeps_flag:
        return
    delivered, stored = events
    nowhere = -1
    first_half = np.full(room_for(rows.transaction), nowhere, np.int32)
    for n in range(len(at)):
        forget(first_half, rows.transaction, starts[n], starts[n + 1], nowhere)
        for row in range(starts[n], starts[n + 1]):
            t, half = rows.transaction[row], rows.half[row]
            if t < 0:
                continue
            if rows.event[row] == stored:
                first_half[t] = half
            elif rows.event[row] == delivered and half >= 0 and first_half[t] >= 0 and half != first_half[t]:
                at[n] = row - starts[n] + 1
                break


def from_the_committed_copy(world: World) -> Broken:
    """A delivery from another half than the send's, where copies lose the flag."""
    is_of_a_copy = (col("half") >= 0) & (col("first_half") >= 0) & (col("half") != col("first_half"))
    loses_flag = lit(not world.keeps_flag)
    return Broken({Over.TRANSACTION: is_event("message_delivered") & is_of_a_copy & loses_flag}, (so_far.FIRST_HALF,))


CONTENT_FIDELITY = Invariant(
    property_id="S6",
    sentence="no copy is committed that has lost the flag of its message",
    shows="a real message is stored from a half that no send stored; not, if the same message is sent again later",
    is_exact=False,
    events=("message_delivered", "half_stored"),
    kernel=find_committed_copies,
    broken=from_the_committed_copy,
)
