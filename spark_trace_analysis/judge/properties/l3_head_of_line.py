"""L3: no two rounds in a row leave the half offset where it was for the same reason."""

import numpy as np
from polars import col, lit, when

from spark_trace_analysis.judge.properties import so_far
from spark_trace_analysis.judge.properties.invariant import Codes, Invariant, RunSettings, Until, WholeTraces
from spark_trace_analysis.judge.properties.kernel_room import ENDS_OF_A_PROCESS, PASSES, PUT_BACKS
from spark_trace_analysis.judge.running_aggregates import Broken, Rows, is_action, is_event, last
from spark_trace_analysis.traces import events
from spec.chapters import broken_round


def find_stuck(rows: WholeTraces, actions: Codes, _settings: RunSettings, at: Until) -> None:
    """Find the second of two rounds that end for the same reason, and leave no half behind."""
    reasons = np.array([1, 1, 2, 3, 3, 3, 4, 4])
    for n in range(len(at)):
        last, moved = 0, False
        for row in range(rows.starts[n], rows.starts[n + 1]):
            event = rows.event[row]
            if event == events.round_ended:
                reason = 0
                for place in range(len(actions)):
                    if rows.action[row] == actions[place] and not moved:
                        reason = reasons[place]
                if reason > 0 and reason == last:
                    at[n] = row - rows.starts[n] + 1
                    break
                last, moved = reason, False
            elif event in ENDS_OF_A_PROCESS:
                last, moved = 0, False
            elif event in PASSES or event in PUT_BACKS:
                last, moved = 0, True


_REASONS = (
    (broken_round.abort_at_null_result, broken_round.end_round_at_missed_half),
    (broken_round.abort_at_undecodable_half,),
    (broken_round.fail_to_begin_round, broken_round.abort_at_next_ops, broken_round.abort_at_unreadable_pull),
    (broken_round.spin_at_failed_check, broken_round.spin_at_failed_immunity),
)


def from_the_second_round(_settings: RunSettings) -> Broken:
    """A round that ends for the reason for which the one before it ended."""
    reason = lit(0)
    for number, actions in enumerate(_REASONS, start=1):
        reason = when(is_action(*actions)).then(lit(number)).otherwise(reason)
    reason = when(is_event(events.round_ended) & (col("moved").fill_null(0) == 0)).then(reason).otherwise(lit(0))
    is_of_a_round = so_far.LEFT_BEHIND | so_far.END_OF_A_PROCESS | is_event(events.round_ended)
    return Broken(
        {Rows.TRACE: (reason > 0) & (reason == col("stuck_before"))},
        (so_far.MOVED, last("stuck_before", Rows.TRACE, when(is_of_a_round).then(reason), is_before=True)),
    )


HEAD_OF_LINE = Invariant(
    property_id="L3",
    sentence="no two rounds on end leave the half offset where it was for the same reason",
    shows=(
        "two rounds on end fail for the same reason, and leave no half behind; not, where a round's time limit or a "
        "step of the clock is the reason"
    ),
    actions=tuple(action for actions in _REASONS for action in actions),
    kernel=find_stuck,
    broken=from_the_second_round,
)
