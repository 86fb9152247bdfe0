"""L2: a half is discarded only after as many checks as ``transactionCheckMax`` says were really sent."""

import numpy as np
from polars import col, when

from spark_trace_analysis.judge.properties.invariant import Codes, Invariant, RunSettings, Until, WholeTraces
from spark_trace_analysis.judge.properties.kernel_room import forget, room_for
from spark_trace_analysis.judge.running_aggregates import Broken, Rows, count, is_action, is_event
from spark_trace_analysis.traces import events
from spec.chapters import discarding


def find_early_discards(rows: WholeTraces, actions: Codes, settings: RunSettings, at: Until) -> None:
    """Find a discarded half of which more checks are counted than were sent, or that had checks left."""
    cannot_be_copied, unknown = actions[0], -1
    checks = np.zeros(room_for(rows.transaction), np.int32)
    for n in range(len(at)):
        forget(checks, rows.transaction, rows.starts[n], rows.starts[n + 1], 0)
        for row in range(rows.starts[n], rows.starts[n + 1]):
            t = rows.transaction[row]
            if t < 0:
                continue
            if rows.event[row] == events.put_back_for_check:
                checks[t] += 1
            elif rows.event[row] == events.half_discarded:
                is_spent = rows.check_times[row] >= settings.check_max
                is_old = rows.action[row] != cannot_be_copied
                if settings.parks_poison and rows.action[row] == unknown:
                    is_old = False
                if (is_spent and checks[t] < rows.check_times[row]) or (not is_spent and is_old):
                    at[n] = row - rows.starts[n] + 1
                    break


def from_the_early_discard(settings: RunSettings) -> Broken:
    """A discard with checks left, or after fewer checks than it counts."""
    is_old = ~is_action(discarding.discard_what_cannot_be_copied)
    if settings.parks_poison:
        is_old &= col("action") >= 0
    is_early = when(col("check_times") >= settings.check_max).then(col("asked") < col("check_times")).otherwise(is_old)
    return Broken(
        {Rows.TRANSACTION: is_event(events.half_discarded) & is_early},
        (count("asked", Rows.TRANSACTION, is_event(events.put_back_for_check)),),
    )


FULL_BUDGET = Invariant(
    property_id="L2",
    sentence="a half is discarded only after as many checks as it may have were really sent",
    shows=(
        "a half is discarded with checks left, or with more of them counted than were sent for its transaction; not, "
        "where checks for another half of it make up for that"
    ),
    actions=(discarding.discard_what_cannot_be_copied,),
    kernel=find_early_discards,
    broken=from_the_early_discard,
)
