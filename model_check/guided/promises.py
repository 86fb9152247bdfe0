"""What a state of any instance promises: chances from searched graphs, by what transactions see of a state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from model_check.guided.graph import DISCOUNT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.guided.graph import Graph, Numbers
    from model_check.guided.views import Hashes, Words
    from model_check.guided.world import World


@dataclass(frozen=True)
class Promises:
    """Chances by view.

    Attributes
    ----------
    clauses : array, shape (clauses,)
        The numbers of the clauses.
    keys : array, shape (views,)
        Hashes of views, ascending.
    chances : array, shape (views, clauses)
    """

    clauses: Words
    keys: Hashes
    chances: Numbers

    def only(self, clauses: Sequence[int]) -> Promises:
        """Those of some of the clauses."""
        columns = np.flatnonzero(np.isin(self.clauses, clauses))
        return Promises(self.clauses[columns], self.keys, np.ascontiguousarray(self.chances[:, columns]))

    def of(self, world: World, states: Words, before: Numbers) -> Numbers:
        """What each state promises, shape (count, clauses).

        It is what the searched states have that look the same as a whole, else the most of what they have that look the
        same to one of its transactions; where no view is known, almost what was promised before.

        Parameters
        ----------
        before : array, shape (count, clauses)
            What the states promised from which these were reached.
        """
        views = world.views(states)
        rows = np.searchsorted(self.keys, views)
        rows[rows == len(self.keys)] = 0
        rows[self.keys[rows] != views] = UNKNOWN
        found = np.zeros(before.shape)
        _look_up(self.chances, rows, DISCOUNT, before, found)
        return found


UNKNOWN = -1


def learn(graphs: Sequence[Graph], clauses: Sequence[int]) -> Promises:
    """The mean chance of all states that have a view; the larger one where several graphs know it."""
    learned = [_by_view(graph, graph.chances(clauses)) for graph in graphs]
    keys = np.unique(np.concatenate([some for some, _ in learned]))
    chances = np.zeros((len(keys), len(clauses)))
    for some, means in learned:
        rows = np.searchsorted(keys, some)
        chances[rows] = np.maximum(chances[rows], means)
    return Promises(np.array(clauses, dtype=np.int64), keys, chances)


def _by_view(graph: Graph, chances: Numbers) -> tuple[Hashes, Numbers]:
    views = graph.world.views(graph.states[: graph.expanded])
    keys, rows, counts = np.unique(views, return_inverse=True, return_counts=True)
    means = np.zeros((len(keys), chances.shape[1]))
    _add(rows.reshape(len(chances), -1), chances, means)
    return keys, means / counts[:, None]


@njit(cache=True)
def _add(rows: Words, chances: Numbers, means: Numbers) -> None:
    for x in range(rows.shape[0]):
        for view in range(rows.shape[1]):
            for clause in range(chances.shape[1]):
                means[rows[x, view], clause] += chances[x, clause]


@njit(cache=True)
def _finest(rows: Words) -> int:
    """The row of the finest grain that is known."""
    for grain in range(rows.shape[0] - 1, -1, -1):
        if rows[grain] != UNKNOWN:
            return int(rows[grain])
    return UNKNOWN


@njit(cache=True)
def _look_up(chances: Numbers, rows: Words, discount: float, before: Numbers, found: Numbers) -> None:
    whole = rows.shape[1] - 1
    for x in range(rows.shape[0]):
        row = _finest(rows[x, whole, 1:])
        if row != UNKNOWN:
            found[x] = chances[row]
        for transaction in range(whole):
            row = _finest(rows[x, transaction])
            for clause in range(found.shape[1]):
                here = chances[row, clause] if row != UNKNOWN else discount * before[x, clause]
                found[x, clause] = max(found[x, clause], here)
