"""The shortest way into a fair cycle, and round it: how a response is violated, as steps that CPython takes again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from model_check.errors import EvaluationError
from model_check.liveness.fair_cycles import promised
from model_check.liveness.shortest_ways import way_into, way_over
from spec.language import Refused, is_witnessed, take

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
