"""A tour of all transitions of a small instance: specification and broker take each of them, and the real classes, too.

The tour goes on from state to state, to the nearest transition that it has not taken, and begins anew where that is
nearer. A process can't be copied, so that shortest schedules to each state would repeat most steps.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from fuzz.lockstep.pairing import DRIVEN, Mismatch, Pair, Pairing, is_excluded
from fuzz.lockstep.script import Script
from fuzz.search.examples import FuzzFailure
from model_check.errors import ModelCheckError
from spec.language import Step, successors

if TYPE_CHECKING:
    from collections.abc import Callable

State = tuple[int, ...]
Graph = dict[State, list[tuple[Step, State]]]

MOST_STATES: Final = 100_000
"""An instance with more is too large for a tour."""

_BEGINNING: Final = 12
"""A new beginning costs as much as so many steps."""


@dataclass
class TransitionTour:
    """How far a tour has come."""

    transitions: int
    """Of the instance."""
    taken: int = 0
    """Transitions that were taken once or more."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Those that the lockstep excludes in their state, by action."""
    steps: int = 0
    beginnings: int = 1
    """Steps in all, and how often the tour began anew."""
    failure: FuzzFailure | None = None

    def to_json(self) -> dict[str, Any]:
        """The tour as plain data."""
        return {
            "transitions": self.transitions,
            "taken": self.taken,
            "left_out": dict(self.left_out),
            "steps": self.steps,
            "beginnings": self.beginnings,
        }


def graph_of(pairing: Pairing) -> Graph:
    """Each canonical state with its transitions; raises `ModelCheckError` for an instance that is too large."""
    state = pairing.machine.initial(pairing.constants)
    first = state.canonical()
    graph: Graph = {}
    waiting = deque([first])
    seen = {first}
    while waiting:
        values = waiting.popleft()
        graph[values] = list(successors(state.load(values), pairing.constants, pairing.steps))
        for _, after in graph[values]:
            if after not in seen:
                seen.add(after)
                waiting.append(after)
        if len(seen) > MOST_STATES:
            msg = (
                f"instance {pairing.world.instance.name} has more than {MOST_STATES:,} states in that environment, "
                "too many to take every transition; choose a smaller one such as tiny, or fewer faults"
            )
            raise ModelCheckError(msg)
    return graph


def tour(pairing: Pairing, report: Callable[[TransitionTour], None] | None = None) -> TransitionTour:
    """Take every transition; a mismatch ends the tour.

    Raises
    ------
    ModelCheckError
        The instance is too large.
    """
    graph = graph_of(pairing)
    done = TransitionTour(sum(map(len, graph.values())))
    untaken = {state: deque(transitions) for state, transitions in graph.items() if transitions}
    pair = Pair(pairing)
    try:
        while untaken:
            here = pair.state.canonical()
            path = _to_untaken(graph, untaken, here, _BEGINNING + len(pair.taken))
            if path is None:
                pair.collect()
                pair = Pair(pairing)
                done.beginnings += 1
                path = _to_untaken(graph, untaken, pair.state.canonical(), None)
                if path is None:
                    break
            for step in path:
                if not _take(pair, step, graph, untaken, done):
                    break
            if report is not None:
                report(done)
        pair.collect()
    except Mismatch as mismatch:
        done.failure = FuzzFailure(mismatch, Script(tuple(pair.taken), pair.asked))
    return done


def _to_untaken(
    graph: Graph, untaken: dict[State, deque[tuple[Step, State]]], here: State, most: int | None
) -> list[Step] | None:
    """The shortest way from a state over a transition that was not taken; None if there is none so short."""
    reached: dict[State, tuple[State, Step] | None] = {here: None}
    level, depth = [here], 0
    while level:
        for state in level:
            if state in untaken:
                path = [untaken[state][0][0]]
                before = reached[state]
                while before is not None:
                    path.append(before[1])
                    before = reached[before[0]]
                return path[::-1]
        depth += 1
        if most is not None and depth > most:
            return None
        following = []
        for state in level:
            for step, after in graph[state]:
                if after not in reached:
                    reached[after] = (state, step)
                    following.append(after)
        level = following
    return None


def _take(
    pair: Pair, step: Step, graph: Graph, untaken: dict[State, deque[tuple[Step, State]]], done: TransitionTour
) -> bool:
    """Take a step; False where the lockstep excludes it here, so that no way leads over it any more."""
    here = pair.state.canonical()
    is_new = any(each == step for each, _ in untaken.get(here, ()))
    if is_new:
        untaken[here] = deque((each, after) for each, after in untaken[here] if each != step)
        if not untaken[here]:
            del untaken[here]
    if is_excluded(DRIVEN[step.action.name], pair.side, step):
        done.left_out[step.action.name] += is_new
        graph[here] = [(each, after) for each, after in graph[here] if each != step]
        return False
    refused = pair.take(step)
    if refused is not None:
        pair.disagree(str(step), "whether it may be taken", "yes", str(refused))
    done.taken += is_new
    done.steps += 1
    return True
