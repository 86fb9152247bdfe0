"""Would a property that says nothing be noticed, and does each new one see the action that it forbids?"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import pytest

from model_check.clauses import name_of
from model_check.cpython import explore
from model_check.world import World
from spec import ghosts, half, rounds
from spec.chapters import discarding
from spec.transactional_messages import TRANSACTIONAL_MESSAGES as MACHINE
from tests.model_check.checked import untraced
from tests.quality.test_mutants_of_the_engines import QUIET_4_9_7, numbers, numbers_with
from tests.sampled import sampled

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from spec.language.rules import Property


def nothing_is_wrong(s: object, c: object, t: int) -> bool:
    """Always true."""
    return True


def nothing_is_seen(s: object, c: object, t: int) -> bool:
    """Never true."""
    return False


def with_parameters_of(claim: Property, function: Callable[..., bool]) -> Property:
    return replace(claim, function=function)


@pytest.mark.parametrize(
    "emptied", sampled(["S1.immune_half", "S9.immune_half", "S9.late_op", "L2.immunity_burns_checks"], 2)
)
def test_a_clause_that_is_always_true_loses_its_pinned_violation(emptied: str) -> None:
    clauses = tuple(
        with_parameters_of(clause, nothing_is_wrong) if name_of(clause) == emptied else clause
        for clause in MACHINE.clauses
    )
    with untraced():
        *_, depths = numbers(replace(MACHINE, clauses=clauses))
    assert depths == {name: depth for name, depth in QUIET_4_9_7[3].items() if name != emptied}


@cache
def witnessed() -> set[str]:
    with untraced():
        return {witness.name for witness in explore(MACHINE, World.of("4.9.7", (), "tiny").constants).witnesses}


def test_a_witness_that_is_never_true_is_missed() -> None:
    witnesses = tuple(with_parameters_of(w, nothing_is_seen) for w in MACHINE.witnesses if "t" in w.parameters)
    assert len(witnesses) == 9
    with untraced():
        found = explore(replace(MACHINE, witnesses=witnesses), World.of("4.9.7", (), "tiny").constants)
    assert found.witnesses == {}
    assert witnessed() == {witness.name for witness in MACHINE.witnesses}


BROKEN_ACTIONS = [
    pytest.param(
        rounds, "end_round", "        s.offsets.half = s.round.cursor\n", "        pass\n",
        {"S1.forked_copy", "S1.passed_op", "S7.in_memory", "S7.in_the_file", "S9.passed_op", "R1.forks"},
        id="the half offset stays behind",
    ),
    pytest.param(
        discarding, "discard", "Left.KEPT_ASIDE if c.keeps_discarded else Left.DROPPED", "Left.DROPPED",
        {"S8.discarded_without_a_record"}, id="a discarded half leaves no record",
    ),
    pytest.param(
        rounds, "end_round", "s.offsets.half = s.round.cursor", "s.offsets.half = s.half_length",
        {"S8.neither_settled_nor_copied", "L1.passed_over"}, id="the half offset jumps to the end",
    ),
    pytest.param(
        ghosts, "remember_put_back", "s.transaction[t].cause = why_its_op_was_not_seen(s, c, h)", "pass",
        {"S1.unexplained", "S9.unexplained"}, id="no cause is noted",
    ),
    pytest.param(
        ghosts, "remember_put_back", "elif has_another_copy(s, h):", "elif s.half[h].settled != Settled.NO:",
        {"S1.forked_copy", "S9.forked_copy", "R1.forks"}, id="each second life is taken for a forked copy",
    ),
    pytest.param(
        ghosts, "why_its_op_was_not_seen", "return Cause.LATE_OP", "return Cause.PASSED_OP",
        {"S1.passed_op", "S9.passed_op"}, id="a late op is taken for a passed one",
    ),
    pytest.param(
        ghosts, "why_its_op_was_not_seen", "return Cause.LATE_OP", "return Cause.LOST_OP",
        {"S1.lost_op", "S9.lost_op"}, id="a late op is taken for a lost one",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("module", "name", "old", "new", "seen"), sampled(BROKEN_ACTIONS, 2))
def test_a_broken_action_violates_the_clause_that_forbids_it(
    module: ModuleType, name: str, old: str, new: str, seen: set[str]
) -> None:
    with untraced():
        *_, depths = numbers_with(module, name, old, new)
    assert depths.keys() - QUIET_4_9_7[3].keys() == seen


def test_a_half_that_is_discarded_one_check_too_early_is_seen_sooner() -> None:
    with untraced():
        *_, depths = numbers_with(half, "has_no_checks_left", ">= c.check_max", ">= 1")
    assert depths["L2.immunity_burns_checks"] < QUIET_4_9_7[3]["L2.immunity_burns_checks"]
