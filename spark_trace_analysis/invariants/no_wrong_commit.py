"""S3: the message that is delivered is one whose producer decided to commit it."""

import numpy as np
import numpy.typing as npt

from spark_trace_analysis.invariants import so_far
from spark_trace_analysis.invariants.invariant import Invariant, Rows, World
from spark_trace_analysis.invariants.kernel_room import forget, room_for


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


NO_WRONG_COMMIT = Invariant(
    property_id="S3",
    sentence="no message is delivered whose local transaction is not committed",
    shows="a real message is stored, and no local transaction has committed before",
    is_exact=True,
    events=("message_delivered", "local_outcome"),
    needs="local_outcome",
    kernel=find_undecided,
    so_far={"committed": "count_if(event = 'local_outcome' AND outcome = 1) OVER of_transaction"},
    suspect=so_far.is_missing_before(
        "event = 'message_delivered'", "event = 'local_outcome' AND outcome = 1", "transaction"
    ),
    broken="event = 'message_delivered' AND transaction >= 0 AND committed = 0",
)
