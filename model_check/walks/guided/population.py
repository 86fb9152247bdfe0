"""A population of weighted walks that goes in lock-step and is thinned after each step, without bias.

Every walk goes on with all its steps at once, each with its part of the weight; walks that are in the same state and
have violated the same become one. So the population is the exact distribution of plain walks, until it is larger than
`MOST`: then some are kept, each with a probability by which its weight is divided, so that every sum of weights keeps
its mean. What is kept for sure, and with which probability the rest, is the resampling of P. Fearnhead and P. Clifford
(Journal of the Royal Statistical Society B 65, 2003); that the mean is right whatever the probabilities are, as for
random iteration in general (L.-H. Lim and J. Weare, SIAM Review 59, 2017).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from model_check.walks.guided.state_space import StateSpace, are_violated

if TYPE_CHECKING:
    from model_check.walks.guided.graph import Numbers
    from model_check.walks.guided.promises import Promises
    from model_check.walks.guided.views import Words

MOST: Final = 1000
"""Walks that are kept after each step; no more than `model_check.walks.guided.state_space.AT_ONCE`."""


class Parts(NamedTuple):
    """The parts of a population, which add up to 1; all but the first and the last are divided evenly by clause."""

    weight: float
    """To walks by their weights alone."""
    promise: float
    """To walks by their weight times what their state promises."""
    level: float
    """Evenly to the powers of two in which what is promised lies, there by weight."""
    violation: float
    """To walks that have violated the clause: so that some are there at the end."""
    rarity: float
    """Evenly to the powers of four in which weights lie, there by weight: also to what promises know nothing of."""


GUIDED: Final = Parts(0.2, 0.55, 0.2, 0.05, 0.0)

LEVELS: Final = 20

RAREST: Final = -50
"""The power of two of the weight below which all walks are equally rare."""


class WalkPlace(NamedTuple):
    """The walks behind one step."""

    states: Words  # shape (walks, words)
    steps: Words  # shape (walks,): the number of the step; -1 where a walk had ended before
    origins: Words  # shape (walks,): which walk of the place before it was


@dataclass(frozen=True)
class Population:
    """Walks that went together."""

    expanded: int  # states whose steps were taken: what it cost
    shares: Numbers  # shape (clauses,): by the number of the clause: the estimated share of plain walks that violate it
    first: Words  # shape (clauses,): behind how many expanded states the first walk violated it, or -1
    met: Words  # shape (walks, words of a verdict): the bits of what each walk that is there at the end has violated
    places: list[WalkPlace] = field(repr=False)  # the walks behind each step

    def lineage(self, walks: Words) -> Words:
        """Which walk each of these was at each place, shape (walks, places)."""
        way = np.empty((len(walks), len(self.places)), dtype=np.int64)
        at = walks
        for place in range(len(self.places) - 1, -1, -1):
            way[:, place] = at
            at = self.places[place].origins[at]
        return way


class _Walks(NamedTuple):
    """Walks and all that they carry; one row of each array a walk."""

    states: Words
    met: Words
    weights: Numbers
    promises: Numbers
    steps: Words
    origins: Words

    def take(self, rows: npt.NDArray[np.intp], weights: npt.NDArray[Any]) -> _Walks:
        return _Walks(
            self.states[rows], self.met[rows], weights, self.promises[rows], self.steps[rows], self.origins[rows]
        )


def walk_together(
    space: StateSpace, promises: Promises | None, length: int, draws: np.random.Generator, parts: Parts = GUIDED
) -> Population:
    """A population of walks of at most so many steps, which is thinned to these parts.

    Walks are split by `promises`; where it is None, nothing goes by them.

    Raises
    ------
    EvaluationError
        When a step leaves a declared range.
    """
    bits = np.zeros(0, dtype=np.int64) if promises is None else promises.clauses
    clauses = range(len(space.compiled.machine.clauses))
    shares, first = np.zeros(len(clauses)), np.full(len(clauses), -1, dtype=np.int64)
    initial = np.zeros(1, dtype=np.int64)
    walks = _Walks(
        space.initial[None, :],
        np.zeros((1, space.compiled.verdict_words), dtype=np.int64),
        np.ones(1),
        np.zeros((1, len(bits))),
        initial,
        initial,
    )
    places: list[WalkPlace] = []
    expanded = 0
    for _ in range(length):
        after, new, cost = _gone_on(space, walks)
        rows = np.flatnonzero(new.any(axis=1))
        violated = are_violated(new[rows], clauses)
        shares += after.weights[rows] @ violated
        for clause in np.flatnonzero(violated.any(axis=0) & (first < 0)):
            first[clause] = expanded + after.origins[rows[violated[:, clause].argmax()]]
        expanded += cost
        after = _merged(space, after, draws)
        if promises is not None:
            promised = promises.of(space, after.states, walks.promises[after.origins])
            after = after._replace(promises=np.where(are_violated(after.met, bits), 0.0, promised))
        walks = _thinned(after, are_violated(after.met, bits), parts, draws)
        places.append(WalkPlace(walks.states, walks.steps, walks.origins))
    return Population(expanded, shares, first, walks.met, places)


def _gone_on(space: StateSpace, walks: _Walks) -> tuple[_Walks, Words, int]:
    """All walks with all their steps; what each violates for the first time; and how many had steps to take.

    A walk that has none stays as it is.
    """
    after = space.after(walks.states)
    totals = np.bincount(after.parents, after.weights, minlength=len(walks.states))
    ended = np.flatnonzero(totals == 0)
    weights = walks.weights[after.parents] * after.weights / totals[after.parents]
    verdicts = space.verdicts(after.states)
    before = walks.met[after.parents]
    gone = _Walks(
        np.concatenate([after.states, walks.states[ended]]),
        np.concatenate([before | verdicts, walks.met[ended]]),
        np.concatenate([weights, walks.weights[ended]]),
        np.zeros((len(weights) + len(ended), walks.promises.shape[1])),
        np.concatenate([after.steps.astype(np.int64), np.full(len(ended), -1)]),
        np.concatenate([after.parents, ended]),
    )
    new = np.concatenate([verdicts & ~before, np.zeros_like(walks.met[ended])])
    return gone, new, len(walks.states) - len(ended)


def _merged(space: StateSpace, walks: _Walks, draws: np.random.Generator) -> _Walks:
    """Walks in the same state that have violated the same as one, with all their weight, and the past of one of them.

    Whose past it is, is drawn by weight. Of states and of what was violated hashes of 64 bits are compared.
    """
    keys = space.hashes(walks.states)
    for word in walks.met.T.astype(np.uint64):
        keys = (keys ^ word) * _MIX
        keys ^= keys >> np.uint64(29)
    _, rows = np.unique(keys, return_inverse=True)
    with np.errstate(divide="ignore", over="ignore"):
        drawn = draws.standard_exponential(len(rows)) / walks.weights
    order = np.lexsort((drawn, rows))
    winners = order[np.flatnonzero(np.diff(rows[order], prepend=-1))]
    rows_left = np.sort(winners)
    sums = np.bincount(rows, walks.weights)
    return walks.take(rows_left, sums[rows[rows_left]])


_MIX: Final = np.uint64(0xD6E8FEB86659FD93)


def _thinned(walks: _Walks, has_met: npt.NDArray[np.bool_], parts: Parts, draws: np.random.Generator) -> _Walks:
    """At most `MOST` of the walks, by systematic sampling in their order."""
    if len(walks.weights) <= MOST:
        return walks
    wanted = walks.weights * (parts.weight / walks.weights.sum())
    wanted += parts.promise * _evenly(walks.weights[:, None] * walks.promises)
    wanted += parts.level * _by_level(walks)
    wanted += parts.violation * _evenly(walks.weights[:, None] * has_met)
    wanted += parts.rarity * _by_rarity(walks.weights)
    chances = _chances(wanted)
    counts = np.concatenate([[0.0], np.cumsum(np.where(chances < 1.0, chances, 0.0))])
    rows_left = np.flatnonzero((chances >= 1.0) | (np.diff(np.floor(counts + draws.random())) > 0))
    return walks.take(rows_left, walks.weights[rows_left] / chances[rows_left])


def _evenly(parts: Numbers) -> Numbers:
    """Each column's parts of its sum, on average of all columns that have one; shape (walks,)."""
    sums = parts.sum(axis=0)
    live = sums > 0
    found: Numbers = (parts[:, live] / sums[live]).sum(axis=1) / max(int(live.sum()), 1)
    return found


