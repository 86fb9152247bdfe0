"""Populations: exact while they are whole, without bias when they are thinned, and made of real walks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from model_check.walks.guided import population
from model_check.walks.guided.population import MOST, walk_together
from model_check.walks.guided.promises import learn
from tests.model_check.walks.guided.worlds import ALL, CLAUSES, exact_shares, graph, world

if TYPE_CHECKING:
    from model_check.walks.guided.graph import Numbers
    from model_check.walks.guided.promises import Promises

FAULT = "slow_local"


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def shares_of(populations: int, length: int, promises: Promises | None) -> Numbers:
    """By population and clause."""
    draws = (np.random.default_rng([5, number]) for number in range(populations))
    shares = [walk_together(world(FAULT), promises, length, some).shares for some in draws]
    return np.array(shares)[:, : len(CLAUSES)]


def promises_of(quota: int) -> Promises:
    return learn([graph(FAULT, quota)], ALL)


def test_a_population_that_need_not_be_thinned_is_exact() -> None:
    length = 9
    exact = exact_shares(FAULT, length)
    assert (exact > 0).sum() > 3
    found = walk_together(world(FAULT), None, length, np.random.default_rng(1))
    assert max(len(place.states) for place in found.places) < MOST
    assert found.shares[: len(CLAUSES)] == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("quota", [pytest.param(0, marks=pytest.mark.sweep), 3_000])
def test_shares_have_the_exact_mean_whatever_was_learned(quota: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(population, "MOST", 100)
    length, populations = 25, 100
    exact = exact_shares(FAULT, length)
    shares = shares_of(populations, length, promises_of(quota) if quota else None)
    errors = shares.std(axis=0, ddof=1) / np.sqrt(populations)
    asked = np.flatnonzero(exact > 1e-3)
    assert len(asked) > 10
    assert (np.abs(shares.mean(axis=0) - exact)[asked] < 4 * errors[asked]).all()


def test_what_was_learned_makes_rare_violations_frequent_and_their_estimates_better() -> None:
    length, populations = 30, 12
    exact = exact_shares(FAULT, length)
    rare = np.flatnonzero((exact > 1e-6) & (exact < 1e-3))
    assert len(rare) == 3
    plain = shares_of(populations, length, None)[:, rare]
    split = shares_of(populations, length, learn([graph(FAULT, 20_000)], rare.tolist()))[:, rare]
    assert (np.abs(split.mean(axis=0) - exact[rare]) < 0.1 * exact[rare]).all()
    assert (split.std(axis=0) < plain.std(axis=0) / 5).all()


def test_each_walk_is_a_path_of_the_specification_and_has_violated_what_is_said_of_it() -> None:
    there = world(FAULT)
    found = walk_together(there, promises_of(3_000), 30, np.random.default_rng(2))
    ends = np.arange(len(found.met))
    way = found.lineage(ends)
    before = np.repeat(there.initial[None, :], len(ends), axis=0)
    met = np.zeros_like(found.met)
    for place, column in zip(found.places, way.T, strict=True):
        after = there.after(before)
        for walk in ends[:200]:
            some = after.parents == walk
            reached = after.states[some][after.steps[some] == place.steps[column[walk]]]
            assert reached.tolist() == [place.states[column[walk]].tolist()]
        before = place.states[column]
        met |= there.verdicts(before)
    assert (met == found.met).all()
    assert len({tuple(row) for row in way.tolist()}) == len(ends) > 500


def test_so_many_are_kept_as_are_wanted_and_each_with_its_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(population, "MOST", 10)
    wanted = np.array([100.0, 50.0, *np.linspace(0.1, 3.0, 40)])
    chances = population._chances(wanted)
    assert chances.sum() == pytest.approx(10)
    assert chances[:2].tolist() == [1.0, 1.0]
    rest = chances[2:]
    assert rest.max() < 1.0
    assert rest / rest.sum() == pytest.approx(wanted[2:] / wanted[2:].sum())


def test_a_walk_that_ends_stays_what_it_was_and_costs_nothing_more() -> None:
    there = world("quiet")
    found = walk_together(there, None, 400, np.random.default_rng(3))
    last = found.places[-1]
    ended = np.flatnonzero(last.steps < 0)
    assert len(ended)
    assert len(there.after(last.states[ended]).steps) == 0
    before = found.places[-2].states[last.origins[ended]]
    assert (before == last.states[ended]).all()
    assert found.expanded < sum(len(place.states) for place in found.places)


def test_walks_become_one_that_are_in_the_same_state_and_have_violated_the_same() -> None:
    there = world(FAULT)
    after = there.after(there.initial[None, :]).states[:2]
    states, met = after[[0, 1, 0, 0]], np.array([[0, 0], [0, 0], [4, 0], [0, 0]])[:, : there.compiled.verdict_words]
    weights, names = np.array([0.25, 0.5, 0.125, 0.75]), np.arange(4)
    walks = population._Walks(states, met, weights, np.zeros((4, 0)), names, names)
    past = set()
    for seed in range(40):
        merged = population._merged(there, walks, np.random.default_rng(seed))
        assert sorted(zip(merged.weights.tolist(), merged.met[:, 0].tolist(), strict=True)) == [
            (0.125, 4), (0.5, 0), (1.0, 0),
        ]  # fmt: skip
        past.add(int(merged.origins[merged.weights == 1.0][0]))
    assert past == {0, 3}
