"""S1: a transaction is delivered at most once."""

import numpy as np
import numpy.typing as npt

from spark_trace_analysis.invariants.invariant import Invariant


def find_doubled(
    starts: npt.NDArray[np.int64],
    event: npt.NDArray[np.int16],
    transaction: npt.NDArray[np.int32],
    outcome: npt.NDArray[np.int8],  # noqa: ARG001 (all kernels are called alike)
    codes: npt.NDArray[np.int16],
    violated: npt.NDArray[np.bool_],
) -> None:
    """Mark the traces in which some transaction's message reached its consumers twice or more."""
    delivered = codes[0]
    largest = -1
    for row in range(len(transaction)):
        largest = max(largest, transaction[row])
    is_delivered = np.zeros(largest + 1, np.bool_)
    for n in range(len(violated)):
        is_delivered[:] = False
        for row in range(starts[n], starts[n + 1]):
            if event[row] == delivered and transaction[row] >= 0:
                if is_delivered[transaction[row]]:
                    violated[n] = True
                is_delivered[transaction[row]] = True


AT_MOST_ONE_DELIVERY = Invariant(
    property_id="S1",
    sentence="a transaction is delivered at most once",
    events=("message_delivered",),
    kernel=find_doubled,
    query="""
        SELECT DISTINCT run, trace FROM (
            SELECT run, trace, transaction
            FROM events
            WHERE event = 'message_delivered' AND transaction >= 0
            GROUP BY run, trace, transaction
            HAVING count(*) > 1
        )
    """,
)
