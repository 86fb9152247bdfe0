"""Graphs and the chances that are computed in them."""

from __future__ import annotations

import numpy as np
import pytest

from model_check.clauses import name_of
from model_check.walks.guided.graph import DISCOUNT
from model_check.walks.guided.state_space import are_violated
from tests.model_check.checked import checked
from tests.model_check.walks.guided.worlds import ALL, CLAUSES, graph, steps_of


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def test_a_whole_graph_has_the_states_steps_and_violations_of_the_search() -> None:
    whole, found = graph("crash", 1_000_000), checked("5.3.3", "crash", "tiny")
    assert whole.expanded == len(whole.states) == found.numbers.distinct
    assert len(np.unique(whole.states, axis=0)) == found.numbers.distinct
    assert len(whole.targets) + 1 == found.numbers.generated
    violated = {CLAUSES[clause] for clause in np.flatnonzero(are_violated(whole.verdicts, ALL).any(axis=0))}
    assert violated == set(map(name_of, found.violated))


def test_a_search_that_is_cut_off_expands_the_first_states_and_knows_all_that_they_lead_to() -> None:
    part, whole = graph("crash", 2_000), graph("crash", 1_000_000)
    assert part.expanded < len(part.states)
    assert 2_000 <= len(part.states) < 20_000
    assert (part.states == whole.states[: len(part.states)]).all()
    steps = part.firsts[-1]
    assert part.targets.tolist() == whole.targets[:steps].tolist()


def test_chances_are_the_discounted_mean_of_those_ahead() -> None:
    whole = graph("crash", 1_000_000)
    clauses = [CLAUSES.index(name) for name in ("S1.lost_op", "S1.forked_copy", "S9.immune_half")]
    chances = whole.chances(clauses)
    violated = are_violated(whole.verdicts, clauses)
    assert (chances[violated] == 0).all()
    assert chances.min() >= 0
    assert chances.max() <= DISCOUNT
    plain = np.zeros_like(chances)
    steps = steps_of(whole)
    for _ in range(300):
        plain[:] = DISCOUNT * (steps @ np.where(violated, 1.0, plain))
    assert chances[0] == pytest.approx(plain[0], rel=0.08)
    plain[violated] = 0.0
    some = plain > 1e-3
    assert np.median(np.abs(chances - plain)[some] / plain[some]) < 0.05


def test_a_state_that_was_not_expanded_counts_as_its_like() -> None:
    part, whole = graph("crash", 8_000), graph("crash", 1_000_000)
    clauses = np.flatnonzero(are_violated(part.verdicts, ALL).any(axis=0)).tolist()
    exact, guessed = whole.chances(clauses)[0], part.chances(clauses)[0]
    assert (guessed > 0).all()
    assert np.median(np.abs(np.log(guessed / exact))) < 1.0
