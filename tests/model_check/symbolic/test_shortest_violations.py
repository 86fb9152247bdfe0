"""Z3 finds each violation at the depth of the explicit search's shortest, and none at one step less."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

from model_check.clauses import chosen_clauses
from model_check.symbolic.bounded import BoundedResult, BoundedVerdict, search
from model_check.world import Environment, World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.checked import checked, untraced
from tests.sampled import sampled

if TYPE_CHECKING:
    from collections.abc import Callable

    from _pytest.mark import ParameterSet

SHORTEST = {
    ("5.3.3", "crash", "S10.op_entry_dies_with_the_process"): 4,
    ("5.3.3", "slow_local", "S1.after_a_check"): 10,
    ("5.3.3", "slow_local", "S2.commit_after_rollback"): 10,
    ("5.3.3", "crash", "S1.lost_op"): 11,
    ("5.3.3", "quiet", "S1.late_op"): 11,
    ("5.3.3", "quiet", "S1.immune_half"): 15,
    ("4.9.7", "quiet", "S1.immune_half"): 16,
    ("5.3.3", "crash", "S1.forked_copy"): 16,
}
"""Profile, environment and clause → steps, in the instance `tiny`."""
QUICK, LONGER = ("5.3.3", "crash", "S10.op_entry_dies_with_the_process"), ("5.3.3", "slow_local", "S1.after_a_check")


def bounded(
    profile: str, environment: str, clause: str, most_steps: int, report: Callable[[int], None] | None = None
) -> BoundedResult:
    (wanted,) = chosen_clauses([clause])
    with untraced():
        constants = World.of(profile, Environment.named(environment), "tiny").constants
        return search(TRANSACTIONAL_MESSAGES, constants, wanted, most_steps, report)


@cache
def shortest(profile: str, environment: str, clause: str) -> tuple[BoundedResult, list[int]]:
    """What a search to 25 steps finds, and the depths at which it says that the clause holds."""
    done: list[int] = []
    return bounded(profile, environment, clause, 25, done.append), done


def marked(world: tuple[str, str, str]) -> ParameterSet:
    """Z3 takes twice as long for each two steps more; of two with ten, one is asked."""
    is_quick = SHORTEST[world] < 10 or world == LONGER
    return pytest.param(*world, marks=() if is_quick else pytest.mark.sweep)


@pytest.mark.parametrize(("profile", "environment", "clause"), [*map(marked, SHORTEST)])
def test_the_shortest_violation_is_the_one_of_the_explicit_search(profile: str, environment: str, clause: str) -> None:
    (explicit,) = (
        result
        for result in checked(profile, environment, "tiny").rows
        if f"{result.clause.identifier}.{result.clause.clause}" == clause
    )
    found, done = shortest(profile, environment, clause)
    assert done == list(range(SHORTEST[profile, environment, clause])), "there is none at less steps"
    assert (found.verdict, found.depth) == (BoundedVerdict.VIOLATED, SHORTEST[profile, environment, clause])
    assert explicit.depth == found.depth
    assert explicit.path == tuple(found.path or ())


@pytest.mark.parametrize(("profile", "environment", "clause"), sampled([QUICK, LONGER], 2))
def test_a_search_to_one_step_less_ends_without_one(profile: str, environment: str, clause: str) -> None:
    bound = SHORTEST[profile, environment, clause] - 1
    found = bounded(profile, environment, clause, bound)
    assert (found.verdict, found.depth, found.path) == (BoundedVerdict.HOLDS_TO_BOUND, bound, None)


def test_two_searches_give_the_same_path() -> None:
    (first, _), second = shortest(*QUICK), bounded(*QUICK, 12)
    assert first.path == second.path
    assert first.depth == 4


@pytest.mark.parametrize("steps", [8, pytest.param(14, marks=pytest.mark.sweep)])
def test_a_clause_that_holds_everywhere_holds_to_a_bound(steps: int) -> None:
    assert checked("5.3.3", "crash", "tiny").numbers.complete
    found = bounded("5.3.3", "crash", "S1.unexplained", steps)
    assert (found.verdict, found.depth) == (BoundedVerdict.HOLDS_TO_BOUND, steps)


@pytest.mark.sweep
def test_the_op_offset_jump_of_4_5_1_needs_two_transactions_and_18_steps() -> None:
    (clause,) = chosen_clauses(["S1.passed_op"])
    (explicit,) = (r for r in checked("4.5.1", "crash", "small").rows if r.clause is clause)
    done: list[int] = []
    with untraced():
        constants = World.of("4.5.1", ("crash",), "small").constants
        found = search(TRANSACTIONAL_MESSAGES, constants, clause, 25, done.append)
    assert done == list(range(18))
    assert (found.verdict, found.depth) == (BoundedVerdict.VIOLATED, 18)
    assert explicit.depth == 18
    assert explicit.path == tuple(found.path or ())
