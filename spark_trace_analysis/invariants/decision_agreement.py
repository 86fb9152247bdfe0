"""S2: no transaction is both rolled back and delivered.

A rollback is acknowledged when its op message is stored or lost at that, or joins a batch in memory; a broker's own
trace may say so in one event, ``half_rolled_back``, as does that of a half which was rolled back on another broker.
"""

import numpy as np
import numpy.typing as npt

from spark_trace_analysis.invariants.invariant import Invariant


def find_contradicted(
    starts: npt.NDArray[np.int64],
    event: npt.NDArray[np.int16],
    transaction: npt.NDArray[np.int32],
    outcome: npt.NDArray[np.int8],
    codes: npt.NDArray[np.int16],
    violated: npt.NDArray[np.bool_],
) -> None:
    """Mark the traces in which the broker both rolled back and delivered one transaction, in whatever order."""
    delivered, rolled_back, op_stored, op_buffered, op_lost = codes[0], codes[1], codes[2], codes[3], codes[4]
    rollback = 2
    largest = -1
    for row in range(len(transaction)):
        largest = max(largest, transaction[row])
    seen = np.zeros((largest + 1, 2), np.bool_)
    for n in range(len(violated)):
        seen[:] = False
        for row in range(starts[n], starts[n + 1]):
            t = transaction[row]
            if t < 0:
                continue
            names_op = event[row] in (op_stored, op_buffered, op_lost)
            if event[row] == delivered:
                seen[t, 0] = True
            elif event[row] == rolled_back or (names_op and outcome[row] == rollback):
                seen[t, 1] = True
            if seen[t, 0] and seen[t, 1]:
                violated[n] = True


DECISION_AGREEMENT = Invariant(
    property_id="S2",
    sentence="no transaction is both rolled back and delivered",
    events=("message_delivered", "half_rolled_back", "op_stored", "op_buffered", "op_lost"),
    kernel=find_contradicted,
    query="""
        SELECT DISTINCT run, trace FROM (
            SELECT run, trace, transaction
            FROM events
            WHERE transaction >= 0 AND (
                event IN ('message_delivered', 'half_rolled_back')
                OR (event IN ('op_stored', 'op_buffered', 'op_lost') AND outcome = 2))
            GROUP BY run, trace, transaction
            HAVING max(event = 'message_delivered') AND NOT min(event = 'message_delivered')
        )
    """,
)
