"""What the tests of guided walks share: small worlds, graphs and walkers, made once a worker."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np
from scipy.sparse import csr_array

from model_check.clauses import clause_names
from model_check.instances import load_instance
from model_check.walks.guided import walker
from model_check.walks.guided.graph import search_graph
from model_check.walks.guided.state_space import StateSpace, are_violated
from model_check.walks.guided.walker import GuidedWalker
from model_check.world import Environment, World

if TYPE_CHECKING:
    from model_check.walks.guided.graph import Numbers, WalkGraph

CLAUSES = clause_names()
ALL = range(len(CLAUSES))
WHOLE = 1_000_000
"""More states than tiny has in the worlds of the tests."""


@cache
def world(environment: str, instance: str = "tiny") -> StateSpace:
    return StateSpace.of(World.of("5.3.3", Environment.named(environment), instance))


@cache
def graph(environment: str, quota: int, instance: str = "tiny") -> WalkGraph:
    return search_graph(world(environment, instance), quota)


@cache
def guided(environment: str) -> GuidedWalker:
    """A walker on tiny that has learned from a part of tiny."""
    walks = GuidedWalker(World.of("5.3.3", Environment.named(environment), "tiny"))
    tiny = load_instance("tiny")
    with patch.object(walker, "LEARNED_FROM", {tiny: 20_000}):
        assert walks.learned.expanded[tiny] < 20_000
    return walks


def steps_of(whole: WalkGraph) -> csr_array:
    """From each state to each with what chance a plain weighted walk goes there next."""
    sources = np.repeat(np.arange(whole.expanded), np.diff(whole.firsts))
    parts = whole.weights / np.bincount(sources, whole.weights, minlength=whole.expanded)[sources]
    return csr_array((parts, whole.targets, whole.firsts), shape=(whole.expanded, len(whole.states)))


@cache
def exact_shares(environment: str, length: int) -> Numbers:
    """The share of plain weighted walks of so many steps that violate each clause, worked out state by state.

    From the last step to the first: the chance to violate a clause behind a state within k steps is the mean over its
    steps of 1, where they violate it, or else of the chance within k - 1 behind them.
    """
    whole = graph(environment, WHOLE)
    assert whole.expanded == len(whole.states)
    violated = are_violated(whole.verdicts, ALL)
    live = np.flatnonzero(violated.any(axis=0))
    violated = violated[:, live]
    steps = steps_of(whole)
    chances = np.zeros(violated.shape)
    for _ in range(length):
        chances = steps @ np.where(violated, 1.0, chances)
    shares = np.zeros(len(CLAUSES))
    shares[live] = chances[0]
    return shares
