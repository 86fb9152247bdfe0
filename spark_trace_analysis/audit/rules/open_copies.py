"""The copies of a pending half that the next rounds visit.

Usually that is the last one: a round that has put a copy back saves the half offset behind it. Two are open or more
where that offset got lost: a broker that was killed begins at the one it has saved, and puts back once more what it had
put back already, so that the producer is asked twice a round from then on.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from typing import TYPE_CHECKING

from spark_trace_analysis.audit.rules.transaction_row import OF_HALF_QUEUE, PUT_BACK

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from spark_trace_analysis.audit.rules.rounds import ShownRound
    from spark_trace_analysis.audit.rules.transaction_row import HistoryEvent


def open_copies(
    history: Sequence[HistoryEvent],
    rounds: Sequence[ShownRound],
    *,
    saved: int,
    settled: Collection[int],
    booted_at: int,
) -> list[HistoryEvent]:
    """The half and its copies that stand before the rounds to come, in the order of the queue.

    Parameters
    ----------
    rounds
        Those that the store shows, the earliest first.
    saved
        The check service's offset in the half queue, as the broker has it.
    settled
        The queue offsets that op messages name.
    booted_at
        When the broker's process began, in milliseconds since the epoch: what was put back before had its half offset
        in another one.
    """
    begins = [one.began_at for one in rounds]
    found: deque[HistoryEvent] = deque()
    for event in history:
        if event.event not in OF_HALF_QUEUE or event.offset < saved:
            continue
        if event.event == PUT_BACK and event.time > booted_at and found:
            began_at = begins[bisect_right(begins, event.time) - 1]
            if found[0].time < began_at:  # a copy that this round has visited, and not one of its own
                found.popleft()
        found.append(event)
    return [event for event in found if event.offset not in settled]
