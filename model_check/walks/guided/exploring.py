"""Populations that estimate rare shares: first some explore the instance, then others are split by what these saw.

What small instances promise is not enough for an interval. Where none of them knows a way to a violation, the states on
it promise nothing: hardly any walk takes it, so that hardly any population has its part of the share, and populations
that all lack it agree with each other. So the instance itself is searched, too. What the search does not come to, it
cannot know: half of an exploring population goes evenly to all sizes of weights, which takes the steps that are a
million times rarer than others as often as these; and the chance to come from each visited state to a violation is
computed backwards, as in the searched instances.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from model_check.walks.guided.population import Parts, Population, walk_together
from model_check.walks.guided.promises import learn
from model_check.walks.guided.visited import visited_graph
from model_check.walks.guided.walker import LEARNED_FROM, RARE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from model_check.walks.guided.graph import WalkGraph
    from model_check.walks.guided.promises import Promises
    from model_check.walks.guided.walker import GuidedWalker

EXPLORING: Final = Parts(weight=0.1, promise=0.2, level=0.15, violation=0.05, rarity=0.5)
ESTIMATING: Final = Parts(weight=0.2, promise=0.45, level=0.15, violation=0.05, rarity=0.15)

MOST_SEARCHED: Final = 150_000
"""States of the instance itself that are searched."""

ROUNDS: Final = 2
"""Of exploration: each is guided by what those before have seen."""

EXPLORERS: Final = 5
"""Populations that explore in each round."""

_EXPLORES, _ESTIMATES = 1, 2
"""The last number of a population's seed, so that no two populations draw the same."""


@dataclass(frozen=True)
class ExploredInstance:
    """What some populations have seen of an instance."""

    walker: GuidedWalker
    seed: int
    steps: int
    promises: Promises
    """Of the clauses that are rare."""
    expanded: int
    """States whose steps were taken, searches included: what it cost."""

    def population(self, number: int) -> Population:
        """One of the populations that estimate, which are independent of each other once this is known."""
        return _population(self.walker, self.promises, (self.seed, number, _ESTIMATES), self.steps, ESTIMATING)


def _population(
    walker: GuidedWalker, promises: Promises, seeds: tuple[int, int, int], steps: int, parts: Parts
) -> Population:
    return walk_together(walker.space, promises, steps, np.random.default_rng(seeds), parts)


def explored(
    walker: GuidedWalker, seed: int, steps: int, report: Callable[[int], None] | None = None
) -> ExploredInstance:
    """Search small instances and that of a walker, and explore what the search has not come to.

    The walks have at most so many steps. Population 0 of the walker says which clauses are rare. `report` is told how
    many populations are done.

    Raises what `GuidedWalker.population` does.
    """
    plain = walker.population(seed, 0, steps)
    own, seen = walker.world.instance, [plain]
    others = [walker.search(instance, quota) for instance, quota in LEARNED_FROM.items() if instance != own]
    searched = walker.search(own, MOST_SEARCHED)
    expanded = plain.expanded + sum(graph.expanded for graph in (*others, searched))

    def learned(graphs: Sequence[WalkGraph], before: Promises | None) -> Promises:
        known = [] if before is None else [before.clauses]
        clauses = np.unique(np.concatenate([*known, *(graph.violated() for graph in graphs)]))
        return learn(graphs, clauses[plain.shares[clauses] < RARE].tolist(), before)

    of_others = learned(others, None) if others else None
    promises = learned([searched], of_others)
    for _ in range(0 if searched.is_whole else ROUNDS):
        for _ in range(EXPLORERS):
            seen.append(_population(walker, promises, (seed, len(seen), _EXPLORES), steps, EXPLORING))
            expanded += seen[-1].expanded
            if report is not None:
                report(len(seen))
        graph = visited_graph(searched, seen)
        expanded += graph.expanded
        promises = learned([graph], of_others)
    return ExploredInstance(walker, seed, steps, promises, expanded)
