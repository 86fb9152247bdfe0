"""L5: a commit that the producer sends of its own accord becomes visible without a check."""

import numpy as np
from polars import col

from spark_trace_analysis.judge.properties import so_far
from spark_trace_analysis.judge.properties.invariant import Codes, Invariant, RunSettings, Until, WholeTraces
from spark_trace_analysis.judge.properties.kernel_room import forget, room_for
from spark_trace_analysis.judge.running_aggregates import COMMIT, Broken, Rows, count, is_action, is_event
from spark_trace_analysis.traces import events
from spec.chapters import end_transaction, network, producer


def find_hindered(rows: WholeTraces, actions: Codes, _settings: RunSettings, at: Until) -> None:
    """Find a producer's own commit that is lost or refused, or a local transaction that is never run."""
    commits, gone, unrun, lose_end, repeated = actions
    unknown, commit = -1, 1
    size = room_for(rows.transaction)
    first_half = np.zeros(size, np.int32)
    is_sent = np.zeros(size, np.bool_)
    has_committed = np.zeros(size, np.bool_)
    is_not_judged = np.zeros(size, np.bool_)
    for n in range(len(at)):
        forget(first_half, rows.transaction, rows.starts[n], rows.starts[n + 1], -1)
        forget(is_sent, rows.transaction, rows.starts[n], rows.starts[n + 1], False)
        forget(has_committed, rows.transaction, rows.starts[n], rows.starts[n + 1], False)
        forget(is_not_judged, rows.transaction, rows.starts[n], rows.starts[n + 1], False)
        power_is_lost = False
        for row in range(rows.starts[n], rows.starts[n + 1]):
            event, action, t = rows.event[row], rows.action[row], rows.transaction[row]
            power_is_lost = power_is_lost or event == events.power_lost
            if t < 0:
                continue
            is_broken = False
            if event == events.half_stored:
                is_not_judged[t] = is_not_judged[t] or is_sent[t]
                is_sent[t] = True
                first_half[t] = rows.half[row]
            elif event in (events.message_delivered, events.end_sent):
                is_not_judged[t] = True
            elif event == events.local_outcome:
                is_broken = action in (gone, unrun)
                has_committed[t] = has_committed[t] or (action == commits and rows.outcome[row] == commit)
            elif (event == events.message_lost and action == lose_end) or (
                event == events.end_refused and action != repeated and action != unknown
            ):
                is_own = has_committed[t] and rows.half[row] == first_half[t] and first_half[t] >= 0
                is_broken = is_own and not is_not_judged[t] and not power_is_lost
            if is_broken:
                at[n] = row - rows.starts[n] + 1
                break


def from_the_hindrance(_settings: RunSettings) -> Broken:
    """An own commit that is lost or refused, or a local transaction that is not run."""
    is_unrun = is_event(events.local_outcome) & is_action(producer.commit_what_is_gone, producer.roll_back_unrun)
    commits = is_event(events.local_outcome) & is_action(producer.commit_locally) & (col("outcome") == COMMIT)
    is_lost = is_event(events.message_lost) & is_action(network.lose_end)
    is_refused = is_event(events.end_refused) & (col("action") >= 0) & ~is_action(end_transaction.ignore_repeated_end)
    is_own = (col("own_commits") > 0) & (col("half") == col("first_half")) & (col("half") >= 0)
    is_judged = (col("sent") == 1) & (col("delivered") == 0) & (col("strayed") == 0) & (col("power_lost") == 0)
    return Broken(
        {Rows.TRANSACTION: is_unrun | ((is_lost | is_refused) & is_own & is_judged)},
        (
            so_far.DELIVERED,
            so_far.SENT,
            so_far.FIRST_HALF,
            so_far.POWER_LOST,
            count("strayed", Rows.TRANSACTION, is_event(events.end_sent)),
            count("own_commits", Rows.TRANSACTION, commits),
        ),
    )


COMMIT_PROGRESS = Invariant(
    property_id="L5",
    sentence="a commit that the producer sends of its own accord is neither lost nor refused",
    shows=(
        "the commit is lost or refused, or the local transaction is never run; not, once an END_TRANSACTION or the "
        "message was repeated, or the power went"
    ),
    actions=(
        producer.commit_locally,
        producer.commit_what_is_gone,
        producer.roll_back_unrun,
        network.lose_end,
        end_transaction.ignore_repeated_end,
    ),
    needs="local_outcome",
    kernel=find_hindered,
    broken=from_the_hindrance,
)
