"""L1: no transaction is lost: every unresolved one is checked in the end, or lands in the discard topic.

A trace shows one that is lost where its last half is discarded without a record, or jumped over, while nothing of it is
under way; and the round ends, so that the half offset passes the half.
"""

import numpy as np
import polars as pl
from polars import col, lit, when

from spark_trace_analysis.judge.properties import so_far
from spark_trace_analysis.judge.properties.invariant import Codes, Invariant, RunSettings, Until, WholeTraces
from spark_trace_analysis.judge.properties.kernel_room import (
    ACKNOWLEDGEMENTS,
    ENDS_OF_A_PROCESS,
    forget,
    is_among,
    room_for,
)
from spark_trace_analysis.judge.running_aggregates import (
    COMMIT,
    ROLLBACK,
    Broken,
    Rows,
    count,
    is_action,
    is_event,
    last,
    mark,
    most,
    total,
)
from spark_trace_analysis.traces import events
from spec.chapters import broken_round, check_round, discarding, producer


def find_lost(  # noqa: C901 (one branch an event)
    rows: WholeTraces, actions: Codes, settings: RunSettings, at: Until
) -> None:
    """Find a round that ends when it has left the last half of an open transaction behind for good."""
    unrecorded, too_immune, resolved_commit, resolved_rollback, gone = actions[:5]
    committing = actions[5:]
    size = room_for(rows.transaction)
    is_over = np.zeros(size, np.bool_)
    is_decided = np.zeros(size, np.bool_)
    under_way = np.zeros(size, np.int32)
    last_half = np.zeros(size, np.int32)
    for n in range(len(at)):
        forget(is_over, rows.transaction, rows.starts[n], rows.starts[n + 1], False)
        forget(is_decided, rows.transaction, rows.starts[n], rows.starts[n + 1], False)
        forget(under_way, rows.transaction, rows.starts[n], rows.starts[n + 1], 0)
        forget(last_half, rows.transaction, rows.starts[n], rows.starts[n + 1], -1)
        is_lost = False
        for row in range(rows.starts[n], rows.starts[n + 1]):
            event, action, t, half = rows.event[row], rows.action[row], rows.transaction[row], rows.half[row]
            if event in (events.power_lost, events.half_escaped):
                break
            is_jump = event == events.half_missed and half < 0
            if event == events.round_ended:
                if is_lost and is_among(action, committing):
                    at[n] = row - rows.starts[n] + 1
                    break
                is_lost = False
            elif event in ENDS_OF_A_PROCESS or event in (events.round_began, events.end_sent) or is_jump:
                is_lost = False
            if t < 0:
                continue
            if rows.copy[row] >= 0:
                last_half[t] = max(last_half[t], rows.copy[row])
            elif event == events.half_stored:
                last_half[t] = max(last_half[t], half)
            if event == events.local_outcome:
                is_decided[t] = True
                is_sent = rows.outcome[row] == 1 or rows.outcome[row] == 2
                if is_sent and action != resolved_commit and action != resolved_rollback and action != gone:
                    under_way[t] += 1
            elif event in (events.end_sent, events.put_back_for_check):
                under_way[t] += 1
            elif event == events.check_answered:
                if rows.outcome[row] != 1 and rows.outcome[row] != 2:
                    under_way[t] -= 1
            elif event in (events.end_refused, events.message_lost):
                under_way[t] -= 1
            elif event in (events.message_delivered, events.half_rolled_back) or (
                event in ACKNOWLEDGEMENTS and half >= 0
            ):
                is_over[t] = True
            is_dropped = event == events.half_discarded and (action == unrecorded or not settings.keeps_discarded)
            if event == events.half_discarded and not is_dropped:
                is_over[t] = True
            is_skipped = event == events.half_missed or (event == events.half_passed and action == too_immune)
            if (is_dropped or is_skipped) and half >= 0 and half == last_half[t]:
                is_lost = is_lost or (is_decided[t] and not is_over[t] and under_way[t] == 0)


_COMMITTING = (
    check_round.end_round_at_queue_end,
    check_round.end_round_at_fresh_half,
    check_round.end_round_before_dispatch,
    check_round.end_round_at_young_half,
    check_round.end_round_at_time_limit,
    broken_round.end_round_at_missed_half,
    broken_round.spin_at_failed_check,
    broken_round.spin_at_failed_immunity,
)
"""The ends of a round that commit the half offset."""


def from_the_round_that_passes(settings: RunSettings) -> Broken:
    """The end of a round that has left the last half of an open transaction behind."""
    decides = col("outcome").is_in([COMMIT, ROLLBACK])
    stores = when(col("copy") >= 0).then("copy").when(is_event(events.half_stored)).then("half")
    asks = is_event(events.local_outcome) & decides
    asks &= ~is_action(producer.resolve_to_commit, producer.resolve_to_rollback, producer.commit_what_is_gone)
    asks |= is_event(events.end_sent, events.put_back_for_check)
    is_answered = (is_event(events.check_answered) & ~decides) | is_event(events.end_refused, events.message_lost)
    is_dropped = is_event(events.half_discarded) & (
        is_action(discarding.discard_half_unrecorded) | lit(not settings.keeps_discarded)
    )
    is_skipped = is_event(events.half_missed) | (
        is_event(events.half_passed) & is_action(check_round.pass_over_long_immunity)
    )
    is_last = (col("half") >= 0) & (col("half") == col("last_half"))
    settled = pl.sum_horizontal("delivered", "acknowledged", "parked", "elsewhere")
    is_open = (col("decided") > 0) & (col("under_way") == 0) & (settled == 0)
    saves = is_event(
        events.round_began,
        events.round_ended,
        events.crashed,
        events.stopped,
        events.role_changed,
        events.offsets_regressed,
        events.end_sent,
    ) | (is_event(events.half_missed) & (col("half") < 0))
    passes = is_event(events.round_ended) & is_action(*_COMMITTING) & (col("lost") == 1)
    return Broken(
        {Rows.TRACE: passes & (col("power_lost") == 0) & (col("escaped") == 0)},
        (
            so_far.DELIVERED,
            so_far.ACKNOWLEDGED,
            so_far.parked(settings),
            so_far.POWER_LOST,
            so_far.ESCAPED,
            count("elsewhere", Rows.TRANSACTION, is_event(events.half_rolled_back)),
            count("decided", Rows.TRANSACTION, is_event(events.local_outcome)),
            most("last_half", Rows.TRANSACTION, stores),
            total("under_way", Rows.TRANSACTION, when(asks).then(lit(1)).when(is_answered).then(lit(-1))),
            mark("left_behind", Rows.TRANSACTION, (is_dropped | is_skipped) & is_last & is_open),
            last("lost", Rows.TRACE, when(saves).then(lit(0)).when("left_behind").then(lit(1)), is_before=True),
        ),
    )


NO_ORPHAN = Invariant(
    property_id="L1",
    sentence="no transaction is lost: none is left behind for good, neither settled nor kept aside",
    shows=(
        "the last half of an open transaction is discarded without a record, or jumped over, while nothing of it is "
        "under way, and the round ends; not, once the power went, or a half was sent to another broker"
    ),
    actions=(
        discarding.discard_half_unrecorded,
        check_round.pass_over_long_immunity,
        producer.resolve_to_commit,
        producer.resolve_to_rollback,
        producer.commit_what_is_gone,
        *_COMMITTING,
    ),
    needs="local_outcome",
    kernel=find_lost,
    broken=from_the_round_that_passes,
)
