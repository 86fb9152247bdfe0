"""L3: no two rounds on end leave the half offset where it was for the same reason."""

import numpy as np
import numpy.typing as npt
from polars import col, lit, when

from spark_trace_analysis.judge.properties import so_far
from spark_trace_analysis.judge.properties.invariant import Invariant, Rows, World
from spark_trace_analysis.judge.properties.running import Broken, Over, is_action, is_event, last


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


_REASONS = (
    ("abort_at_null_result", "end_round_at_missed_half"),
    ("abort_at_undecodable_half",),
    ("fail_to_begin_round", "abort_at_next_ops", "abort_at_unreadable_pull"),
    ("spin_at_failed_check", "spin_at_failed_immunity"),
)


def from_the_second_round(_world: World) -> Broken:
    """A round that ends for the reason for which the one before it ended."""
    reason = lit(0)
    for number, actions in enumerate(_REASONS, start=1):
        reason = when(is_action(*actions)).then(lit(number)).otherwise(reason)
    reason = when(is_event("round_ended") & (col("moved").fill_null(0) == 0)).then(reason).otherwise(lit(0))
    is_of_a_round = so_far.LEFT_BEHIND | so_far.END_OF_A_PROCESS | is_event("round_ended")
    return Broken(
        {Over.TRACE: (reason > 0) & (reason == col("stuck_before"))},
        (so_far.MOVED, last("stuck_before", Over.TRACE, when(is_of_a_round).then(reason), is_before=True)),
    )


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
    actions=tuple(action for actions in _REASONS for action in actions),
    kernel=find_stuck,
    broken=from_the_second_round,
)
