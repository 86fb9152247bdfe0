"""L3: no two rounds on end leave the half offset where it was for the same reason."""

import numpy as np
import numpy.typing as npt

from spark_trace_analysis.invariants import so_far
from spark_trace_analysis.invariants.invariant import Invariant, Rows, World


def find_stuck(
    starts: npt.NDArray[np.int64],
    rows: Rows,
    events: npt.NDArray[np.int16],
    actions: npt.NDArray[np.int16],
    _world: World,
    at: npt.NDArray[np.int32],
) -> None:
    """Find the second of two rounds that end for the same reason, and leave no half behind."""
    ended = events[0]
    ends_of_a_process, steps = events[1:6], events[6:]
    reasons = np.array([1, 1, 2, 3, 3, 3, 4, 4])
    for n in range(len(at)):
        last, moved = 0, False
        for row in range(starts[n], starts[n + 1]):
            event = rows.event[row]
            if event == ended:
                reason = 0
                for place in range(len(actions)):
                    if rows.action[row] == actions[place] and not moved:
                        reason = reasons[place]
                if reason > 0 and reason == last:
                    at[n] = row - starts[n] + 1
                    break
                last, moved = reason, False
            else:
                for other in ends_of_a_process:
                    if event == other:
                        last, moved = 0, False
                for step in steps:
                    if event == step:
                        last, moved = 0, True


_STUCK = """event = 'round_ended' AND action IN (
    'abort_at_null_result', 'end_round_at_missed_half', 'abort_at_undecodable_half', 'fail_to_begin_round',
    'abort_at_next_ops', 'abort_at_unreadable_pull', 'spin_at_failed_check', 'spin_at_failed_immunity'
)"""

_REASON = """CASE
    WHEN event <> 'round_ended' OR moved = 1 THEN 0
    WHEN action IN ('abort_at_null_result', 'end_round_at_missed_half') THEN 1
    WHEN action = 'abort_at_undecodable_half' THEN 2
    WHEN action IN ('fail_to_begin_round', 'abort_at_next_ops', 'abort_at_unreadable_pull') THEN 3
    WHEN action IN ('spin_at_failed_check', 'spin_at_failed_immunity') THEN 4
    ELSE 0
END"""

HEAD_OF_LINE = Invariant(
    property_id="L3",
    sentence="no two rounds on end leave the half offset where it was for the same reason",
    shows=(
        "two rounds on end fail for the same reason, and leave no half behind; not, where a round's time limit or a "
        "step of the clock is the reason"
    ),
    is_exact=False,
    events=(
        "round_ended",
        "crashed",
        "stopped",
        "role_changed",
        "power_lost",
        "offsets_regressed",
        "half_passed",
        "put_back_for_check",
        "put_back_for_immunity",
        "put_back_unasked",
        "half_discarded",
        "half_missed",
        "half_escaped",
    ),
    actions=(
        "abort_at_null_result",
        "end_round_at_missed_half",
        "abort_at_undecodable_half",
        "fail_to_begin_round",
        "abort_at_next_ops",
        "abort_at_unreadable_pull",
        "spin_at_failed_check",
        "spin_at_failed_immunity",
    ),
    kernel=find_stuck,
    so_far=so_far.MOVED,
    and_then={
        "stuck": _REASON,
        "stuck_before": f"last(CASE WHEN {so_far.OF_A_ROUND} THEN {_REASON} END, true) OVER before",
    },
    suspect=f"count_if({_STUCK}) >= 2",
    broken="stuck > 0 AND stuck = stuck_before",
)
