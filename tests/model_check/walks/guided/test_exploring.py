"""Exploration: the graph of what walks have visited, ways that no search has come to, and estimates behind it."""

from __future__ import annotations

import numpy as np
import pytest

from model_check.walks.guided import exploring
from model_check.walks.guided.exploring import ExploredInstance, explored
from model_check.walks.guided.population import walk_together
from model_check.walks.guided.state_space import AT_ONCE
from model_check.walks.guided.visited import visited_graph
from model_check.walks.guided.walker import GuidedWalker
from model_check.world import World
from tests.model_check.walks.guided.worlds import graph, world

FAULT, STEPS = "crash", 30


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def test_what_walks_have_visited_is_expanded_behind_what_was_searched() -> None:
    part, space = graph(FAULT, 2_000), world(FAULT)
    seen = [walk_together(space, None, STEPS, np.random.default_rng([3, number])) for number in range(2)]
    whole = visited_graph(part, seen)
    visited = np.concatenate([place.states for one in seen for place in one.places])
    expected = np.unique(np.concatenate([part.states[: part.expanded], visited]), axis=0)
    assert np.unique(whole.states[: whole.expanded], axis=0).tolist() == expected.tolist()
    assert len(np.unique(whole.states, axis=0)) == len(whole.states) > whole.expanded > part.expanded
    assert (whole.states[: part.expanded] == part.states[: part.expanded]).all()
    for first in range(0, whole.expanded, AT_ONCE):
        some = whole.states[first : min(first + AT_ONCE, whole.expanded)]
        after = space.after(some)
        steps = slice(whole.firsts[first], whole.firsts[first + len(some)])
        order = np.argsort(after.parents, kind="stable")
        assert (whole.states[whole.targets[steps]] == after.states[order]).all()
        assert whole.weights[steps].tolist() == after.weights[order].tolist()
        assert (whole.firsts[first : first + len(some)] - whole.firsts[first]).tolist() == np.searchsorted(
            after.parents[order], np.arange(len(some))
        ).tolist()


def explored_after(rounds: int, monkeypatch: pytest.MonkeyPatch) -> ExploredInstance:
    monkeypatch.setattr(exploring, "LEARNED_FROM", {})
    monkeypatch.setattr(exploring, "MOST_SEARCHED", 3_000)
    monkeypatch.setattr(exploring, "EXPLORERS", 3)
    monkeypatch.setattr(exploring, "ROUNDS", rounds)
    return explored(GuidedWalker(World.of("5.3.3", [FAULT], "tiny")), 5, STEPS)


def test_walks_come_to_violations_that_the_search_has_not_come_to(monkeypatch: pytest.MonkeyPatch) -> None:
    searched, walked = explored_after(0, monkeypatch), explored_after(2, monkeypatch)
    assert set(searched.promises.clauses) < set(walked.promises.clauses)
    assert walked.expanded > searched.expanded


def test_the_same_seed_explores_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = explored_after(1, monkeypatch), explored_after(1, monkeypatch)
    assert one.population(1).shares.tolist() == other.population(1).shares.tolist()
    assert one.population(1).shares.tolist() != one.population(2).shares.tolist()
