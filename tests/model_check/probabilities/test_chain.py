"""A chain against the specification in plain Python: distributions over whole states, in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from model_check.clauses import clauses_by_name
from model_check.errors import ModelCheckError
from model_check.probabilities.answer import answer_of
from model_check.probabilities.chain import chain_of
from model_check.probabilities.solve import Solver
from model_check.probabilities.weights import read_weights, usual
from model_check.walks.choices import usual_weights
from model_check.world import World
from spec.language import holds, successors
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.probabilities.worlds import chain, chain_with
from tests.model_check.walks.guided.worlds import CLAUSES, exact_shares

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from spec.language import Property

STEPS = 12
MET = ("R1.pulls_nothing", "L2.never_asked")
"""Clauses that 4.5.1 violates within so many steps in the quiet world."""


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


class PlainRuns:
    """The runs of 4.5.1 in the quiet world on tiny, with weights, without any engine."""

    def __init__(self, weights: Mapping[str, int]) -> None:
        self._constants = World.of("4.5.1", (), "tiny").constants
        self._steps = TRANSACTIONAL_MESSAGES.steps(self._constants)
        self._state = TRANSACTIONAL_MESSAGES.initial(self._constants)
        self._weights = weights
        self.first = self._state.canonical()
        self.after = cache(self._after)
        self.violates = cache(self._violates)

    def _after(self, values: tuple[int, ...]) -> dict[tuple[int, ...], Fraction]:
        found: dict[tuple[int, ...], int] = {}
        for step, after in successors(self._state.load(values), self._constants, self._steps):
            found[after] = found.get(after, 0) + self._weights[step.action.name]
        total = sum(found.values())
        return {after: Fraction(weight, total) for after, weight in found.items()} or {values: Fraction(1)}

    def _violates(self, values: tuple[int, ...], clause: Property) -> bool:
        return not holds(self._state.load(values), self._constants, clause)

    def within(self, clause: Property, steps: int) -> Fraction:
        """The part of all runs that violate a clause within so many steps, from the first step to the last."""
        here, met = {self.first: Fraction(1)}, Fraction(0)
        for _ in range(steps):
            ahead: dict[tuple[int, ...], Fraction] = {}
            for values, part in here.items():
                for after, share in self.after(values).items():
                    if self.violates(after, clause):
                        met += part * share
                    else:
                        ahead[after] = ahead.get(after, Fraction(0)) + part * share
            here = ahead
        return met


@pytest.mark.parametrize("name", MET)
def test_within_some_steps_is_what_plain_python_says_in_fractions(name: str) -> None:
    clause = clauses_by_name()[name]
    plain = PlainRuns(usual_weights()).within(clause, STEPS)
    whole = chain("4.5.1", "quiet")
    found = Solver(whole).within(whole.violating([clause])[:, 0], STEPS)
    assert abs(Fraction(found.value) - plain) <= Fraction(found.error)
    assert plain > 0


def test_other_weights_give_other_probabilities_in_both(tmp_path: Path) -> None:
    file = tmp_path / "w.toml"
    file.write_text("[mean_ticks]\nsend_half = 3.5\nbegin_round = 0.25\n")
    weights, clause = read_weights(file), clauses_by_name()[MET[0]]
    plain = PlainRuns(weights.whole).within(clause, STEPS)
    whole = chain_with("4.5.1", "quiet", weights)
    found = Solver(whole).within(whole.violating([clause])[:, 0], STEPS)
    assert abs(Fraction(found.value) - plain) <= Fraction(found.error)
    assert abs(plain - PlainRuns(usual_weights()).within(clause, STEPS)) > Fraction(1, 1000)


def test_probabilities_are_those_that_guided_walks_are_held_against() -> None:
    shares = dict(zip(CLAUSES, exact_shares("crash", 40).tolist(), strict=True))
    answer = answer_of(chain("5.3.3", "crash"), tuple(clauses_by_name().values()), 40)
    within = {row.name: row.within.value for row in answer.rows if row.within}
    assert within == pytest.approx({name: share for name, share in shares.items() if name in within}, rel=1e-12)
    assert {name for name, share in shares.items() if share > 0} <= set(within)
    assert len(answer.rows) == 17
    assert len(answer.never) == len(CLAUSES) - 17


def test_the_likeliest_clause_comes_first_and_no_run_does_it_less_often_in_the_end() -> None:
    answer = answer_of(chain("5.3.3", "crash"), tuple(clauses_by_name().values()), 40)
    values = [row.ever.value for row in answer.rows]
    assert values == sorted(values, reverse=True)
    assert all(row.within and row.within.value <= row.ever.value + row.ever.error for row in answer.rows)
    assert 0 < answer.full_queue.value < 1


def test_a_chain_that_was_cut_short_says_between_what_the_whole_one_lies() -> None:
    clauses = tuple(clauses_by_name().values())
    whole = {row.name: row for row in answer_of(chain("5.3.3", "crash"), clauses, 40).rows}
    part = answer_of(chain("5.3.3", "crash", 20_000), clauses, 40)
    assert not part.is_whole
    assert not part.never
    assert part.states < 30_000
    for row in part.rows:
        exact = whole[row.name].ever.value if row.name in whole else 0.0
        assert row.ever.value - row.ever.error <= exact <= row.ever.value + row.ever.unknown
    assert any(row.ever.value > 0 for row in part.rows)


def test_each_row_of_a_chain_adds_up_to_one_and_its_weights_are_whole() -> None:
    whole = chain("5.3.3", "crash")
    assert np.abs(whole.steps.sum(axis=1) - 1).max() < 1e-15
    assert (whole.weight_between.data == np.floor(whole.weight_between.data)).all()
    assert whole.states == 98_391


def test_an_instance_that_forgets_and_a_crowded_one_are_refused() -> None:
    for instance, why in (("lasting", "forgets what is over"), ("crowd", "any number of others")):
        with pytest.raises(ModelCheckError, match=why):
            chain_of(World.of("5.3.3", (), instance), usual(), 100)
