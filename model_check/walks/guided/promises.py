"""The promise of a state of any instance: chances from searched graphs, by the views of its transactions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from model_check.explicit.code_generation.compile_lock import cached_njit
from model_check.walks.guided.graph import DISCOUNT, Numbers, WalkGraph, means_by_view
from model_check.walks.guided.views import Grain, Hashes, Words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.walks.guided.state_space import StateSpace


@dataclass(frozen=True)
class Promises:
    """Chances by view."""

    clauses: Words  # shape (clauses,): the numbers of the clauses
    slots: Hashes  # shape (2^n,): a hash table: the hash of a view, or 0
    rows: Words  # shape (2^n,): where in `chances` the view in each slot has its own
    chances: Numbers  # shape (views, clauses)

    def only(self, clauses: Sequence[int]) -> Promises:
        """Those of some of the clauses."""
        columns = np.flatnonzero(np.isin(self.clauses, clauses))
        return Promises(self.clauses[columns], self.slots, self.rows, np.ascontiguousarray(self.chances[:, columns]))

    def by_view(self, clauses: Sequence[int]) -> tuple[Hashes, Numbers]:
        """The hash of each view, and what it promises of each of these clauses; 0 where it knows nothing of one."""
        filled = np.flatnonzero(self.slots)
        chances = np.zeros((len(filled), len(clauses)))
        _, ours, theirs = np.intersect1d(self.clauses, clauses, return_indices=True)
        chances[:, theirs] = self.chances[self.rows[filled]][:, ours]
        return self.slots[filled], chances

    def of(self, space: StateSpace, states: Words, before: Numbers) -> Numbers:
        """The promise of each state, shape (count, clauses).

        It is the most of what the searched states have that look the same as a whole, and of what those have that look
        the same to one of its transactions; where no view is known, almost what was promised before.

        `before`, of that shape, is what the states promised from which these were reached.
        """
        found = np.zeros(before.shape)
        _look_up(self.slots, self.rows, self.chances, space.views(states), DISCOUNT, before, found)
        return found


UNKNOWN: Final = -1

MESSAGES: Final = int(Grain.MESSAGES)
QUEUES: Final = int(Grain.QUEUES)


def learn(graphs: Sequence[WalkGraph], clauses: Sequence[int], before: Promises | None = None) -> Promises:
    """The mean chance of all states that have a view; the largest one where several graphs, or `before`, know it."""
    learned = [_by_view(graph, graph.chances(clauses)) for graph in graphs]
    if before is not None:
        learned.append(before.by_view(clauses))
    keys = np.unique(np.concatenate([some for some, _ in learned]))
    chances = np.zeros((len(keys), len(clauses)))
    for some, means in learned:
        places = np.searchsorted(keys, some)
        chances[places] = np.maximum(chances[places], means)
    slots = np.zeros(1 << (2 * len(keys)).bit_length(), dtype=np.uint64)
    rows = np.zeros(len(slots), dtype=np.int64)
    _enter(keys, slots, rows)
    return Promises(np.array(clauses, dtype=np.int64), slots, rows, chances)


def _by_view(graph: WalkGraph, chances: Numbers) -> tuple[Hashes, Numbers]:
    views = graph.space.views(graph.states[: graph.expanded])
    keys, rows = np.unique(views, return_inverse=True)
    means, _ = means_by_view(rows.reshape(len(chances), -1), chances, len(keys))
    return keys, means


@cached_njit
def _enter(keys: Hashes, slots: Hashes, rows: Words) -> None:
    """Enter different keys with their places."""
    most = slots.shape[0] - 1
    for place in range(keys.shape[0]):
        slot = np.int64(keys[place] & np.uint64(most))
        while slots[slot] != np.uint64(0):
            slot = (slot + 1) & most
        slots[slot] = keys[place]
        rows[slot] = place


@cached_njit
def _finest(views: Hashes, coarsest: int, slots: Hashes, rows: Words) -> int:
    """The row of the finest grain that is known, down to the coarsest that is asked for."""
    most = slots.shape[0] - 1
    for grain in range(views.shape[0] - 1, coarsest - 1, -1):
        slot = np.int64(views[grain] & np.uint64(most))
        while slots[slot] != np.uint64(0):
            if slots[slot] == views[grain]:
                return int(rows[slot])
            slot = (slot + 1) & most
    return UNKNOWN


@cached_njit
def _look_up(
    slots: Hashes, rows: Words, chances: Numbers, views: Hashes, discount: float, before: Numbers, found: Numbers
) -> None:
    whole = views.shape[1] - 1
    for x in range(views.shape[0]):
        row = _finest(views[x, whole], QUEUES, slots, rows)
        if row != UNKNOWN:
            found[x] = chances[row]
        for transaction in range(whole):
            row = _finest(views[x, transaction], MESSAGES, slots, rows)
            for clause in range(found.shape[1]):
                here = chances[row, clause] if row != UNKNOWN else discount * before[x, clause]
                found[x, clause] = max(found[x, clause], here)
