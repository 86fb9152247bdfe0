"""S5: consumers see nothing of a message before a commit of it was sent."""

import numpy as np
import numpy.typing as npt
from polars import col

from spark_trace_analysis.judge.properties.invariant import Invariant, Rows, World
from spark_trace_analysis.judge.properties.kernel_room import forget, room_for
from spark_trace_analysis.judge.properties.running import COMMIT, Broken, Over, count, is_event


def find_unasked(
    starts: npt.NDArray[np.int64],
    rows: Rows,
    events: npt.NDArray[np.int16],
    _actions: npt.NDArray[np.int16],
    _world: World,
    at: npt.NDArray[np.int32],
) -> None:
    """Find a delivery from a half for which no commit was sent before."""
    delivered, decided, answered, sent = events
    commit = 1
    is_asked_for = np.zeros(room_for(rows.half), np.bool_)
    for n in range(len(at)):
        forget(is_asked_for, rows.half, starts[n], starts[n + 1], False)
        for row in range(starts[n], starts[n + 1]):
            event, half = rows.event[row], rows.half[row]
            if half < 0:
                continue
            if event in (decided, answered, sent):
                is_asked_for[half] = is_asked_for[half] or rows.outcome[row] == commit
            elif event == delivered and not is_asked_for[half]:
                at[n] = row - starts[n] + 1
                break


def from_the_unasked_delivery(_world: World) -> Broken:
    """A delivery from a half that no commit has named."""
    asks = is_event("local_outcome", "check_answered", "end_sent") & (col("outcome") == COMMIT)
    return Broken(
        {Over.HALF: is_event("message_delivered") & (col("asked_for") == 0)}, (count("asked_for", Over.HALF, asks),)
    )


HALF_INVISIBILITY = Invariant(
    property_id="S5",
    sentence="no message is delivered but for a commit that named a half of it",
    shows="a real message is stored from a half for which no commit was sent; one that was sent may have been lost",
    is_exact=False,
    events=("message_delivered", "local_outcome", "check_answered", "end_sent"),
    needs="local_outcome",
    kernel=find_unasked,
    broken=from_the_unasked_delivery,
)
