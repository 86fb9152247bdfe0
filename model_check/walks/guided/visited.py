"""A searched graph, and the states that walks have visited beside: what a search in breadth would find too late."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from model_check.walks.guided.graph import WalkGraph
from model_check.walks.guided.state_space import AT_ONCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.walks.guided.population import Population
    from model_check.walks.guided.views import Words


def visited_graph(searched: WalkGraph, populations: Sequence[Population]) -> WalkGraph:
    """The states that a search has expanded, then those behind the first step of some walk, and so on, all expanded.

    The states that a step leads to from there, and that are none of these, follow, not expanded. States are compared
    by their hashes of 64 bits.
    """
    space = searched.space
    visited = _visited(searched, populations)
    parts = []
    for first in range(0, len(visited), AT_ONCE):
        after = space.after(visited[first : first + AT_ONCE])
        parts.append((after.states.copy(), after.parents + first, after.weights))
    reached, sources, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(sources, kind="stable")
    states = np.concatenate([visited, reached[order]])
    _, firsts, numbers = np.unique(space.hashes(states), return_index=True, return_inverse=True)
    found = np.sort(firsts)  # `visited` has no state twice, so that its states come first, in their order
    targets = np.searchsorted(found, firsts[numbers[len(visited) :]])
    begins = np.searchsorted(sources[order], np.arange(len(visited) + 1))
    own = np.ascontiguousarray(states[found])
    return WalkGraph(
        space, own, len(visited), begins.astype(np.int64), targets.astype(np.int64), weights[order], space.verdicts(own)
    )


def _visited(searched: WalkGraph, populations: Sequence[Population]) -> Words:
    """Each state once."""
    longest = max((len(one.places) for one in populations), default=0)
    at_place = [one.places[place].states for place in range(longest) for one in populations if place < len(one.places)]
    states = np.concatenate([searched.states[: searched.expanded], *at_place])
    _, firsts = np.unique(searched.space.hashes(states), return_index=True)
    found: Words = np.ascontiguousarray(states[np.sort(firsts)])
    return found
