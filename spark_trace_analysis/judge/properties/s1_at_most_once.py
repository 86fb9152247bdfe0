"""S1: a transaction is delivered at most once."""

import numpy as np
from polars import col

from spark_trace_analysis.judge.properties import so_far
from spark_trace_analysis.judge.properties.invariant import Codes, Invariant, RunSettings, Until, WholeTraces
from spark_trace_analysis.judge.properties.kernel_room import forget, room_for
from spark_trace_analysis.judge.running_aggregates import Broken, Rows, is_event
from spark_trace_analysis.traces import events


def find_doubled(rows: WholeTraces, _actions: Codes, _settings: RunSettings, at: Until) -> None:
    """Find the second delivery of a transaction."""
    is_delivered = np.zeros(room_for(rows.transaction), np.bool_)
    for n in range(len(at)):
        forget(is_delivered, rows.transaction, rows.starts[n], rows.starts[n + 1], False)
        for row in range(rows.starts[n], rows.starts[n + 1]):
            t = rows.transaction[row]
            if rows.event[row] == events.message_delivered and t >= 0:
                if is_delivered[t]:
                    at[n] = row - rows.starts[n] + 1
                    break
                is_delivered[t] = True


def from_the_second_delivery(_settings: RunSettings) -> Broken:
    """A transaction's second delivery, and its later ones."""
    return Broken({Rows.TRANSACTION: is_event(events.message_delivered) & (col("delivered") >= 2)}, (so_far.DELIVERED,))


AT_MOST_ONE_DELIVERY = Invariant(
    property_id="S1",
    sentence="a transaction is delivered at most once",
    shows="two real messages of one transaction are stored",
    is_exact=True,
    kernel=find_doubled,
    broken=from_the_second_delivery,
)
