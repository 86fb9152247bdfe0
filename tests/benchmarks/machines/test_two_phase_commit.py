"""The field's counts for two-phase commit, which TLC, Stateright and others give, too."""

from __future__ import annotations

import pytest

from benchmarks.machines.two_phase_commit import TWO_PHASE_COMMIT, Constants
from model_check import cpython
from model_check.counterexample.steps import replay
from model_check.explicit import search as explicit_search

PUBLISHED = {
    3: (288, 1_146),
    5: (8_832, 58_146),
    7: (296_448, 2_744_706),
    8: (1_745_408, 18_507_778),
    9: (10_340_352, 123_558_402),
}


@pytest.fixture(autouse=True, params=["two_phase_commit"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


@pytest.mark.parametrize("resource_managers", PUBLISHED)
def test_the_compiled_search_gives_the_published_counts(resource_managers: int) -> None:
    found = explicit_search.explore(TWO_PHASE_COMMIT, Constants(resource_managers=resource_managers))
    assert (found.distinct, found.generated) == PUBLISHED[resource_managers]
    assert found.complete
    assert found.depth == 3 * resource_managers + 1


@pytest.mark.parametrize("resource_managers", [3, 5])
def test_the_cpython_search_gives_the_published_counts(resource_managers: int) -> None:
    found = cpython.explore(TWO_PHASE_COMMIT, Constants(resource_managers=resource_managers))
    assert (found.distinct, found.generated) == PUBLISHED[resource_managers]
    assert found.depth == 3 * resource_managers + 1


def test_resource_managers_agree_and_both_outcomes_are_reached() -> None:
    constants = Constants(resource_managers=3)
    compiled, judge = (search.explore(TWO_PHASE_COMMIT, constants) for search in (explicit_search, cpython))
    assert compiled.path_to(0) is None
    assert judge.violations == {}
    for bit, witness in enumerate(TWO_PHASE_COMMIT.witnesses, start=1):
        path = compiled.path_to(bit)
        assert path == judge.path_to(judge.witnesses[witness])
        assert witness in replay(TWO_PHASE_COMMIT, constants, path).witnessed


def test_the_shortest_way_to_commit_is_the_textbook_one() -> None:
    path = explicit_search.explore(TWO_PHASE_COMMIT, Constants(resource_managers=3)).path_to(1)
    assert path is not None
    assert [str(step) for step in path] == [
        "rm_prepare r=0",
        "tm_rcv_prepared r=0",
        "rm_prepare r=1",
        "tm_rcv_prepared r=1",
        "rm_prepare r=2",
        "tm_rcv_prepared r=2",
        "tm_commit",
        "rm_rcv_commit_msg r=0",
        "rm_rcv_commit_msg r=1",
        "rm_rcv_commit_msg r=2",
    ]
