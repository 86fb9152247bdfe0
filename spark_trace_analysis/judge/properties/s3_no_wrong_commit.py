"""S3: the message that is delivered is one whose producer decided to commit it."""

import numpy as np
import numpy.typing as npt
from polars import col

from spark_trace_analysis.judge.properties.invariant import Invariant, Rows, World
from spark_trace_analysis.judge.properties.kernel_room import forget, room_for
from spark_trace_analysis.judge.properties.running import COMMIT, Broken, Over, count, is_event


def find_undecided(
    starts: npt.NDArray[np.int64],
    rows: Rows,
    events: npt.NDArray[np.int16],
    _actions: npt.NDArray[np.int16],
    _world: World,
    at: npt.NDArray[np.int32],
) -> None:
    """Find a delivery before which no producer has committed."""
    delivered, decided = events
    commit = 1
    has_committed = np.zeros(room_for(rows.transaction), np.bool_)
    for n in range(len(at)):
        forget(has_committed, rows.transaction, starts[n], starts[n + 1], False)
        for row in range(starts[n], starts[n + 1]):
            t = rows.transaction[row]
            if t >= 0 and rows.event[row] == decided and rows.outcome[row] == commit:
                has_committed[t] = True
            elif t >= 0 and rows.event[row] == delivered and not has_committed[t]:
                at[n] = row - starts[n] + 1
                break


def from_the_undecided_delivery(_world: World) -> Broken:
    """A delivery before which no local transaction has committed."""
    commits = is_event("local_outcome") & (col("outcome") == COMMIT)
    return Broken(
        {Over.TRANSACTION: is_event("message_delivered") & (col("committed") == 0)},
        (count("committed", Over.TRANSACTION, commits),),
    )


NO_WRONG_COMMIT = Invariant(
    property_id="S3",
    sentence="no message is delivered whose local transaction is not committed",
    shows="a real message is stored, and no local transaction has committed before",
    is_exact=True,
    events=("message_delivered", "local_outcome"),
    needs="local_outcome",
    kernel=find_undecided,
    broken=from_the_undecided_delivery,
)
