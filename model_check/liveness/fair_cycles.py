"""States of which a fair run can go on for ever without what is wanted.

Strongly connected components of the states where it is not; of these only what is fair. A promise of weak fairness is
kept in a component if one of its steps is taken there or some state allows none of them; one of strong fairness, if one
is taken or no state allows any. Where strong fairness is broken, the states that allow such a step are left out, and
the rest falls into components again (Emerson and Lei 1987; Lichtenstein and Pnueli 1985). A state that allows no
promised step may be the last of its run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from model_check.liveness.graph import Flags, Graph
    from spec.language import Action, Fairness, Response

    Bits = npt.NDArray[np.uint32]


def _matrix(sources: npt.NDArray[np.int32], targets: npt.NDArray[np.int32], states: int) -> csr_array:
    """Edges as SciPy has them; they come in the order of their sources, so that nothing is sorted."""
    ends = np.cumsum(np.bincount(sources, minlength=states))
    starts = np.concatenate([np.zeros(1, dtype=np.int64), ends])
    small = np.int32 if len(targets) < np.iinfo(np.int32).max else np.int64
    ones = np.ones(len(targets), dtype=np.int8)
    return csr_array((ones, targets.astype(small), starts.astype(small)), shape=(states, states))


def promised(graph: Graph, promises: Sequence[Fairness]) -> tuple[Bits, Bits]:
    """Of which promises each edge is a step, and of which each state allows one: a bit each."""
    of_step = np.array([_bits_of(step.action, promises) for step in graph.steps], dtype=np.uint32)
    keeps = of_step[graph.labels]
    return keeps, _joined(keeps, graph)


def never_wanted(graph: Graph, response: Response) -> Flags:
    """States at which it is still owed and not there, and nothing ahead is unknown; reachable with it owed."""
    owed = ~graph.wanted[response] & ~graph.at_the_edge
    reached = owed & graph.given[response]
    if response.given is None:
        return reached
    inside = owed[graph.sources] & (graph.targets >= 0) & owed[graph.targets]
    seeds = np.flatnonzero(reached).astype(np.int32)
    beginning = np.full(len(seeds), graph.states, dtype=np.int32)
    sources, targets = (
        np.concatenate(both) for both in ((graph.sources[inside], beginning), (graph.targets[inside], seeds))
    )
    order = breadth_first_order(_matrix(sources, targets, graph.states + 1), graph.states, return_predecessors=False)
    reached[order[1:]] = True
    return reached


def fair_components(graph: Graph, response: Response, promises: Sequence[Fairness]) -> npt.NDArray[np.int32]:
    """For each state the number of its fair component, in which the response never comes; -1 where there is none."""
    may_recur = np.array([step.action.event not in response.once for step in graph.steps])
    keeps, allowed = promised(graph, promises)
    owed = never_wanted(graph, response)
    is_last = owed & (allowed == 0)
    states = np.flatnonzero(owed)
    part = _Part.of(graph, states, keeps, may_recur[graph.labels], allowed[states])
    numbers = np.full(graph.states, -1, dtype=np.int64)
    while True:
        matrix = _matrix(part.sources, part.targets, len(part.states))
        labels = connected_components(matrix, connection="strong")[1]
        fair = part.fair(labels, promises)
        if fair.all():
            break
        part = part.without(~fair, labels)
    numbers[part.states] = labels
    alone = labels.max(initial=0) + np.cumsum(is_last)
    return np.where(numbers >= 0, numbers, np.where(is_last, alone, -1)).astype(np.int32)


def _bits_of(action: Action, promises: Sequence[Fairness]) -> int:
    """Of which promises the action is a step: a bit each."""
    return sum(1 << number for number, promise in enumerate(promises) if action in promise.actions)


def _joined(keeps: Bits, graph: Graph) -> Bits:
    """For each state the bits of all its edges."""
    joined = np.zeros(graph.states, dtype=np.uint32)
    has_edges = np.flatnonzero(np.diff(graph.starts))
    if len(has_edges):
        joined[has_edges] = np.bitwise_or.reduceat(keeps, graph.starts[has_edges])
    return joined


@dataclass(frozen=True, slots=True)
class _Part:
    """Some states of a graph and the edges among them, which are numbered as these states are."""

    states: npt.NDArray[np.int64]  # shape (n,): their numbers in the graph
    allows: Bits  # shape (n,): the promises of which each allows a step, a bit each
    sources: npt.NDArray[np.int32]  # shape (edges,): each edge, in the order of its source
    targets: npt.NDArray[np.int32]
    keeps: Bits  # of which promises it is a step

    @staticmethod
    def of(graph: Graph, states: npt.NDArray[np.int64], keeps: Bits, may_recur: Flags, allows: Bits) -> _Part:
        """The states with those edges among them that may be taken again and again."""
        place = np.full(graph.states + 1, -1, dtype=np.int32)  # the last one stands for what was not found
        place[states] = np.arange(len(states), dtype=np.int32)
        targets = place[graph.targets]
        inside = np.flatnonzero(may_recur & (targets >= 0) & (place[graph.sources] >= 0))
        return _Part(states, allows, place[graph.sources[inside]], targets[inside], keeps[inside])

    def fair(self, labels: npt.NDArray[np.int32], promises: Sequence[Fairness]) -> Flags:
        """Whether something goes round in the component of each state, and each promise is kept there, as far as seen.

        Where strong fairness is broken, only the states that allow such a step are not.
        """
        within = labels[self.sources] == labels[self.targets]
        of_edge, keeps = labels[self.sources[within]], self.keeps[within]
        is_fair = _among(of_edge, labels)[labels]
        for number, promise in enumerate(promises):
            bit = np.uint32(1 << number)
            has_step, is_free = _among(of_edge[keeps & bit != 0], labels), self.allows & bit == 0
            if promise.is_strong:
                is_fair &= has_step[labels] | is_free
            else:
                is_fair &= (has_step | _among(labels[is_free], labels))[labels]
        return is_fair

    def without(self, gone: Flags, labels: npt.NDArray[np.int32]) -> _Part:
        """The rest without some states, and without all edges between components."""
        place = (np.cumsum(~gone) - 1).astype(np.int32)
        inside = (labels[self.sources] == labels[self.targets]) & ~gone[self.sources] & ~gone[self.targets]
        return _Part(
            self.states[~gone], self.allows[~gone], place[self.sources[inside]], place[self.targets[inside]],
            self.keeps[inside],
        )  # fmt: skip


def _among(some: npt.NDArray[np.int32], labels: npt.NDArray[np.int32]) -> Flags:
    """For each component whether it is among some."""
    found = np.zeros(int(labels.max(initial=0)) + 1, dtype=np.bool_)
    found[some] = True
    return found
