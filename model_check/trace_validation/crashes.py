"""Where a crash may be assumed: before which event the broker's process died.

A crash explains two things that nothing else does: a round that visits halves again which an earlier one has left
behind, and an entry of the op buffer that never was written. Nothing else is tried. Which offsets were saved by then is
left to the search.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from model_check.trace_validation.observed import Trace

MOST_GAPS = 12
"""How many places for a crash are tried behind the last record that was explained, the longest silences first."""

MOST_EARLIER_GAPS = 12
"""How many places before it."""

SHORTEST_RESTART_MS = 300
"""No broker is back sooner; a shorter silence is no place for a crash."""


def gaps_for_a_crash(trace: Trace, reached: int, first: int, died_behind: int, taken: tuple[int, ...]) -> list[int]:
    """Events before which the process may have died, so that event `reached` could be explained; the likeliest first.

    Parameters
    ----------
    first
        The event behind the check service's last record before `reached`: a crash behind it needs no other explanation
        of what was explained.
    died_behind
        The event behind which the process must have died; -1 if there is none.
    taken
        The places of the crashes that are assumed already.
    """
    silence = {
        gap: trace.events[gap].time - trace.events[gap - 1].time for gap in range(max(0, died_behind) + 1, reached + 1)
    }
    gaps = [gap for gap in silence if silence[gap] >= SHORTEST_RESTART_MS and gap not in taken]
    gaps.sort(key=lambda gap: -silence[gap])
    behind = [gap for gap in gaps if gap >= first]
    before = [gap for gap in gaps if gap < first]
    return behind[:MOST_GAPS] + before[:MOST_EARLIER_GAPS]
