"""Crashes that are assumed: before which event the broker's process died, and which offsets it had saved.

A crash explains two things that nothing else does: a round that visits halves again which an earlier one has left
behind, and an entry of the op buffer that never was written. Nothing else is tried.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from model_check.trace_validation.observed import Kind
from model_check.trace_validation.sources import checks_before

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from model_check.trace_validation.observed import Trace
    from spec.constants import Constants

MOST_GAPS = 12
"""How many places for a crash are tried, the longest silences first."""

SHORTEST_RESTART_MS = 300
"""No broker is back sooner; a shorter silence is no place for a crash."""

_MOST_OFFSETS = 8


@dataclass(frozen=True, slots=True)
class Crash:
    """A crash and restart.

    Attributes
    ----------
    before
        The event that follows it.
    half, op
        The offsets that were saved; without meaning when `rests`.
    rests
        Whether the rounds before the crash went on as far as they got, and their offsets were saved.
    """

    before: int
    half: int = 0
    op: int = 0
    rests: bool = False


def crashes_that_may_explain(
    trace: Trace, constants: Constants, number: int, first: int, seen: Sequence[tuple[int, int, int]]
) -> Iterator[Crash]:
    """Crashes between events `first` and `number` after which event `number` may be explained.

    Parameters
    ----------
    seen
        Event, half and op offset: what the offsets were before an event, in their order.
    """
    for gap in _gaps_by_silence(trace, first, number):
        offsets = dict.fromkeys((half, op) for before, half, op in reversed(seen) if before <= gap)
        offsets.setdefault((0, 0))
        fitting = [pair for pair in offsets if _may_explain(trace, constants, number, pair[0])]
        for half, op in islice(fitting, _MOST_OFFSETS):
            yield Crash(gap, half, op)
        if _may_explain(trace, constants, number, None):
            yield Crash(gap, rests=True)


def _gaps_by_silence(trace: Trace, first: int, last: int) -> list[int]:
    silence = {gap: trace.events[gap].time - trace.events[gap - 1].time for gap in range(max(first, 1), last + 1)}
    gaps = [gap for gap in silence if silence[gap] >= SHORTEST_RESTART_MS]
    return sorted(gaps, key=lambda gap: -silence[gap])[:MOST_GAPS]


def _may_explain(trace: Trace, constants: Constants, number: int, offset: int | None) -> bool:
    """Whether a round that begins at an offset (`None`: any) can come to the half that a record was made from.

    All halves before it must have been named by op messages, for a put-back of one would show.
    """
    event = trace.events[number]
    if event.kind is Kind.OP_STORED:
        return True
    before = checks_before(constants, event)
    earlier = trace.events[:number]
    halves = [e for e in earlier if e.kind in (Kind.HALF_STORED, Kind.PUT_BACK)]
    sources = [e.half for e in halves if e.transaction == event.transaction and e.check_times in before]
    if offset is None:
        return bool(sources)
    named = {half for e in earlier if e.kind is Kind.OP_STORED for half in e.names}
    return any(offset <= half and named.issuperset(range(offset, half)) for half in sources)
