"""L1: no transaction is lost: every unresolved one is checked in the end, or lands in the discard topic.

A trace shows one that is lost where its last half is discarded without a record, or jumped over, while nothing of it is
under way; and the round ends, so that the half offset passes the half.
"""

import numpy as np
import numpy.typing as npt
import polars as pl
from polars import col, lit, when

from spark_trace_analysis.judge.properties import so_far
from spark_trace_analysis.judge.properties.invariant import Invariant, Rows, World
from spark_trace_analysis.judge.properties.kernel_room import forget, is_among, room_for
from spark_trace_analysis.judge.properties.running import (
    COMMIT,
    ROLLBACK,
    Broken,
    Over,
    count,
    is_action,
    is_event,
    last,
    mark,
    most,
    total,
)


def find_lost(  # noqa: C901 (one branch an event)
    starts: npt.NDArray[np.int64],
    rows: Rows,
    events: npt.NDArray[np.int16],
    actions: npt.NDArray[np.int16],
    world: World,
    at: npt.NDArray[np.int32],
) -> None:
    """Find a round that ends when it has left the last half of an open transaction behind for good."""
    (
        delivered, rolled_back, op_stored, op_buffered, op_lost, discarded, missed, passed, escaped,
        decided, sent, checked, answered, refused, message_lost, stored, began, ended,
        crashed, stopped, role_changed, power_lost, regressed,
    ) = events  # fmt: skip
    unrecorded, too_immune, resolved_commit, resolved_rollback, gone = actions[:5]
    committing = actions[5:]
    size = room_for(rows.transaction)
    is_over = np.zeros(size, np.bool_)
    is_decided = np.zeros(size, np.bool_)
    under_way = np.zeros(size, np.int32)
    last_half = np.zeros(size, np.int32)
    for n in range(len(at)):
        forget(is_over, rows.transaction, starts[n], starts[n + 1], False)
        forget(is_decided, rows.transaction, starts[n], starts[n + 1], False)
        forget(under_way, rows.transaction, starts[n], starts[n + 1], 0)
        forget(last_half, rows.transaction, starts[n], starts[n + 1], -1)
        is_lost = False
        for row in range(starts[n], starts[n + 1]):
            event, action, t, half = rows.event[row], rows.action[row], rows.transaction[row], rows.half[row]
            if event in (power_lost, escaped):
                break
            is_jump = event == missed and half < 0
            if event == ended:
                if is_lost and is_among(action, committing):
                    at[n] = row - starts[n] + 1
                    break
                is_lost = False
            elif event in (began, crashed, stopped, role_changed, regressed, sent) or is_jump:
                is_lost = False
            if t < 0:
                continue
            if rows.copy[row] >= 0:
                last_half[t] = max(last_half[t], rows.copy[row])
            elif event == stored:
                last_half[t] = max(last_half[t], half)
            if event == decided:
                is_decided[t] = True
                is_sent = rows.outcome[row] == 1 or rows.outcome[row] == 2
                if is_sent and action != resolved_commit and action != resolved_rollback and action != gone:
                    under_way[t] += 1
            elif event in (sent, checked):
                under_way[t] += 1
            elif event == answered:
                if rows.outcome[row] != 1 and rows.outcome[row] != 2:
                    under_way[t] -= 1
            elif event in (refused, message_lost):
                under_way[t] -= 1
            elif event in (delivered, rolled_back) or (event in (op_stored, op_buffered, op_lost) and half >= 0):
                is_over[t] = True
            is_dropped = event == discarded and (action == unrecorded or not world.keeps_discarded)
            if event == discarded and not is_dropped:
                is_over[t] = True
            is_skipped = event == missed or (event == passed and action == too_immune)
            if (is_dropped or is_skipped) and half >= 0 and half == last_half[t]:
                is_lost = is_lost or (is_decided[t] and not is_over[t] and under_way[t] == 0)


_COMMITTING = (
    "end_round_at_queue_end", "end_round_at_fresh_half", "end_round_before_dispatch", "end_round_at_young_half",
    "end_round_at_time_limit", "end_round_at_missed_half", "spin_at_failed_check", "spin_at_failed_immunity",
)  # fmt: skip
"""The ends of a round that commit the half offset."""


def from_the_round_that_passes(world: World) -> Broken:
    """The end of a round that has left the last half of an open transaction behind."""
    decides = col("outcome").is_in([COMMIT, ROLLBACK])
    stores = when(col("copy") >= 0).then("copy").when(is_event("half_stored")).then("half")
    asks = is_event("local_outcome") & decides
    asks &= ~is_action("resolve_to_commit", "resolve_to_rollback", "commit_what_is_gone")
    asks |= is_event("end_sent", "put_back_for_check")
    is_answered = (is_event("check_answered") & ~decides) | is_event("end_refused", "message_lost")
    is_dropped = is_event("half_discarded") & (is_action("discard_half_unrecorded") | lit(not world.keeps_discarded))
    is_skipped = is_event("half_missed") | (is_event("half_passed") & is_action("pass_over_long_immunity"))
    is_last = (col("half") >= 0) & (col("half") == col("last_half"))
    settled = pl.sum_horizontal("delivered", "acknowledged", "parked", "elsewhere")
    is_open = (col("decided") > 0) & (col("under_way") == 0) & (settled == 0)
    saves = is_event(
        "round_began", "round_ended", "crashed", "stopped", "role_changed", "offsets_regressed", "end_sent"
    ) | (is_event("half_missed") & (col("half") < 0))
    passes = is_event("round_ended") & is_action(*_COMMITTING) & (col("lost") == 1)
    return Broken(
        {Over.TRACE: passes & (col("power_lost") == 0) & (col("escaped") == 0)},
        (
            so_far.DELIVERED,
            so_far.ACKNOWLEDGED,
            so_far.parked(world),
            so_far.POWER_LOST,
            so_far.ESCAPED,
            count("elsewhere", Over.TRANSACTION, is_event("half_rolled_back")),
            count("decided", Over.TRANSACTION, is_event("local_outcome")),
            most("last_half", Over.TRANSACTION, stores),
            total("under_way", Over.TRANSACTION, when(asks).then(lit(1)).when(is_answered).then(lit(-1))),
            mark("left_behind", Over.TRANSACTION, (is_dropped | is_skipped) & is_last & is_open),
            last("lost", Over.TRACE, when(saves).then(lit(0)).when("left_behind").then(lit(1)), is_before=True),
        ),
    )


NO_ORPHAN = Invariant(
    property_id="L1",
    sentence="no transaction is lost: none is left behind for good, neither settled nor kept aside",
    shows=(
        "the last half of an open transaction is discarded without a record, or jumped over, while nothing of it is "
        "under way, and the round ends; not, once the power went, or a half was sent to another broker"
    ),
    is_exact=False,
    events=(
        "message_delivered",
        "half_rolled_back",
        "op_stored",
        "op_buffered",
        "op_lost",
        "half_discarded",
        "half_missed",
        "half_passed",
        "half_escaped",
        "local_outcome",
        "end_sent",
        "put_back_for_check",
        "check_answered",
        "end_refused",
        "message_lost",
        "half_stored",
        "round_began",
        "round_ended",
        "crashed",
        "stopped",
        "role_changed",
        "power_lost",
        "offsets_regressed",
    ),
    actions=(
        "discard_half_unrecorded",
        "pass_over_long_immunity",
        "resolve_to_commit",
        "resolve_to_rollback",
        "commit_what_is_gone",
        *_COMMITTING,
    ),
    needs="local_outcome",
    kernel=find_lost,
    broken=from_the_round_that_passes,
)
