"""Walks with weights: those of the chain, drawn exactly, and told from walks with other weights."""

from __future__ import annotations

from functools import cache
from unittest.mock import patch

import pytest

from model_check.clauses import clauses_by_name
from model_check.errors import ModelCheckError
from model_check.instances import load_instance
from model_check.probabilities.answer import answer_of
from model_check.probabilities.sampled import SampledShare, sampled_shares, split_shares
from model_check.probabilities.weights import Weights, usual
from model_check.walks.choices import step_tables
from model_check.walks.dice import Dice
from model_check.walks.guided import exploring, walker
from model_check.walks.guided.walker import GuidedWalker
from model_check.walks.walk import Walker
from model_check.world import World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.probabilities.worlds import chain_with
from tests.model_check.walks.plain_walk import plain_walk

STEPS, WALKS = 40, 20_000
WORLD = World.of("5.3.3", ["crash"], "tiny")


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def with_ticks(weight: int) -> Weights:
    return Weights("test", {**usual().whole, "tick": weight}, usual().unit)


@cache
def outside(walked: int, solved: int) -> int:
    """Clauses whose interval, so wide that all hold with 99 %, misses: walks and chain with these weights of tick."""
    answer = answer_of(chain_with("5.3.3", "crash", with_ticks(solved)), tuple(clauses_by_name().values()), STEPS)
    shares = sampled_shares(WORLD, with_ticks(walked), WALKS, STEPS, 11)
    confidence = 1 - 0.01 / len(answer.rows)
    intervals = [(row.within, *shares[row.clause].interval(confidence)) for row in answer.rows]
    return sum(within is None or not low <= within.value <= high for within, low, high in intervals)


def test_walks_violate_each_clause_as_often_as_the_chain_says() -> None:
    assert outside(12, 12) == 0


def test_walks_with_another_weight_are_told_from_the_chain() -> None:
    assert outside(20, 12) > 5


def test_a_small_weight_beside_a_large_one_is_drawn_as_in_plain_python() -> None:
    weights = {**usual().whole, "tick": 40_000_000, "crash": 3}
    constants = WORLD.constants
    steps = TRANSACTIONAL_MESSAGES.steps(constants)
    tables, walks = step_tables("weighted", steps, weights), Walker(WORLD, "weighted", weights)
    for number in range(4):
        state = TRANSACTIONAL_MESSAGES.initial(constants)
        assert walks.path(5, number, 40) == tuple(plain_walk(state, constants, steps, Dice(5, number, tables), 40))


def test_weights_that_a_draw_cannot_tell_apart_are_refused() -> None:
    with pytest.raises(
        ModelCheckError, match=r"^the weights of all \d+ steps add up to .* draws from less than 4e\+09"
    ):
        Walker(WORLD, "weighted", {**usual().whole, "tick": 1 << 32})


def test_intervals_are_those_of_clopper_and_pearson() -> None:
    assert SampledShare(0, 20).interval() == pytest.approx((0.0, 1 - 0.025 ** (1 / 20)))
    assert SampledShare(20, 20).interval() == pytest.approx((0.025 ** (1 / 20), 1.0))
    assert SampledShare(8, 20).interval() == pytest.approx((0.19119, 0.63946), abs=1e-5)


def test_split_walks_estimate_shares_with_these_weights_and_say_what_they_cost() -> None:
    walks = GuidedWalker(WORLD, with_ticks(30).whole)
    with patch.object(walker, "LEARNED_FROM", {load_instance("tiny"): 20_000}):
        assert walks.learned.expanded
    found = split_shares(walks, 9, 20, 3)
    answer = answer_of(chain_with("5.3.3", "crash", with_ticks(30)), tuple(clauses_by_name().values()), 20)
    assert found.expanded > 20_000 * 0.9
    likely = [row for row in answer.rows if row.within and row.within.value > 0.01]
    assert len(likely) > 2
    for row in likely:
        estimate = found.estimates[row.clause]
        assert row.within is not None
        assert abs(estimate.share - row.within.value) < 6 * estimate.standard_error + 1e-9


def test_rare_shares_are_estimated_where_the_search_knows_little(monkeypatch: pytest.MonkeyPatch) -> None:
    seldom = Weights(
        "test", {name: w if name == "crash" else 1000 * w for name, w in usual().whole.items()}, usual().unit
    )
    for name, value in {"LEARNED_FROM": {}, "MOST_SEARCHED": 3_000, "EXPLORERS": 3}.items():
        monkeypatch.setattr(exploring, name, value)
    found = split_shares(GuidedWalker(WORLD, seldom.whole), 13, 25, 5)
    answer = answer_of(chain_with("5.3.3", "crash", seldom), tuple(clauses_by_name().values()), 25)
    rare = [(row, row.within.value) for row in answer.rows if row.within and 1e-9 < row.within.value < 1e-3]
    assert len(rare) > 2
    assert min(share for _, share in rare) < 1e-5
    for row, share in rare:
        estimate = found.estimates[row.clause]
        assert estimate.standard_error < share / 4
        assert abs(estimate.share - share) < 4 * estimate.standard_error
