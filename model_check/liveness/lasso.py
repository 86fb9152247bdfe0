"""The shortest way into a fair cycle, and round it: how a response is violated, as steps that CPython takes again."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from model_check.errors import EvaluationError
from model_check.liveness.fair_cycles import allows, is_step_of
from spec.language import Refused, is_witnessed, take

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy.typing as npt

    from model_check.liveness.graph import Flags, Graph
    from spec.constants import Constants
    from spec.language import Action, Fairness, Machine, MachineState, Response, Step


@dataclass(frozen=True, slots=True)
class Lasso:
    """A run for ever.

    Attributes
    ----------
    stem : tuple of Step
        From the initial state to the cycle.
    cycle : tuple of Step
        Round it once; empty where the run stays in its last state, as nothing that is promised can happen there.
    owed_from : int
        Steps of the stem after which the response is owed, and never comes.
    """

    stem: tuple[Step, ...]
    cycle: tuple[Step, ...]
    owed_from: int


def shortest_lasso(
    graph: Graph, response: Response, promises: Sequence[Fairness], components: npt.NDArray[np.int32]
) -> Lasso | None:
    """A lasso with the shortest stem; None where no component is fair."""
    if (components < 0).all():
        return None
    stem, entry, owed_from = _stem(graph, response, components >= 0)
    inside = components == components[entry]
    cycle = _cycle(graph, response, promises, inside, entry)
    steps = [graph.steps[label] for label in graph.labels[stem]]
    return Lasso(tuple(steps), tuple(graph.steps[label] for label in graph.labels[cycle]), owed_from)


def _stem(graph: Graph, response: Response, goal: Flags) -> tuple[list[int], int, int]:
    """The edges to the first state of the goal that is reached with the response owed, that state, and since when."""
    owed = ~graph.wanted[response] & ~graph.at_the_edge
    begins = owed & graph.given[response]
    known = np.full((2, graph.states), -2, dtype=np.int64)  # the edge by which a state was reached, free and owing
    known[0, 0] = -1
    queue = deque([(0, 0)])
    while queue:
        owing, state = queue.popleft()
        if not owing and begins[state] and known[1, state] == -2:
            known[1, state] = -1  # from here on, it is owed
            queue.appendleft((1, state))
        if owing and goal[state]:
            return _back(graph, known, state)
        for edge in range(int(graph.starts[state]), int(graph.starts[state + 1])):
            target = int(graph.targets[edge])
            if target >= 0 and known[owing, target] == -2 and (owed[target] if owing else True):
                known[owing, target] = edge
                queue.append((owing, target))
    message = f"{response.name}: no way leads to a cycle that was found"
    raise EvaluationError(message)


def _back(graph: Graph, known: npt.NDArray[np.int64], state: int) -> tuple[list[int], int, int]:
    edges: list[int] = []
    at, owing, owed_from = state, 1, 0
    while owing or known[0, at] >= 0:
        edge = int(known[owing, at])
        if edge == -1:
            owing, owed_from = 0, len(edges)
            continue
        edges.append(edge)
        at = int(np.searchsorted(graph.starts, edge, side="right")) - 1
    return edges[::-1], state, len(edges) - owed_from


def _cycle(graph: Graph, response: Response, promises: Sequence[Fairness], inside: Flags, entry: int) -> list[int]:
    """Edges from the entry back to it, on which every promise is kept; none where the run may end there."""
    may_be_taken = np.array([step.action.event not in response.once for step in graph.steps])[graph.labels]
    open_promises: list[tuple[Flags, Flags]] = []
    for promise in promises:
        where, edges = allows(graph, promise), is_step_of(graph, promise)
        if promise.is_strong and not where[inside].any():
            continue
        open_promises.append((edges, np.zeros_like(where) if promise.is_strong else ~where))
    if int(inside.sum()) == 1 and all(free[entry] for _, free in open_promises):
        return []
    path: list[int] = []
    at = entry
    is_kept = [bool(free[entry]) for _, free in open_promises]
    while not all(is_kept):
        wanted = [pair for pair, kept in zip(open_promises, is_kept, strict=True) if not kept]

        def keeps_one(edge: int, target: int, wanted: list[tuple[Flags, Flags]] = wanted) -> bool:
            return any(bool(edges[edge] or free[target]) for edges, free in wanted)

        part = _nearest(graph, inside, may_be_taken, at, keeps_one)
        path += part
        for edge in part:
            at = int(graph.targets[edge])
            is_kept = [
                kept or bool(edges[edge] or free[at])
                for kept, (edges, free) in zip(is_kept, open_promises, strict=True)
            ]
    if at != entry or not path:
        path += _nearest(graph, inside, may_be_taken, at, lambda _, target: target == entry)
    return path


def _nearest(
    graph: Graph, inside: Flags, may_be_taken: Flags, start: int, is_it: Callable[[int, int], bool]
) -> list[int]:
    """The shortest way inside from a state over an edge that is wanted."""
    by: dict[int, int] = {}
    queue = deque([start])
    while queue:
        state = queue.popleft()
        for edge in range(int(graph.starts[state]), int(graph.starts[state + 1])):
            target = int(graph.targets[edge])
            if target < 0 or not inside[target] or not may_be_taken[edge]:
                continue
            if is_it(edge, target):
                return [*_edges_to(graph, by, start, state), edge]
            if target not in by and target != start:
                by[target] = edge
                queue.append(target)
    message = "a component that was found is none"
    raise EvaluationError(message)


def _edges_to(graph: Graph, by: dict[int, int], start: int, state: int) -> list[int]:
    edges: list[int] = []
    while state != start:
        edges.append(by[state])
        state = int(np.searchsorted(graph.starts, by[state], side="right")) - 1
    return edges[::-1]


def require_lasso(
    machine: Machine, constants: object, response: Response, promises: Iterable[Fairness], lasso: Lasso
) -> None:
    """Take a lasso in CPython, twice round, and look at each state whether the response is owed and all promises kept.

    Raises
    ------
    EvaluationError
        When it is no violation; says why.
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
    """What is not alike before and after the steps behind `loop`, once what is over is forgotten; none if they close.

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
