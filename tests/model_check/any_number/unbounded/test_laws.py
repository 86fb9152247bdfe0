"""The laws of ranks hold of each finite queue."""

from __future__ import annotations

from itertools import product

import pytest
import z3

from model_check.any_number.unbounded.formulas import BOOL, INT
from model_check.any_number.unbounded.states import Queue

IS_OWN = z3.Function("is_own", INT, BOOL)
LENGTH = z3.Int("length")
QUEUE = Queue.of("queue", LENGTH, IS_OWN)


def pinned(own: tuple[bool, ...]) -> list[z3.BoolRef]:
    """The queue of some messages, each its own or not; behind its ends anything goes for an own message."""
    places = [place for place, is_own in enumerate(own) if is_own]
    ranks = [QUEUE.rank(position) == sum(own[:position]) for position in range(len(own) + 1)]
    number = z3.Int("number")
    nth = [QUEUE.nth(i) == place for i, place in enumerate(places)]
    none = z3.ForAll([number], z3.Implies(z3.Or(number < 0, number >= len(places)), QUEUE.nth(number) == len(own)))
    return [len(own) == LENGTH, *(IS_OWN(p) == is_own for p, is_own in enumerate(own)), *ranks, *nth, none]


@pytest.mark.parametrize("length", range(5))
def test_the_laws_hold_of_all_queues_of_a_length(length: int) -> None:
    for own in product((False, True), repeat=length):
        for law in QUEUE.laws():
            solver = z3.Solver()
            solver.add(*pinned(own), z3.Not(law))
            assert solver.check() == z3.unsat, (own, law)


def test_a_law_that_is_wrong_is_refuted() -> None:
    solver = z3.Solver()
    solver.add(*pinned((True, False)), z3.Not(QUEUE.rank(1) == QUEUE.rank(0)))
    assert solver.check() == z3.sat
