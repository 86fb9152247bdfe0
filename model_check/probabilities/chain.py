"""The Markov chain of a world: its states, and from each to each the probability that a step leads there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from model_check.walks.guided.graph import search_graph
from model_check.walks.guided.state_space import StateSpace, are_violated
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from model_check.probabilities.weights import Weights
    from model_check.walks.guided.graph import WalkGraph
    from model_check.world import World
    from spec.language import Property

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Chain:
    """States in the order in which a search in breadth finds them, the initial one first."""

    world: World
    weights: Weights
    graph: WalkGraph
    seconds: float
    """Of the search."""

    @property
    def states(self) -> int:
        """How many there are."""
        return len(self.graph.states)

    @property
    def is_whole(self) -> bool:
        """Whether the steps of all of them are known."""
        return self.graph.is_whole

    @cached_property
    def weight_between(self) -> csr_array:
        """The weight of all steps from each state to each, whole numbers, shape (states, states).

        A state of which no step is known, because nothing more happens or because it was not expanded, stays where it
        is.
        """
        sources = np.repeat(np.arange(self.graph.expanded), np.diff(self.graph.firsts))
        still = np.setdiff1d(np.arange(self.states), sources)
        places = np.concatenate([sources, still]), np.concatenate([self.graph.targets, still])
        weights = np.concatenate([self.graph.weights, np.ones(len(still))])
        found = csr_array((weights, places), shape=(self.states, self.states))
        found.sum_duplicates()
        return found

    @cached_property
    def steps(self) -> csr_array:
        """The probability of each step, shape (states, states)."""
        weights = self.weight_between
        totals = np.repeat(weights.sum(axis=1), np.diff(weights.indptr))
        return csr_array((weights.data / totals, weights.indices, weights.indptr), shape=weights.shape)

    @cached_property
    def unknown(self) -> Flags:
        """The states that were found and not expanded, shape (states,)."""
        found: Flags = np.arange(self.states) >= self.graph.expanded
        return found

    def violating(self, clauses: Sequence[Property]) -> Flags:
        """Whether each state violates each clause, shape (states, clauses)."""
        places = {clause: place for place, clause in enumerate(TRANSACTIONAL_MESSAGES.clauses)}
        return are_violated(self.graph.verdicts, [places[clause] for clause in clauses])

    @property
    def at_full_queue(self) -> Flags:
        """Whether the half queue or the op queue of each state is as long as the instance has room for."""
        compiled, found = self.graph.space.compiled, np.zeros(self.states, dtype=np.bool_)
        for queue in compiled.machine.queues:
            lengths = compiled.packing.column(queue, self.graph.states)
            found |= lengths >= compiled.machine.room(self.world.constants, queue)
        return found


def chain_of(
    world: World, weights: Weights, most_states: int, report: Callable[[int, int], None] | None = None
) -> Chain:
    """The chain of a world, of all its states, or of a few more than so many; the rest is not expanded.

    `report` is told how many states are expanded, and how many are found.

    Raises
    ------
    ModelCheckError
        The instance forgets or is crowded; names another one.
    EvaluationError
        A step leaves a declared range.
    """
    began = perf_counter()
    graph = search_graph(StateSpace.of(world, weights.whole), most_states, report)
    return Chain(world, weights, graph, perf_counter() - began)
