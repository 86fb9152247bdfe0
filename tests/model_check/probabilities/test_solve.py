"""Probabilities of chains whose answer is known in closed form, and how far off they may be."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest
from scipy.sparse import csr_array

from model_check.probabilities.solve import Solver

if TYPE_CHECKING:
    from model_check.probabilities.chain import Chain, Flags


@dataclass
class SmallChain:
    """A chain of some states, the first one initial."""

    rows: list[dict[int, float]]
    unknown_states: set[int] = field(default_factory=set)

    @property
    def steps(self) -> csr_array:
        matrix = np.zeros((len(self.rows), len(self.rows)))
        for state, row in enumerate(self.rows):
            for target, part in row.items():
                matrix[state, target] = part
        return csr_array(matrix)

    @property
    def is_whole(self) -> bool:
        return not self.unknown_states

    @property
    def unknown(self) -> Flags:
        return self.states(*self.unknown_states)

    def states(self, *these: int) -> Flags:
        return np.isin(np.arange(len(self.rows)), these)

    @property
    def solver(self) -> Solver:
        return Solver(cast("Chain", self))


def gambler(capital: int, goal: int, win: float) -> SmallChain:
    """A gambler with so much, who plays for one until he has the goal or nothing; state 0 is his first."""
    numbers = [capital, *(have for have in range(goal + 1) if have != capital)]
    place = {have: number for number, have in enumerate(numbers)}
    rows = [
        {place[have]: 1.0} if have in (0, goal) else {place[have + 1]: win, place[have - 1]: 1 - win}
        for have in numbers
    ]
    return SmallChain(rows)


@pytest.mark.parametrize(("capital", "goal", "win"), [(1, 10, 0.5), (3, 12, 0.25), (9, 10, 0.75), (1, 40, 0.25)])
def test_a_gambler_wins_as_often_as_is_known(capital: int, goal: int, win: float) -> None:
    ratio = (1 - Fraction(win)) / Fraction(win)
    exact = Fraction(capital, goal) if ratio == 1 else (1 - ratio**capital) / (1 - ratio**goal)
    chain = gambler(capital, goal, win)
    rich = chain.states(len(chain.rows) - 1)
    found = chain.solver.ever(rich)
    assert abs(Fraction(found.value) - exact) <= Fraction(found.error)
    assert 0 < found.error < 1e-11 * found.value
    assert found.unknown == 0


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 17, 1000])
def test_within_some_steps_is_what_a_geometric_wait_gives(steps: int) -> None:
    chain = SmallChain([{0: 0.75, 1: 0.25}, {1: 1.0}])
    found = chain.solver.within(chain.states(1), steps)
    assert abs(Fraction(found.value) - (1 - Fraction(3, 4) ** steps)) <= Fraction(found.error)
    assert found.error < 1e-12 * steps + 1e-300


def test_in_the_end_is_the_limit_of_within() -> None:
    chain = gambler(3, 12, 0.375)
    rich = chain.states(12)
    limit = chain.solver.within(rich, 3_000)
    assert chain.solver.ever(rich).value == pytest.approx(limit.value, rel=1e-12)
    assert chain.solver.within(rich, 40).value < 0.99 * limit.value


def test_the_goal_at_once_and_one_that_is_never_reached() -> None:
    chain = SmallChain([{0: 0.5, 1: 0.5}, {1: 1.0}, {2: 1.0}])
    assert (chain.solver.ever(chain.states(0)).value, chain.solver.ever(chain.states(2)).value) == (1.0, 0.0)
    assert (chain.solver.within(chain.states(0), 5).value, chain.solver.within(chain.states(2), 5).value) == (1.0, 0.0)
    assert chain.solver.ever(chain.states()).value == 0.0


def test_what_states_that_were_not_expanded_may_add_is_said() -> None:
    chain = SmallChain([{1: 0.5, 2: 0.125, 3: 0.375}, {1: 1.0}, {2: 1.0}, {3: 1.0}], {2})
    found = chain.solver.ever(chain.states(1))
    assert found.value == pytest.approx(0.5)
    assert found.value + found.unknown == pytest.approx(0.625)
    assert chain.solver.within(chain.states(1), 1).unknown == pytest.approx(0.125)


def test_an_error_is_bounded_where_runs_go_round_for_long() -> None:
    chain = SmallChain([{0: 1 - 2**-30, 1: 2**-32, 2: 3 * 2**-32}, {1: 1.0}, {2: 1.0}])
    found = chain.solver.ever(chain.states(1))
    assert abs(found.value - 0.25) <= found.error
    assert found.error > 1e-8