def _by_level(walks: _Walks) -> Numbers:
    """Evenly by clause, there evenly to the powers of two in which the promises lie, there by weight."""
    found = np.zeros(len(walks.weights))
    live = np.flatnonzero((walks.promises > 0).any(axis=0))
    for clause in live:
        promises = walks.promises[:, clause]
        levels = np.where(promises > 0, np.clip(np.frexp(promises)[1] + LEVELS, 1, LEVELS), 0)
        sums = np.bincount(levels, walks.weights, minlength=LEVELS + 1)
        sums[0] = 0.0
        occupied = sums > 0
        shares = np.divide(1.0, sums, out=np.zeros_like(sums), where=occupied) / occupied.sum()
        found += shares[levels] * walks.weights / len(live)
    return found


def _by_rarity(weights: Numbers) -> Numbers:
    """Evenly to the powers of four in which weights lie, there by weight."""
    _, levels = np.unique(np.maximum(np.frexp(weights)[1], RAREST) // 2, return_inverse=True)
    sums = np.bincount(levels, weights)
    return np.divide(weights, sums[levels] * len(sums), out=np.zeros_like(weights), where=weights > 0)


def _chances(wanted: Numbers) -> Numbers:
    """With which chance to keep each, so that `MOST` are kept: in proportion, but for those that are kept for sure."""
    ascending = np.sort(wanted)
    sums = np.cumsum(ascending)
    rest = np.arange(len(ascending) - MOST + 1, len(ascending) + 1)  # walks that are not sure
    thresholds = sums[rest - 1] / (MOST - (len(ascending) - rest))
    largest = ascending[rest - 1]
    found: Numbers = np.minimum(1.0, wanted / thresholds[np.flatnonzero(largest <= thresholds)[-1]])
    return found
