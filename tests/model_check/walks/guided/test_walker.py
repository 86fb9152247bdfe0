"""Guided walks as columns and paths, and the account of them."""

from __future__ import annotations

import numpy as np
import pytest

from model_check.clauses import chosen_clauses
from model_check.errors import ModelCheckError
from model_check.walks.choices import GUIDED
from model_check.walks.guided.account import account_of
from model_check.walks.guided.population import MOST
from model_check.walks.guided.state_space import are_violated
from model_check.walks.guided.walker import walker_for
from model_check.world import World
from spec.language import holds, take
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.walks.guided.worlds import CLAUSES, exact_shares, guided
from tests.model_check.walks.legal_walks import illegal_step

STEPS = 30
FAULT = "slow_local"


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def rows(seed: int, first: int, count: int) -> list[tuple[object, ...]]:
    columns = guided("crash").walk(seed, first, count, STEPS)
    return list(zip(*(column.tolist() for column in columns.values()), strict=True))


def test_a_walk_depends_on_its_seed_and_number_and_not_on_the_block_it_is_made_in() -> None:
    first = MOST - 3
    whole = rows(7, first, 6)
    assert whole == [row for number in range(first, first + 6) for row in rows(7, number, 1)]
    assert whole != rows(8, first, 6)
    assert [row for row in whole if row[0] == MOST + 1] == rows(7, MOST + 1, 1)


@pytest.mark.parametrize("environment", ["crash", "clock_step,clock_skew,slow_round"])
def test_every_walk_is_a_legal_path_with_the_observed_fields_of_the_cpython_reading(environment: str) -> None:
    numbers = range(MOST - 20, MOST + 40)
    columns = guided(environment).walk(7, numbers[0], len(numbers), STEPS)
    assert illegal_step(columns, numbers, "5.3.3", environment) == ""


def test_no_walks_are_an_empty_table() -> None:
    assert {len(column) for column in guided("crash").walk(7, 0, 0, STEPS).values()} == {0}


@pytest.mark.parametrize("choice", ["weighted", GUIDED])
def test_each_path_is_enabled_step_by_step_and_violates_what_is_said(choice: str) -> None:
    constants = World.of("5.3.3", ("crash",), "tiny").constants
    walks = guided("crash") if choice == GUIDED else walker_for(World.of("5.3.3", ["crash"]), choice)
    seen: set[str] = set()
    for number in (0, 5, MOST, MOST + 1, 2 * MOST + 999):
        state = TRANSACTIONAL_MESSAGES.initial(constants)
        violated: set[str] = set()
        for step in walks.path(7, number, STEPS):
            assert take(state, constants, step) is None
            violated |= {
                name
                for name, clause in zip(CLAUSES, TRANSACTIONAL_MESSAGES.clauses, strict=True)
                if not holds(state, constants, clause)
            }
        met, steps = walks.violated(7, number, 1, STEPS)
        assert {CLAUSES[i] for i in np.flatnonzero(are_violated(met, range(len(CLAUSES)))[0])} == violated
        assert steps == len(walks.path(7, number, STEPS))
        seen |= violated
    assert seen


def test_the_account_names_walks_that_violate_the_clause_and_its_share() -> None:
    walks = guided(FAULT)
    account = account_of(walks, 7, STEPS, most=400_000)
    assert account.cost <= 400_000
    assert account.cost == sum(account.searched.values()) + account.walked
    exact = dict(zip(CLAUSES, exact_shares(FAULT, STEPS).tolist(), strict=True))
    costs = [one.cost for one in account.met]
    assert costs == sorted(costs)
    assert {one.name for one in account.met} >= {name for name, share in exact.items() if share > 1e-3}
    assert all(exact[one.name] > 0 for one in account.met)
    rare = [one for one in account.met if one.is_rare]
    assert rare
    for one in account.met:
        assert one.estimate is not None
        assert one.is_rare is (one in rare)
        if one.trace is not None:
            met, _ = walks.violated(7, one.trace, 1, STEPS)
            assert are_violated(met, [CLAUSES.index(one.name)]).all()
    assert any(one.trace is not None for one in rare)
    told = [(one.estimate, exact[one.name]) for one in account.met if one.estimate is not None]
    assert all(abs(some.share - share) < 5 * some.standard_error for some, share in told)


def test_an_account_ends_when_what_is_awaited_was_met() -> None:
    awaited = chosen_clauses(["S1.after_a_check", "S2.rollback_after_commit"])
    whole = account_of(guided(FAULT), 7, STEPS, most=400_000)
    until = account_of(guided(FAULT), 7, STEPS, most=400_000, until=awaited)
    costs = {one.clause: one.cost for one in whole.met}
    assert {one.clause for one in until.met} >= set(awaited)
    assert max(costs[name] for name in awaited) < until.cost < whole.cost


def test_an_account_of_few_walks_has_no_estimate() -> None:
    account = account_of(guided(FAULT), 7, STEPS, walks=10, most=10**9)
    assert (account.walks, account.searched) == (MOST, {})
    assert {one.estimate for one in account.met} == {None}
    assert "share" not in next(iter(account.to_json()["met"].values()))


def test_walks_that_are_too_long_and_unknown_choices_are_refused() -> None:
    with pytest.raises(ModelCheckError, match=r"^--steps 10001: expected at most 10000 with --choice guided"):
        guided(FAULT).walk(7, 0, 1, 10_001)
    with pytest.raises(ModelCheckError, match=r"there are uniform, weighted, swarm, guided$"):
        walker_for(World.of("5.3.3"), "best")
    assert walker_for(World.of("5.3.3"), GUIDED).path(7, 0, 1)
