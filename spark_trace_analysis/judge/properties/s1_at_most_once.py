"""S1: a transaction is delivered at most once."""

import numpy as np
import numpy.typing as npt
from polars import col

from spark_trace_analysis.judge.properties import so_far
from spark_trace_analysis.judge.properties.invariant import Invariant, Rows, World
from spark_trace_analysis.judge.properties.kernel_room import forget, room_for
from spark_trace_analysis.judge.properties.running import Broken, Over, is_event


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


def from_the_second_delivery(_world: World) -> Broken:
    """A transaction's second delivery, and its later ones."""
    return Broken({Over.TRANSACTION: is_event("message_delivered") & (col("delivered") >= 2)}, (so_far.DELIVERED,))


AT_MOST_ONE_DELIVERY = Invariant(
    property_id="S1",
    sentence="a transaction is delivered at most once",
    shows="two real messages of one transaction are stored",
    is_exact=True,
    events=("message_delivered",),
    kernel=find_doubled,
    broken=from_the_second_delivery,
)
