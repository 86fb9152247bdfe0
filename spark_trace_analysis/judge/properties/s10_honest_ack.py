"""S10: SUCCESS to an END_TRANSACTION implies that its op entry survives."""

import numpy as np
from polars import col, lit, when

from spark_trace_analysis.judge.properties.invariant import Codes, Invariant, RunSettings, Until, WholeTraces
from spark_trace_analysis.judge.properties.kernel_room import forget, room_for
from spark_trace_analysis.judge.running_aggregates import Broken, Rows, count, is_action, is_event, last, mark
from spark_trace_analysis.traces import events
from spec.chapters import escape


def find_lost_entries(rows: WholeTraces, actions: Codes, settings: RunSettings, at: Until) -> None:
    """Find an op entry that was not stored, or that died in the op batch with the process."""
    acts = actions[0]
    is_named = np.zeros(room_for(rows.half), np.bool_)
    for n in range(len(at)):
        forget(is_named, rows.half, rows.starts[n], rows.starts[n + 1], False)
        waiting = False
        for row in range(rows.starts[n], rows.starts[n + 1]):
            event, half = rows.event[row], rows.half[row]
            is_lost = False
            is_end_of_batch = event == events.role_changed and rows.action[row] == acts
            if event == events.op_buffered and half >= 0:
                waiting = waiting or not is_named[half]
                is_named[half] = True
            elif event == events.op_stored:
                waiting = False
                if half >= 0:
                    is_named[half] = True
            elif event == events.op_lost and half >= 0:
                is_lost = not is_named[half]
            elif event in (events.op_lost, events.crashed, events.stopped) or is_end_of_batch:
                is_lost, waiting = waiting, False
            elif event == events.power_lost or (event == events.stop_began and settings.flushes_on_stop > 0):
                waiting = False
            if is_lost:
                at[n] = row - rows.starts[n] + 1
                break


def from_the_lost_entry(settings: RunSettings) -> Broken:
    """An entry that is not stored; an end of the process that finds one in the op batch."""
    names_half = col("half") >= 0
    ends = (is_event(events.op_lost) & ~names_half) | is_event(events.crashed, events.stopped)
    ends |= is_event(events.role_changed) & is_action(escape.act_for_dead_master)
    empties = is_event(events.op_stored, events.power_lost) | ends
    if settings.flushes_on_stop:
        empties |= is_event(events.stop_began)
    joins = mark("joins", Rows.HALF, is_event(events.op_buffered) & (col("named") == 1))
    return Broken(
        {Rows.HALF: is_event(events.op_lost) & (col("named") == 0), Rows.TRACE: ends & (col("waiting") == 1)},
        (
            count("named", Rows.HALF, is_event(events.op_stored, events.op_buffered)),
            joins,
            last("waiting", Rows.TRACE, when(col("joins")).then(lit(1)).when(empties).then(lit(0)), is_before=True),
        ),
    )


HONEST_ACKNOWLEDGEMENT = Invariant(
    property_id="S10",
    sentence="the op entry of an acknowledged END_TRANSACTION survives",
    shows=(
        "an op entry is not stored, or a process dies while one waits in the op batch; what a power loss takes of the "
        "op queue is in no event"
    ),
    actions=(escape.act_for_dead_master,),
    kernel=find_lost_entries,
    broken=from_the_lost_entry,
)
