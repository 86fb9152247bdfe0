"""The shortest way into a fair cycle, and round it: how a response is violated, as steps that CPython takes again.

Ways are searched breadth-first, a whole level at a time, as states may be millions. Within a level the order is that in
which one state after the other would be looked at, so that of several shortest ways always the same one is found.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from model_check.errors import EvaluationError
from model_check.liveness.fair_cycles import promised
from spec.language import Action, Fairness, Machine, MachineState, Refused, Response, Step, is_witnessed, take

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from model_check.liveness.graph import Flags, Graph
    from spec.constants import Constants


@dataclass(frozen=True, slots=True)
class Lasso:
    """A run for ever."""

    stem: tuple[Step, ...]  # from the initial state to the cycle
    # round it once; empty where the run stays in its last state: nothing promised can happen there
    cycle: tuple[Step, ...]
    owed_from: int  # steps of the stem after which the response is owed, and never comes


def shortest_lasso(
    graph: Graph, response: Response, promises: Sequence[Fairness], components: npt.NDArray[np.int32]
) -> Lasso | None:
    """A lasso with the shortest stem; None where no component is fair."""
    if (components < 0).all():
        return None
    owed = ~graph.wanted[response] & ~graph.at_the_edge
    found = way_into(graph, owed & graph.given[response], owed, components >= 0)
    if found is None:
        message = f"{response.name}: no way leads to a cycle that was found"
        raise EvaluationError(message)
    stem, owed_from = found
    entry = int(graph.targets[stem[-1]]) if stem else 0
    inside = components == components[entry]
    cycle = _cycle(graph, response, promises, inside, entry)
    steps = [graph.steps[label] for label in graph.labels[stem]]
    return Lasso(tuple(steps), tuple(graph.steps[label] for label in graph.labels[cycle]), owed_from)


def _cycle(graph: Graph, response: Response, promises: Sequence[Fairness], inside: Flags, entry: int) -> list[int]:
    """Edges from the entry back to it, on which every promise is kept; none where the run may end there."""
    usable = np.array([step.action.event not in response.once for step in graph.steps])[graph.labels]
    usable &= inside[graph.sources] & (graph.targets >= 0) & inside[graph.targets]
    keeps, allowed = promised(graph, promises)
    weak = np.uint32(sum(1 << number for number, promise in enumerate(promises) if not promise.is_strong))
    keeps |= ~allowed[graph.targets] & weak  # a step of a weak promise, or one that leads where it asks nothing
    asked = int(np.bitwise_or.reduce(allowed[inside])) | int(weak)
    open_ones = asked & ~(~int(allowed[entry]) & int(weak))
    if int(inside.sum()) == 1 and not open_ones:
        return []
    path: list[int] = []
    while open_ones:
        wanted = keeps & np.uint32(open_ones) != 0
        part = _inside(way_over(graph, usable, int(graph.targets[path[-1]]) if path else entry, wanted))
        path += part
        open_ones &= ~int(np.bitwise_or.reduce(keeps[part]))
    if not path or graph.targets[path[-1]] != entry:
        path += _inside(
            way_over(graph, usable, int(graph.targets[path[-1]]) if path else entry, graph.targets == entry)
        )
    return path


def _inside(way: list[int] | None) -> list[int]:
    if way is None:
        message = "a component that was found is none"
        raise EvaluationError(message)
    return way


def require_lasso(
    machine: Machine, constants: object, response: Response, promises: Iterable[Fairness], lasso: Lasso
) -> None:
    """Take a lasso in CPython, twice round, and look at each state whether the response is owed and all promises kept.

    `EvaluationError` when it is no violation; says why.
    """
    states = _taken(machine, constants, (*lasso.stem, *lasso.cycle, *lasso.cycle))
    state = machine.initial(constants)
    for number, values in enumerate(states):
        if number >= lasso.owed_from and is_witnessed(state.load(values), constants, response.wanting):
            _refuse(response, "what is wanted comes")
    giving = response.giving
    if giving is not None and not is_witnessed(state.load(states[lasso.owed_from]), constants, giving):
        _refuse(response, "nothing is owed")
    first, once = len(lasso.stem), len(lasso.cycle)
    if not states[first] == states[first + once] == states[-1]:
        _refuse(response, "the cycle does not close")
    if any(step.action.event in response.once for step in lasso.cycle):
        _refuse(response, "what comes to an end comes again and again")
    steps = machine.steps(constants)
    enabled = [_enabled(state.load(values), constants, steps) for values in states[first : first + once + 1]]
    taken = {step.action for step in lasso.cycle}
    for promise in promises:
        allowing = [not actions.isdisjoint(promise.actions) for actions in enabled]
        is_asked = any(allowing) if promise.is_strong else all(allowing)
        if is_asked and taken.isdisjoint(promise.actions):
            _refuse(response, f"the promise {promise.name} is broken")


def what_does_not_close(machine: Machine, constants: Constants, path: Sequence[Step], loop: int) -> tuple[str, ...]:
    """The differences before and after the steps behind `loop`, once what is over is forgotten; none if they close.

    The constants are those of an instance with room for the whole path.
    """
    forgetting = replace(constants, forgets=1)
    states = _taken(replace(machine, forget=None), forgetting, path)
    first, last = (machine.initial(forgetting), machine.initial(forgetting))
    for state, values in ((first, states[loop]), (last, states[-1])):
        state.load(machine.forgotten(state, forgetting, values))
    before, after = first.show(), last.show()
    return tuple(f"{name}: {before[name]} → {after[name]}" for name in before if before[name] != after[name])


def _taken(machine: Machine, constants: object, path: Sequence[Step]) -> list[tuple[int, ...]]:
    """The states along a path, what is over forgotten behind each step."""
    state, forgetting = machine.initial(constants), machine.initial(constants)
    states = [state.canonical()]
    for step in path:
        refused = take(state, constants, step)
        if refused is not None:
            message = f"{step}, on a path that a search gave, cannot be taken: {refused}"
            raise EvaluationError(message)
        state.load(machine.forgotten(forgetting, constants, state.canonical()))
        states.append(tuple(state.memory.values))
    return states


def _enabled(state: MachineState, constants: object, steps: Sequence[Step]) -> set[Action]:
    """The actions that a state allows."""
    found: set[Action] = set()
    before = tuple(state.memory.values)
    for step in steps:
        try:
            step.action.function(state, constants, *step.arguments)
        except Refused:
            continue
        found.add(step.action)
        state.load(before)
    return found


def _refuse(response: Response, why: str) -> NoReturn:
    message = f"a lasso of {response.name} violates nothing: {why}"
    raise EvaluationError(message)


# --- shortest ways ----------------------------------------------------------------------------------------------------

NOT_REACHED, FIRST = -2, -1
"""In place of the edge by which a state was reached."""


def way_into(graph: Graph, begins: Flags, owed: Flags, goal: Flags) -> tuple[list[int], int] | None:
    """The shortest way to a state of the goal on which something begins to be owed, and stays so.

    Parameters
    ----------
    begins, owed, goal : array, shape (states,)
        Where it may begin, where it can stay, and where the way may end.

    Returns
    -------
    way : list of int
        Edges from the initial state.
    owed_from : int
        After how many of them it begins to be owed.
    """
    states = graph.states  # what is owed in state x is written x + states
    known = np.full(2 * states, NOT_REACHED, dtype=np.int64)
    known[0] = FIRST
    level = np.zeros(1, dtype=np.int64)
    while len(level):
        now = (level < states) & begins[level % states] & (known[(level % states) + states] == NOT_REACHED)
        beginning = level[now] + states
        known[beginning] = FIRST
        level = np.insert(level, np.flatnonzero(now) + 1, beginning)
        there = level[(level >= states) & goal[level % states]]
        if len(there):
            return _way_back(graph, known, int(there[0]))
        edges, owner = edges_of(graph, level % states)
        is_owing = level[owner] >= states
        targets = graph.targets[edges].astype(np.int64)
        may = (targets >= 0) & (owed[targets] | ~is_owing)
        level = _reached(known, edges[may], (targets + states * is_owing)[may])
    return None


def _way_back(graph: Graph, known: npt.NDArray[np.int64], at: int) -> tuple[list[int], int]:
    way: list[int] = []
    owed_from = 0
    while known[at] != FIRST or at >= graph.states:
        edge, layer = int(known[at]), at // graph.states
        if edge == FIRST:
            at, owed_from = at - graph.states, len(way)
        else:
            way.append(edge)
            at = _source(graph, edge) + layer * graph.states
    return way[::-1], len(way) - owed_from


def way_over(graph: Graph, usable: Flags, start: int, goal: Flags) -> list[int] | None:
    """The shortest way from a state whose last edge is one of the goal.

    Parameters
    ----------
    usable, goal : array, shape (edges,)
    """
    known = np.full(graph.states, NOT_REACHED, dtype=np.int64)
    known[start] = FIRST
    level = np.array([start], dtype=np.int64)
    while len(level):
        edges = edges_of(graph, level)[0]
        edges = edges[usable[edges]]
        there = edges[goal[edges]]
        if len(there):
            way = [int(there[0])]
            while known[at := _source(graph, way[-1])] != FIRST:
                way.append(int(known[at]))
            return way[::-1]
        level = _reached(known, edges, graph.targets[edges].astype(np.int64))
    return None


def edges_of(graph: Graph, states: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The edges of some states, one state after the other, and of each edge the place of its state among these."""
    firsts = graph.starts[states]
    counts = graph.starts[states + 1] - firsts
    owner = np.repeat(np.arange(len(states)), counts)
    return (firsts - np.cumsum(counts) + counts)[owner] + np.arange(len(owner)), owner


def _reached(
    known: npt.NDArray[np.int64], edges: npt.NDArray[np.int64], targets: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """The targets that were not known, each once, in the order in which edges lead to them; they are known now."""
    is_new = known[targets] == NOT_REACHED
    edges, targets = edges[is_new], targets[is_new]
    firsts = np.sort(np.unique(targets, return_index=True)[1])
    known[targets[firsts]] = edges[firsts]
    return targets[firsts]


def _source(graph: Graph, edge: int) -> int:
    return int(np.searchsorted(graph.starts, edge, side="right")) - 1
