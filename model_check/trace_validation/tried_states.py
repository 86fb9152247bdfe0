"""Which states the search for rounds has tried, so that none is tried again from which no more can follow."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from model_check.trace_validation.round_steps import views_between

if TYPE_CHECKING:
    from model_check.trace_validation.observed import ObservedEvent, Trace
    from model_check.trace_validation.workspace import Workspace

_OWN = frozenset({"round", "pulled_op", "offsets"})
"""The fields of the state that are the check service's own."""


@dataclass(frozen=True, slots=True)
class Goal:
    """Where the search goes.

    Attributes
    ----------
    number
        To this event, or to a crash right before it.
    event
        The record of the check service that the event is; None for a crash and for saved offsets.
    offsets
        The half and the op offset that were saved; None for records and crashes.
    """

    number: int
    event: ObservedEvent | None = None
    offsets: tuple[int, int] | None = None

    @property
    def is_crash(self) -> bool:
        """Whether the process is to die."""
        return self.event is None and self.offsets is None


class TriedStates:
    """The states of one search.

    Parameters
    ----------
    last_crash
        Before which event the process dies for the last time; -1 if it does not.
    """

    def __init__(self, work: Workspace, trace: Trace, last_crash: int) -> None:
        self._work = work
        self._trace = trace
        self._last_crash = last_crash
        slots = work.state.memory.slots
        self._own = [p for p, slot in enumerate(slots) if slot.path[0] in _OWN and slot.label != "round.started_at"]
        self._tried: dict[tuple[object, ...], list[tuple[int, int, int]]] = {}

    def is_dominated(self, goal: Goal, at: int, clock: int) -> bool:
        """Whether the same state was tried no later: whatever can follow could have followed then.

        Parameters
        ----------
        at
            The place of the view that the round has.
        """
        values = self._work.state.memory.values
        when = (at, clock, self._work.state.round_ended_at)
        may_be_saved = frozenset(self._work.offsets_since_crash()) if goal.number <= self._last_crash else None
        own = (values[p] for p in self._own)
        role = self._work.state.role
        key = (goal.number, goal.is_crash, role, may_be_saved, self._freshness(goal.number), *own)
        tried = self._tried.setdefault(key, [])
        if any(all(a <= b for a, b in zip(earlier, when, strict=True)) for earlier in tried):
            return True
        tried.append(when)
        return False

    def _freshness(self, number: int) -> tuple[int, int, int]:
        """What the start of a round tells: fresh halves, late op messages, and how far its time limit is."""
        s = self._work.state
        c, started = self._work.constants, s.round.started_at
        fresh = next((h for h in range(s.round.cursor, s.half_length) if s.half[h].stored_at >= started), s.half_length)
        written = range(s.offsets.op, views_between(self._trace, number - 1, number)[-1].ops)
        late = bisect_right(written, started + c.timeout, key=lambda o: s.op[o].born_at)
        return fresh, late, started // max(c.timeout, 1)
