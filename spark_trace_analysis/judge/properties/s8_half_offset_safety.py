"""S8: a half is put aside only if nobody has settled it. What the saved half offset passes is in no event."""

import numpy as np
from polars import lit

from spark_trace_analysis.judge.properties import so_far
from spark_trace_analysis.judge.properties.invariant import Codes, Invariant, RunSettings, Until, WholeTraces
from spark_trace_analysis.judge.properties.kernel_room import ACKNOWLEDGEMENTS, forget, room_for
from spark_trace_analysis.judge.running_aggregates import Broken, Rows, is_action, is_event
from spark_trace_analysis.traces import events
from spec.chapters import discarding


def find_parked_although_settled(rows: WholeTraces, actions: Codes, settings: RunSettings, at: Until) -> None:
    """Find a half that is discarded after an END_TRANSACTION for it was acknowledged."""
    if not settings.keeps_discarded:
        return
    unrecorded = actions[0]
    is_settled = np.zeros(max(room_for(rows.half), room_for(rows.copy)), np.bool_)
    for n in range(len(at)):
        forget(is_settled, rows.half, rows.starts[n], rows.starts[n + 1], False)
        forget(is_settled, rows.copy, rows.starts[n], rows.starts[n + 1], False)
        for row in range(rows.starts[n], rows.starts[n + 1]):
            event, half = rows.event[row], rows.half[row]
            if rows.copy[row] >= 0:
                is_settled[rows.copy[row]] = False
            if half < 0:
                continue
            if event == events.half_stored:
                is_settled[half] = False
            elif event in ACKNOWLEDGEMENTS:
                is_settled[half] = True
            elif event == events.half_discarded and is_settled[half] and rows.action[row] != unrecorded:
                at[n] = row - rows.starts[n] + 1
                break


def from_the_parked_half(settings: RunSettings) -> Broken:
    """A settled half that is put aside, where that leaves a record."""
    is_recorded = (
        is_event(events.half_discarded)
        & ~is_action(discarding.discard_half_unrecorded)
        & lit(bool(settings.keeps_discarded))
    )
    return Broken({Rows.HALF: is_recorded & so_far.IS_SETTLED}, (so_far.FILLED_AT, so_far.SETTLED_AT))


HALF_OFFSET_SAFETY = Invariant(
    property_id="S8",
    sentence="no half is discarded for which an END_TRANSACTION was acknowledged before",
    shows="a settled half goes to the discard topic; what the saved half offset passes is in no event",
    actions=(discarding.discard_half_unrecorded,),
    kernel=find_parked_although_settled,
    broken=from_the_parked_half,
)
