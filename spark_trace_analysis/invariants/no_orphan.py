"""L1: no transaction is lost: every unresolved one is checked in the end, or lands in the discard topic.

A trace shows one that is lost where its last half is discarded without a record, or jumped over, while nothing of it is
under way; and the round ends, so that the half offset passes the half.
"""

import numpy as np
import numpy.typing as npt

from spark_trace_analysis.invariants import so_far
from spark_trace_analysis.invariants.invariant import Invariant, Rows, World
from spark_trace_analysis.invariants.kernel_room import forget, is_among, room_for


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
    so_far={
        **so_far.DELIVERED,
        **so_far.ACKNOWLEDGED,
        **so_far.PARKED,
        **so_far.POWER_LOST,
        **so_far.ESCAPED,
        "elsewhere": "count_if(event = 'half_rolled_back') OVER of_transaction",
        "decided": "count_if(event = 'local_outcome') OVER of_transaction",
        "last_half": "max(CASE WHEN copy >= 0 THEN copy WHEN event = 'half_stored' THEN half END) OVER of_transaction",
        "under_way": """sum(CASE
            WHEN event = 'local_outcome' AND outcome IN (1, 2)
                AND action NOT IN ('resolve_to_commit', 'resolve_to_rollback', 'commit_what_is_gone') THEN 1
            WHEN event IN ('end_sent', 'put_back_for_check') THEN 1
            WHEN event = 'check_answered' AND outcome NOT IN (1, 2) THEN -1
            WHEN event IN ('op_stored', 'op_buffered', 'op_lost') AND half >= 0 THEN -1
            WHEN event IN ('end_refused', 'message_lost') THEN -1
            ELSE 0
        END) OVER of_transaction""",
    },
    and_then={
        "lost": """last(CASE
            WHEN event IN ('round_began', 'round_ended', 'crashed', 'stopped', 'role_changed', 'offsets_regressed',
                           'end_sent') OR (event = 'half_missed' AND half < 0) THEN 0
            WHEN (
                event = 'half_missed' OR action = 'pass_over_long_immunity'
                OR (event = 'half_discarded' AND (keeps_discarded = 0 OR action = 'discard_half_unrecorded'))
            ) AND transaction >= 0 AND half >= 0 AND half = last_half AND decided > 0 AND under_way = 0
                AND delivered = 0 AND acknowledged = 0 AND parked = 0 AND elsewhere = 0 THEN 1
        END, true) OVER before"""
    },
    suspect="""count_if(event = 'half_missed' OR action IN ('pass_over_long_immunity', 'discard_half_unrecorded')
        OR (event = 'half_discarded' AND keeps_discarded = 0)) > 0""",
    broken=f"event = 'round_ended' AND action IN {_COMMITTING} AND lost = 1 AND power_lost = 0 AND escaped = 0",
)
