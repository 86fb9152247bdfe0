"""A searched instance, and from each of its states the chance that a walk violates a clause soon."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from model_check.explicit.code_generation.compile_lock import cached_njit
from model_check.walks.guided.state_space import AT_ONCE, StateSpace, are_violated
from model_check.walks.guided.views import Grain, Hashes, Words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


Numbers = npt.NDArray[np.float64]

DISCOUNT: Final = 0.97
"""Of a violation that is a step further away: a walk may end before it gets there."""

SWEEPS: Final = 40
SETTLED: Final = 0.01
"""The most sweeps over all states, and the change of the initial state's chances, relative, at which they end."""

SWEEPS_BETWEEN: Final = 5
"""After so many sweeps, states that were not expanded are given the chance of their like once more."""


@dataclass(frozen=True)
class WalkGraph:
    """The states of a search in breadth, cut off where its quota ended, and their steps."""

    space: StateSpace
    states: Words  # shape (count, words): in the order in which they were found; the initial state is the first
    expanded: int  # states whose steps were all taken, the first ones: what the search cost
    firsts: Words  # shape (expanded + 1,): where the steps of each of them begin in the arrays that follow
    targets: Words  # shape (steps,): the state that a step leads to
    weights: Numbers  # shape (steps,): how likely it is
    verdicts: Words  # shape (count, words of a verdict)

    @property
    def is_whole(self) -> bool:
        """Whether the steps of all its states are known."""
        return self.expanded == len(self.states)

    def violated(self) -> Words:
        """The numbers of the clauses that some state violates."""
        clauses = range(len(self.space.compiled.machine.clauses))
        return np.flatnonzero(are_violated(self.verdicts, clauses).any(axis=0))

    def chances(self, clauses: Sequence[int]) -> Numbers:
        """The chance of a walk to violate each clause from each expanded state on, the less the later.

        The mean of `DISCOUNT` to the power of the steps to the first violation, shape (expanded, clauses); 0 at a
        violation itself, as no new one is to be met there. A state that was not expanded counts as what states do that
        look the same to its transactions (`model_check.walks.guided.views`).
        """
        violated = are_violated(self.verdicts, clauses)
        chances = np.zeros(violated.shape)
        views = self.space.views(self.states)
        ours = views[:, :-1]
        likes = [views[:, -1:, Grain.QUEUES], ours[:, :, Grain.QUEUES], ours[:, :, Grain.MESSAGES]]
        numbered = [_numbered(keys) for keys in likes]
        is_ahead = violated.any(axis=0)
        for sweep in range(SWEEPS):
            if sweep % SWEEPS_BETWEEN == 0:
                chances[self.expanded :] = self._of_their_like(chances, numbered)
            before = chances[0].copy()
            _sweep(self.firsts, self.targets, self.weights, violated, DISCOUNT, chances)
            is_settled = (chances[0] > 0) & (np.abs(chances[0] - before) <= SETTLED * chances[0])
            if sweep > SWEEPS_BETWEEN and (is_settled | ~is_ahead).all():
                break
        chances[violated] = 0.0
        return chances[: self.expanded]

    def _of_their_like(self, chances: Numbers, likes: Sequence[Words]) -> Numbers:
        """For each state that was not expanded the most that the like of its views have on average; else 0."""
        rest = len(self.states) - self.expanded
        found, is_known = np.zeros((rest, chances.shape[1])), np.zeros(rest, dtype=np.bool_)
        for views in likes:
            means, counts = means_by_view(views[: self.expanded], chances[: self.expanded], int(views.max()) + 1)
            ours = views[self.expanded :]
            is_new = (counts[ours] > 0).all(axis=1) & ~is_known
            found[is_new] = means[ours[is_new]].max(axis=1)
            is_known |= is_new
        return found


