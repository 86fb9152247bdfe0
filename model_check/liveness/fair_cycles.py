"""States of which a fair run can go on for ever without what is wanted.

Strongly connected components of the states where it is not; of these only what is fair. A promise of weak fairness is
kept in a component if one of its steps is taken there or some state allows none of them; one of strong fairness, if one
is taken or no state allows any. Where strong fairness is broken, the states that allow such a step are left out, and
the rest falls into components again (Emerson and Lei 1987; Lichtenstein and Pnueli 1985). A state that allows no
promised step may be the last of its run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from model_check.liveness.graph import Flags, Graph
    from spec.language import Fairness, Response

    Components = Callable[[npt.NDArray[np.int32], npt.NDArray[np.int32], int], npt.NDArray[np.int32]]
    """Sources and targets of edges among so many states → the component of each state."""


def by_scipy(sources: npt.NDArray[np.int32], targets: npt.NDArray[np.int32], states: int) -> npt.NDArray[np.int32]:
    """Pearce's algorithm, as SciPy has it."""
    matrix = csr_array((np.ones(len(sources), dtype=np.int8), (sources, targets)), shape=(states, states))
    labels: npt.NDArray[np.int32] = connected_components(matrix, connection="strong")[1]
    return labels


def allows(graph: Graph, promise: Fairness) -> Flags:
    """The states that allow a step of the promise."""
    allowed = np.zeros(graph.states, dtype=np.bool_)
    allowed[graph.sources[is_step_of(graph, promise)]] = True
    return allowed


def is_step_of(graph: Graph, promise: Fairness) -> Flags:
    """The edges that are steps of the promise."""
    return np.array([step.action in promise.actions for step in graph.steps])[graph.labels]


def never_wanted(graph: Graph, response: Response) -> Flags:
    """States at which it is still owed and not there, and nothing ahead is unknown; reachable with it owed."""
    owed = ~graph.wanted[response] & ~graph.at_the_edge
    reached = owed & graph.given[response]
    inside = owed[graph.sources] & (graph.targets >= 0) & owed[graph.targets]
    sources, targets = graph.sources[inside], graph.targets[inside]
    seeds = np.flatnonzero(reached).astype(np.int32)
    beginning = np.full(len(seeds), graph.states, dtype=np.int32)
    sources, targets = np.concatenate([sources, beginning]), np.concatenate([targets, seeds])
    shape = (graph.states + 1, graph.states + 1)
    matrix = csr_array((np.ones(len(sources), dtype=np.int8), (sources, targets)), shape=shape)
    order = breadth_first_order(matrix, graph.states, return_predecessors=False)
    reached[order[1:]] = True
    return reached


def fair_components(
    graph: Graph, response: Response, promises: Sequence[Fairness], components: Components = by_scipy
) -> npt.NDArray[np.int32]:
    """For each state the number of its fair component, in which the response never comes; -1 where there is none."""
    owed = never_wanted(graph, response)
    is_allowed = np.array([step.action.event not in response.once for step in graph.steps])[graph.labels]
    allowed = [allows(graph, promise) for promise in promises]
    taken = [is_step_of(graph, promise) for promise in promises]
    is_last = owed & ~np.any(allowed, axis=0) if promises else owed.copy()
    left = owed.copy()
    while True:
        inside = left[graph.sources] & is_allowed & (graph.targets >= 0) & left[graph.targets]
        labels = components(graph.sources[inside], graph.targets[inside], graph.states)
        inside[inside] = labels[graph.sources[inside]] == labels[graph.targets[inside]]
        before = int(left.sum())
        left &= _has(graph.sources[inside], labels)[labels]
        for promise, where, edges in zip(promises, allowed, taken, strict=True):
            is_taken = _has(graph.sources[inside & edges], labels)
            if promise.is_strong:
                left &= is_taken[labels] | ~where
            else:
                left &= (is_taken | _has(np.flatnonzero(left & ~where), labels))[labels]
        if int(left.sum()) == before:
            break
    alone = labels.max(initial=0) + 1 + np.cumsum(is_last) - 1
    return np.where(left, labels, np.where(is_last, alone, -1)).astype(np.int32)


def _has(states: npt.NDArray[np.int64] | npt.NDArray[np.int32], labels: npt.NDArray[np.int32]) -> Flags:
    """For each component whether it has some of these states."""
    found = np.zeros(int(labels.max(initial=0)) + 1, dtype=np.bool_)
    found[labels[states]] = True
    return found
