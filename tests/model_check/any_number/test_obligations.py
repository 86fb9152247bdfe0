"""A solver proves a sample of the obligations, and refutes one as soon as an action, an invariant or a lemma fails."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import pytest

from model_check.any_number.invariants import INVARIANTS
from model_check.any_number.obligations import SMALL, Proof, Prover
from model_check.any_number.shapes import Shape, shapes
from model_check.world import World
from spec.language import declared_action
from spec.transactional_messages import AMONG_OTHERS
from tests.model_check.any_number.test_lemmas import end_round_at_another

if TYPE_CHECKING:
    from collections.abc import Collection

ONE, BOTH = Shape((0,), (), 0), Shape((0, 1), (), 1)

NEEDED_ACTIONS = {
    "begin_round_among_others": ("begin_round", Shape((0,), (0,), None)),
    "pull_ops_among_others": ("pull_more_ops", Shape((0,), (0,), 0)),
    "see_op_end_for_another": ("pull_more_ops", ONE),
    "end_round_at_another": ("end_round_at_fresh_half", Shape((0, 1), (), 0)),
    "leave_op_of_another": ("end_round_at_queue_end", Shape((0, 1), (0, 1), 2)),
}
"""Without such an action of others, a step of many is not followed from a shape."""

NEEDED_INVARIANTS = {
    "first_half_is_its_own": ("commit_what_is_gone", Shape((0,), (), None)),
    "original_is_of_same_transaction": ("put_back_and_check", ONE),
    "halves_are_stored_in_order": ("pull_more_ops", Shape((0, 1), (0,), 1)),
    "removed_by_an_op_that_names_it": ("pass_settled_half", Shape((0, 1), (1,), 0)),
    "unresolved_is_named": ("put_back_and_check", Shape((0, 1), (1,), 0)),
    "positions_are_in_their_queues": ("write_op", Shape((0,), (), None)),
    "round_reads_forward": ("pull_more_ops", Shape((0, 1), (1,), 0)),
    "round_began_at_op_offset": ("end_round_at_queue_end", Shape((0, 1), (0, 1), 2)),
    "done_was_read": ("write_op", ONE),
    "settled_by_what_was_read": ("pass_half_of_settled_transaction", Shape((0, 0), (0,), 1)),
}
"""Without such an invariant, a step of many is not followed from a shape, or another invariant is not kept."""


CONSTANTS = World.of("fixed", ["crash"], SMALL).constants


@cache
def prover() -> Prover:
    return Prover.of(CONSTANTS)


def proved(shape: Shape, only: Collection[str] = (), without: tuple[str, ...] = ()) -> Proof:
    return replace(prover(), without=without).prove(shape, only)


def test_there_are_327_shapes() -> None:
    every = list(shapes(CONSTANTS))
    assert len(set(every)) == len(every) == 327


def test_the_invariants_hold_initially() -> None:
    assert prover().holds_initially()


@pytest.mark.parametrize("shape", random.Random(1).sample(list(shapes(CONSTANTS)), 2), ids=str)
def test_a_sample_of_shapes_is_proved(shape: Shape) -> None:
    proof = proved(shape)
    assert proof.is_proved, proof
    assert proof.followed == 2 * proof.preserved > 40


@pytest.mark.parametrize("name", NEEDED_ACTIONS)
def test_without_an_action_of_others_a_step_is_not_followed(name: str) -> None:
    action, shape = NEEDED_ACTIONS[name]
    assert proved(shape, [action]).is_proved
    assert proved(shape, [action], without=(name,)).refuted


@pytest.mark.parametrize("name", [invariant.__name__ for invariant in INVARIANTS])
def test_each_invariant_is_needed(name: str) -> None:
    action, shape = NEEDED_INVARIANTS[name]
    assert proved(shape, [action]).is_proved
    assert proved(shape, [action], without=(name,)).refuted


def test_a_lemma_that_says_more_is_refuted() -> None:
    mutant = declared_action(end_round_at_another)
    machine = replace(AMONG_OTHERS, actions=tuple(mutant if a.name == mutant.name else a for a in AMONG_OTHERS.actions))
    assert proved(BOTH, ["end_round_at_time_limit"]).is_proved
    assert prover().with_one_of(machine).prove(BOTH, ["end_round_at_time_limit"]).refuted
