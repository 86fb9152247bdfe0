"""L5: a commit that the producer sends of its own accord becomes visible without a check."""

import numpy as np
import numpy.typing as npt

from spark_trace_analysis.invariants import so_far
from spark_trace_analysis.invariants.invariant import Invariant, Rows, World
from spark_trace_analysis.invariants.kernel_room import forget, room_for


def find_hindered(
    starts: npt.NDArray[np.int64],
    rows: Rows,
    events: npt.NDArray[np.int16],
    actions: npt.NDArray[np.int16],
    _world: World,
    at: npt.NDArray[np.int32],
) -> None:
    """Find a producer's own commit that is lost or refused, or a local transaction that is never run."""
    stored, decided, delivered, sent, refused, message_lost, power_lost = events
    commits, gone, unrun, lose_end, repeated = actions
    unknown, commit = -1, 1
    size = room_for(rows.transaction)
    first_half = np.zeros(size, np.int32)
    has_committed = np.zeros(size, np.bool_)
    is_not_judged = np.zeros(size, np.bool_)
    for n in range(len(at)):
        forget(first_half, rows.transaction, starts[n], starts[n + 1], -1)
        forget(has_committed, rows.transaction, starts[n], starts[n + 1], False)
        forget(is_not_judged, rows.transaction, starts[n], starts[n + 1], False)
        power_is_lost = False
        for row in range(starts[n], starts[n + 1]):
            event, action, t = rows.event[row], rows.action[row], rows.transaction[row]
            power_is_lost = power_is_lost or event == power_lost
            if t < 0:
                continue
            is_broken = False
            if event == stored:
                is_not_judged[t] = is_not_judged[t] or first_half[t] >= 0
                first_half[t] = rows.half[row]
            elif event in (delivered, sent):
                is_not_judged[t] = True
            elif event == decided:
                is_broken = action in (gone, unrun)
                has_committed[t] = has_committed[t] or (action == commits and rows.outcome[row] == commit)
            elif (event == message_lost and action == lose_end) or (
                event == refused and action != repeated and action != unknown
            ):
                is_own = has_committed[t] and rows.half[row] == first_half[t] and first_half[t] >= 0
                is_broken = is_own and not is_not_judged[t] and not power_is_lost
            if is_broken:
                at[n] = row - starts[n] + 1
                break


COMMIT_PROGRESS = Invariant(
    property_id="L5",
    sentence="a commit that the producer sends of its own accord is neither lost nor refused",
    shows=(
        "the commit is lost or refused, or the local transaction is never run; not, once an END_TRANSACTION or the "
        "message was repeated, or the power went"
    ),
    is_exact=False,
    events=(
        "half_stored",
        "local_outcome",
        "message_delivered",
        "end_sent",
        "end_refused",
        "message_lost",
        "power_lost",
    ),
    actions=("commit_locally", "commit_what_is_gone", "roll_back_unrun", "lose_end", "ignore_repeated_end"),
    needs="local_outcome",
    kernel=find_hindered,
    so_far={
        **so_far.DELIVERED,
        **so_far.SENT,
        **so_far.FIRST_HALF,
        **so_far.POWER_LOST,
        "strayed": "count_if(event = 'end_sent') OVER of_transaction",
        "own_commits": """count_if(
            event = 'local_outcome' AND action = 'commit_locally' AND outcome = 1
        ) OVER of_transaction""",
    },
    suspect="""count_if(event IN ('message_lost', 'end_refused')
        OR action IN ('commit_what_is_gone', 'roll_back_unrun')) > 0""",
    broken="""transaction >= 0 AND (
        (event = 'local_outcome' AND action IN ('commit_what_is_gone', 'roll_back_unrun'))
        OR (
            ((event = 'message_lost' AND action = 'lose_end')
                OR (event = 'end_refused' AND action NOT IN ('ignore_repeated_end', '')))
            AND own_commits > 0 AND half = first_half AND half >= 0 AND sent = 1 AND delivered = 0 AND strayed = 0
            AND power_lost = 0
        )
    )""",
)
