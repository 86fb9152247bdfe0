"""The probability of a chain to get to some states: in the end, by a sparse linear system, or within so many steps.

The strongly connected components of these chains are small, since time and the steps of producers go on. In their
topological order the system is almost triangular, so that a factorization fills in next to nothing, and the solution is
as good as double precision allows. A bound of the error comes with it: that of the residual, and of all roundings in
it, times how often each state is met.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, eye_array
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.sparse.linalg import splu

if TYPE_CHECKING:
    from model_check.probabilities.chain import Chain, Flags

Numbers = npt.NDArray[np.float64]

ROUNDING: Final = float(np.finfo(np.float64).eps) / 2
"""The relative error of one operation in double precision, at most."""

BESIDE_THE_SUM: Final = 8
"""Roundings of a term beside those of the sum that it stands in: of its probability, of products and differences."""


@dataclass(frozen=True, slots=True)
class Probability:
    """Of runs of a chain to get to some states."""

    value: float
    """Of those that were seen to get there."""
    error: float
    """How far the value may be off, at most, by the arithmetic."""
    unknown: float = 0.0
    """What may be added, at most, by runs that come to states that were not expanded; 0 where the chain is whole."""

    def to_json(self) -> dict[str, float]:
        """The probability as plain data."""
        return {"probability": self.value, "error": self.error, "unknown": self.unknown}


class Solver:
    """The probabilities of one chain."""

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        steps = chain.steps
        backwards = steps.T.tocsr()
        self._backwards = backwards.indices, backwards.indptr
        # SciPy numbers components so that steps lead to the same or a smaller number only (Pearce's algorithm).
        _, self._components = connected_components(steps, connection="strong")
        self._most_terms = int(np.diff(steps.indptr).max()) + BESIDE_THE_SUM

    def ever(self, goal: Flags) -> Probability:
        """Of all runs, those that come to one of these states, shape (states,), at any time."""
        return self._known_and_unknown(goal, self._ever)

    def within(self, goal: Flags, steps: int) -> Probability:
        """Of all runs, those that come to one of these states, shape (states,), within so many steps."""
        return self._known_and_unknown(goal, lambda some: self._within(some, steps))

    def _known_and_unknown(self, goal: Flags, of: Any) -> Probability:
        value, error = of(goal)
        if self._chain.is_whole:
            return Probability(value, error)
        most, error_of_most = of(goal | self._chain.unknown)
        return Probability(value, error, max(most - value, 0.0) + error_of_most)

    def _ever(self, goal: Flags) -> tuple[float, float]:
        way = self._way_to(goal)
        if way is None:
            return float(goal[0]), 0.0
        onwards, arrives, initial = way
        matrix = eye_array(len(arrives), format="csr") - onwards
        factors = splu(matrix.tocsc(), permc_spec="NATURAL", diag_pivot_thresh=0.0)
        found = factors.solve(arrives)
        found += factors.solve(arrives - matrix @ found)
        residual = np.abs(arrives - matrix @ found)
        # The probability to stay was rounded before it was taken from 1: both count, not their difference.
        roundings = self._most_terms * ROUNDING * (np.abs(found) + onwards @ np.abs(found) + arrives)
        return float(found[initial]), 2 * float(factors.solve(residual + roundings)[initial])

    def _within(self, goal: Flags, steps: int) -> tuple[float, float]:
        way = self._way_to(goal)
        if way is None:
            return float(goal[0]), 0.0
        onwards, arrives, initial = way
        found = np.zeros(len(arrives))
        for _ in range(steps):
            found = onwards @ found + arrives
        value = float(found[initial])
        return value, 2 * steps * self._most_terms * ROUNDING * value

    def _way_to(self, goal: Flags) -> tuple[csr_array, Numbers, int] | None:
        """Of the states before the goal from which it can be reached: the steps among them, those into it, the first.

        None where the initial state is none of them.
        """
        before = np.flatnonzero(self._reaching(goal) & ~goal)
        if not before.size or before[0] != 0:
            return None
        order = before[np.argsort(self._components[before], kind="stable")]
        rows = self._chain.steps[order]
        return rows[:, order].tocsr(), rows @ goal.astype(np.float64), int(np.flatnonzero(order == 0)[0])

    def _reaching(self, goal: Flags) -> Flags:
        """The states from which one of the goal can be reached: a search backwards from a place before all of them."""
        indices, starts = self._backwards
        ends = np.flatnonzero(goal)
        places = len(goal) + 1
        data, columns = np.ones(len(indices) + len(ends)), np.concatenate([indices, ends])
        graph = csr_array((data, columns, np.append(starts, len(columns))), shape=(places, places))
        found = np.zeros(places, dtype=np.bool_)
        found[breadth_first_order(graph, len(goal), return_predecessors=False)] = True
        return found[:-1]
