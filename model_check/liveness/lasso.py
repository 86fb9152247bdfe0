"""The shortest way into a fair cycle, and round it: how a response is violated, as steps that CPython takes again."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from model_check.errors import EvaluationError
from model_check.liveness.fair_cycles import allows, is_step_of
from spec.language import Refused, is_witnessed, take

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy.typing as npt

    from model_check.liveness.graph import Flags, Graph
    from spec.language import Fairness, Machine, MachineState, Response, Step


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
        part = _nearest(
            graph, inside & True, may_be_taken, at,
            lambda edge, target, wanted=wanted: any(edges[edge] or free[target] for edges, free in wanted),
        )  # fmt: skip
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
    state, forgetting = machine.initial(constants), machine.initial(constants)
    steps = machine.steps(constants)
    giving = response.giving

    def go(step: Step) -> None:
        refused = take(state, constants, step)
        if refused is not None:
            _refuse(response, f"{step} is refused: {refused}")
        state.load(machine.forgotten(forgetting, constants, state.canonical()))

    def must_be_owed() -> None:
        if is_witnessed(state, constants, response.wanting):
            _refuse(response, "what is wanted comes")

    for number, step in enumerate(lasso.stem):
        if number == lasso.owed_from and giving is not None and not is_witnessed(state, constants, giving):
            _refuse(response, "nothing is owed")
        if number > lasso.owed_from:
            must_be_owed()
        go(step)
    must_be_owed()
    if lasso.owed_from == len(lasso.stem) and giving is not None and not is_witnessed(state, constants, giving):
        _refuse(response, "nothing is owed")
    begin = tuple(state.canonical())
    enabled = [_enabled(state, constants, steps)]
    for _ in range(2):
        for step in lasso.cycle:
            go(step)
            must_be_owed()
            enabled.append(_enabled(state, constants, steps))
        if tuple(state.canonical()) != begin:
            _refuse(response, "the cycle does not close")
    taken = {step.action for step in lasso.cycle}
    for promise in promises:
        allowing = [any(action in promise.actions for action in actions) for actions in enabled]
        is_broken = any(allowing) if promise.is_strong else all(allowing)
        if is_broken and not any(action in promise.actions for action in taken):
            _refuse(response, f"the promise {promise.name} is broken")
    if any(step.action.event in response.once for step in lasso.cycle):
        _refuse(response, "what comes to an end comes again and again")


def _enabled(state: MachineState, constants: object, steps: Sequence[Step]) -> set[object]:
    """The actions that a state allows."""
    found = set()
    before = tuple(state.memory.values)
    for step in steps:
        try:
            step.action.function(state, constants, *step.arguments)
        except Refused:
            continue
        found.add(step.action)
        state.load(before)
    return found


def _refuse(response: Response, why: str) -> None:
    message = f"a lasso of {response.name} violates nothing: {why}"
    raise EvaluationError(message)
