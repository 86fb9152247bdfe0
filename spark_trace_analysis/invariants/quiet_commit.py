"""S9: a half whose END_TRANSACTION was acknowledged in time and before any check is never checked.

In time is here: within the timeout of the first half's being stored. A trace does not say whether a message carries a
longer immunity of its own, nor when it was born by another clock.
"""

import numpy as np
import numpy.typing as npt

from spark_trace_analysis.invariants import so_far
from spark_trace_analysis.invariants.invariant import Invariant, Rows, World
from spark_trace_analysis.invariants.kernel_room import forget, room_for


def find_needless_checks(  # noqa: C901 (one branch an event)
    starts: npt.NDArray[np.int64],
    rows: Rows,
    events: npt.NDArray[np.int16],
    actions: npt.NDArray[np.int16],
    world: World,
    at: npt.NDArray[np.int32],
) -> None:
    """Find the first check of a transaction, where an END_TRANSACTION of it was acknowledged before, in time."""
    stored, op_stored, op_buffered, op_lost, checked, unasked = events
    by_another_clock = actions[0]
    unsent, open_, quiet, not_judged = 0, 1, 2, 3
    size = room_for(rows.transaction)
    state = np.zeros(size, np.int8)
    since = np.zeros(size, np.int64)
    for n in range(len(at)):
        forget(state, rows.transaction, starts[n], starts[n + 1], unsent)
        for row in range(starts[n], starts[n + 1]):
            t, event = rows.transaction[row], rows.event[row]
            if t < 0:
                continue
            if event == stored:
                if rows.action[row] == by_another_clock:
                    state[t] = not_judged
                elif state[t] == unsent:
                    state[t] = open_
                    since[t] = rows.time[row]
                elif state[t] == open_:
                    since[t] = min(since[t], rows.time[row])
            elif (event in (op_stored, op_buffered, op_lost)) and rows.half[row] >= 0:
                if state[t] == open_:
                    state[t] = quiet if rows.time[row] - since[t] <= world.timeout else not_judged
                elif state[t] == unsent:
                    state[t] = not_judged
            elif event in (checked, unasked):
                if state[t] == quiet:
                    at[n] = row - starts[n] + 1
                    break
                state[t] = not_judged


_ACKNOWLEDGED = "event IN ('op_stored', 'op_buffered', 'op_lost') AND half >= 0"

QUIET_COMMIT = Invariant(
    property_id="S9",
    sentence="a half whose END_TRANSACTION was acknowledged in time and before any check is never checked",
    shows=(
        "a transaction is put back for a check although its END_TRANSACTION was acknowledged within the timeout and "
        "before; not, where only a longer immunity of its own makes that in time"
    ),
    is_exact=False,
    events=("half_stored", "op_stored", "op_buffered", "op_lost", "put_back_for_check", "put_back_unasked"),
    actions=("send_half_by_another_clock",),
    kernel=find_needless_checks,
    so_far={
        **so_far.CHECKED,
        "skewed": """count_if(
            event = 'half_stored' AND action = 'send_half_by_another_clock'
        ) OVER of_transaction""",
        "settled_first_at": f"first(if({_ACKNOWLEDGED}, time, NULL), true) OVER of_transaction",
    },
    and_then={
        "born": "min(if(event = 'half_stored' AND settled_first_at IS NULL, time, NULL)) OVER of_transaction",
    },
    suspect=f"""count_if(event IN ('put_back_for_check', 'put_back_unasked')) > 0
        AND count_if({_ACKNOWLEDGED}) > 0""",
    broken="""event IN ('put_back_for_check', 'put_back_unasked') AND transaction >= 0 AND checked = 1 AND skewed = 0
        AND settled_first_at - born <= timeout""",
)
