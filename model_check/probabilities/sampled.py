"""Shares of random walks that violate a clause, with their intervals: of plain walks, and of walks that are split.

A chain's probabilities are held against both, and where there are too many states for a chain, they stand for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from model_check.probabilities.exact_interval import exact_interval
from model_check.walks.guided.account import Estimate, estimate
from model_check.walks.guided.exploring import EXPLORERS, ROUNDS, explored
from model_check.walks.guided.state_space import LAW, are_violated
from model_check.walks.walk import Walker
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from model_check.probabilities.weights import Weights
    from model_check.walks.guided.walker import GuidedWalker
    from model_check.world import World
    from spec.language import Property

AT_ONCE: Final = 20_000
"""Walks that are taken in one call of the kernel."""


@dataclass(frozen=True, slots=True)
class SampledShare:
    """How many of some walks violated a clause."""

    hits: int
    walks: int

    @property
    def share(self) -> float:
        """Of the walks."""
        return self.hits / self.walks

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The exact one."""
        return exact_interval(self.hits, self.walks, confidence)

    def to_json(self) -> dict[str, Any]:
        """The share as plain data."""
        return {"hits": self.hits, "walks": self.walks, "share": self.share, "interval_95": list(self.interval())}


def sampled_shares(
    world: World,
    weights: Weights,
    walks: int,
    steps: int,
    seed: int,
    report: Callable[[int, int], None] | None = None,
) -> Mapping[Property, SampledShare]:
    """Of each clause how many of so many walks, of at most so many steps each, violate it.

    They are the walks number 0 and on of `model_check.walks.walk.Walker` with these weights and this seed. `report` is
    told how many are done, and of how many.

    Raises what `Walker` and `Walker.walk` do.
    """
    walker = Walker(world, LAW, weights.whole)
    clauses = TRANSACTIONAL_MESSAGES.clauses
    hits = np.zeros(len(clauses), dtype=np.int64)
    for first in range(0, walks, AT_ONCE):
        count = min(AT_ONCE, walks - first)
        violated, _ = walker.violated(seed, first, count, steps)
        hits += are_violated(violated, range(len(clauses))).sum(axis=0)
        if report is not None:
            report(first + count, walks)
    return {clause: SampledShare(int(found), walks) for clause, found in zip(clauses, hits, strict=True)}


@dataclass(frozen=True, slots=True)
class SplitShares:
    """The shares of plain walks that violate clauses, estimated by walks that were split near violations."""

    estimates: Mapping[Property, Estimate]
    """Of the clauses that some walk violated."""
    expanded: int
    """States whose steps were taken, in searches and walks: what it cost."""


def split_shares(
    walker: GuidedWalker,
    populations: int,
    steps: int,
    seed: int,
    report: Callable[[int, int], None] | None = None,
) -> SplitShares:
    """The estimates of so many populations of walks of at most so many steps; see `model_check.walks.guided.exploring`.

    The first one is plain, says which clauses are rare, and is left out of the estimates, as are those that explore.
    `report` is told how many are done, and of how many.

    Raises what `GuidedWalker.population` does.
    """
    whole = populations + ROUNDS * EXPLORERS

    def tell(done: int) -> None:
        if report is not None:
            report(done, whole)

    found = explored(walker, seed, steps, tell)
    expanded, shares = found.expanded, []
    for number in range(1, populations):
        population = found.population(number)
        expanded += population.expanded
        shares.append(population.shares)
        tell(ROUNDS * EXPLORERS + number + 1)
    by_clause = zip(TRANSACTIONAL_MESSAGES.clauses, np.array(shares).T, strict=True)
    return SplitShares({clause: estimate(own.tolist()) for clause, own in by_clause if own.any()}, expanded)
