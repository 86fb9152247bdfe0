"""S1: a transaction is delivered at most once."""

import numpy as np
import numpy.typing as npt

from spark_trace_analysis.invariants import so_far
from spark_trace_analysis.invariants.invariant import Invariant, Rows, World
from spark_trace_analysis.invariants.kernel_room import forget, room_for


def find_doubled(
    starts: npt.NDArray[np.int64],
    rows: Rows,
    events: npt.NDArray[np.int16],
    _actions: npt.NDArray[np.int16],
    _world: World,
    at: npt.NDArray[np.int32],
) -> None:
    """Find the second delivery of a transaction."""
    (delivered,) = (events[0],)
    is_delivered = np.zeros(room_for(rows.transaction), np.bool_)
    for n in range(len(at)):
        forget(is_delivered, rows.transaction, starts[n], starts[n + 1], False)
        for row in range(starts[n], starts[n + 1]):
            t = rows.transaction[row]
            if rows.event[row] == delivered and t >= 0:
                if is_delivered[t]:
                    at[n] = row - starts[n] + 1
                    break
                is_delivered[t] = True


AT_MOST_ONE_DELIVERY = Invariant(
    property_id="S1",
    sentence="a transaction is delivered at most once",
    shows="two real messages of one transaction are stored",
    is_exact=True,
    events=("message_delivered",),
    kernel=find_doubled,
    so_far=so_far.DELIVERED,
    suspect=so_far.is_repeated("event = 'message_delivered'", "transaction"),
    broken="event = 'message_delivered' AND transaction >= 0 AND delivered >= 2",
)
