"""S9: a half whose END_TRANSACTION was acknowledged in time and before any check is never checked.

In time is here: within the timeout of the first half's being stored. A trace does not say whether a message carries a
longer immunity of its own, nor when it was born by another clock.
"""

import numpy as np
from polars import col, when

from spark_trace_analysis.judge.properties import so_far
from spark_trace_analysis.judge.properties.invariant import Codes, Invariant, RunSettings, Until, WholeTraces
from spark_trace_analysis.judge.properties.kernel_room import ACKNOWLEDGEMENTS, forget, room_for
from spark_trace_analysis.judge.running_aggregates import Broken, Rows, count, first, is_action, is_event, least
from spark_trace_analysis.traces import events
from spec.chapters import producer


def find_needless_checks(  # noqa: C901 (one branch an event)
    rows: WholeTraces, actions: Codes, settings: RunSettings, at: Until
) -> None:
    """Find the first check of a transaction, where an END_TRANSACTION of it was acknowledged before, in time."""
    by_another_clock = actions[0]
    unsent, open_, quiet, not_judged = 0, 1, 2, 3
    size = room_for(rows.transaction)
    state = np.zeros(size, np.int8)
    since = np.zeros(size, np.int64)
    for n in range(len(at)):
        forget(state, rows.transaction, rows.starts[n], rows.starts[n + 1], unsent)
        for row in range(rows.starts[n], rows.starts[n + 1]):
            t, event = rows.transaction[row], rows.event[row]
            if t < 0:
                continue
            if event == events.half_stored:
                if rows.action[row] == by_another_clock:
                    state[t] = not_judged
                elif state[t] == unsent:
                    state[t] = open_
                    since[t] = rows.time[row]
                elif state[t] == open_:
                    since[t] = min(since[t], rows.time[row])
            elif (event in ACKNOWLEDGEMENTS) and rows.half[row] >= 0:
                if state[t] == open_:
                    state[t] = quiet if rows.time[row] - since[t] <= settings.timeout else not_judged
                elif state[t] == unsent:
                    state[t] = not_judged
            elif event in (events.put_back_for_check, events.put_back_unasked):
                if state[t] == quiet:
                    at[n] = row - rows.starts[n] + 1
                    break
                state[t] = not_judged


def from_the_needless_check(settings: RunSettings) -> Broken:
    """The first check of what was acknowledged in time after its oldest half was born."""
    skewed = is_event(events.half_stored) & is_action(producer.send_half_by_another_clock)
    is_still_open = is_event(events.half_stored) & col("settled_first_at").is_null()
    is_in_time = col("settled_first_at") - col("born") <= settings.timeout
    is_check = is_event(events.put_back_for_check, events.put_back_unasked)
    is_first_check = is_check & (col("checked") == 1)
    return Broken(
        {Rows.TRANSACTION: is_first_check & (col("skewed") == 0) & is_in_time},
        (
            count("checked", Rows.TRANSACTION, is_check),
            count("skewed", Rows.TRANSACTION, skewed),
            first("settled_first_at", Rows.TRANSACTION, when(so_far.ACKNOWLEDGEMENT).then("time")),
            least("born", Rows.TRANSACTION, when(is_still_open).then("time")),
        ),
    )


QUIET_COMMIT = Invariant(
    property_id="S9",
    sentence="a half whose END_TRANSACTION was acknowledged in time and before any check is never checked",
    shows=(
        "a transaction is put back for a check although its END_TRANSACTION was acknowledged within the timeout and "
        "before; not, where only a longer immunity of its own makes that in time"
    ),
    actions=(producer.send_half_by_another_clock,),
    kernel=find_needless_checks,
    broken=from_the_needless_check,
)