def search_graph(space: StateSpace, quota: int, report: Callable[[int, int], None] | None = None) -> WalkGraph:
    """Search an instance in breadth until so many states are found or all.

    `report` is told how many states are expanded and how many are found. `EvaluationError` when a step leaves a
    declared range.
    """
    most = quota + AT_ONCE * len(space.compiled.steps)
    states = np.empty((most, space.words), dtype=np.int64)
    table = np.full(1 << (2 * most).bit_length(), -1, dtype=np.int32)
    states[0] = space.initial
    count = _enter(states[:1], states, 0, space.hashes(states[:1]), table, np.empty(1, np.int64))
    sources, targets, weights = [], [], []
    expanded = 0
    while expanded < count < quota:
        some = states[expanded : min(count, expanded + AT_ONCE)]
        after = space.after(some)
        place = np.empty(len(after.steps), dtype=np.int64)
        count = _enter(after.states, states, count, space.hashes(after.states), table, place)
        sources.append(after.parents + expanded)
        targets.append(place)
        weights.append(after.weights)
        expanded += len(some)
        if report is not None:
            report(expanded, count)
    order = np.argsort(np.concatenate(sources), kind="stable")
    firsts = np.searchsorted(np.concatenate(sources)[order], np.arange(expanded + 1))
    found = states[:count].copy()
    return WalkGraph(
        space,
        found,
        expanded,
        firsts.astype(np.int64),
        np.concatenate(targets)[order],
        np.concatenate(weights)[order],
        space.verdicts(found),
    )


@cached_njit
def _enter(some: Words, states: Words, count: int, hashes: Hashes, table: npt.NDArray[np.int32], place: Words) -> int:
    """Number some states, the new ones from `count` on; returns how many there are now."""
    most = table.shape[0] - 1
    for x in range(some.shape[0]):
        slot = np.int64(hashes[x] & np.uint64(most))
        while table[slot] >= 0:
            is_same = True
            for word in range(states.shape[1]):
                is_same = is_same and states[table[slot], word] == some[x, word]
            if is_same:
                break
            slot = (slot + 1) & most
        if table[slot] < 0:
            table[slot] = count
            states[count] = some[x]
            count += 1
        place[x] = table[slot]
    return count


@cached_njit
def _sweep(
    firsts: Words, targets: Words, weights: Numbers, violated: npt.NDArray[np.bool_], discount: float, chances: Numbers
) -> None:
    """Last state first: chance = discount times the mean of its successors' chances, which is 1 at a violation."""
    clauses = chances.shape[1]
    sums = np.empty(clauses)
    for x in range(firsts.shape[0] - 2, -1, -1):
        total = 0.0
        sums[:] = 0.0
        for step in range(firsts[x], firsts[x + 1]):
            total += weights[step]
            for clause in range(clauses):
                ahead = 1.0 if violated[targets[step], clause] else chances[targets[step], clause]
                sums[clause] += weights[step] * ahead
        if total > 0.0:
            for clause in range(clauses):
                chances[x, clause] = discount * sums[clause] / total


def _numbered(keys: Hashes) -> Words:
    """Small numbers in place of hashes, the same for the same, shape (count, views)."""
    _, numbers = np.unique(keys, return_inverse=True)
    found: Words = numbers.reshape(keys.shape).astype(np.int64)
    return found


@cached_njit
def means_by_view(views: Words, chances: Numbers, most: int) -> tuple[Numbers, Words]:
    """The mean chances of all states that have a view, and how many these are, by the view's number."""
    means, counts = np.zeros((most, chances.shape[1])), np.zeros(most, dtype=np.int64)
    for x in range(views.shape[0]):
        for transaction in range(views.shape[1]):
            counts[views[x, transaction]] += 1
            for clause in range(chances.shape[1]):
                means[views[x, transaction], clause] += chances[x, clause]
    for view in range(most):
        if counts[view] > 0:
            for clause in range(chances.shape[1]):
                means[view, clause] /= counts[view]
    return means, counts
