"""Cutting ages at the horizon changes nothing: a state and its canonical form have the same futures and verdicts."""

from __future__ import annotations

import random

import pytest

from model_check.instances import constants_for
from spec.language import holds, is_witnessed, successors
from spec.state import State
from spec.transactional_messages import TRANSACTIONAL_MESSAGES as MACHINE
from tests.model_check.checked import faults_of
from tests.model_check.walked import step_at_random

EVERYTHING = "slow_local,lose_end,lose_check,duplicate_end,wrong_end,late_end,slow_round,slow_dispatch,crash"


@pytest.mark.parametrize(
    ("profile", "environment", "size"),
    [
        ("4.5.1", "late_end,slow_round", "tiny"),
        ("4.9.7", EVERYTHING, "small"),
        ("5.3.3", EVERYTHING, "medium"),
        ("5.4.0", "crash,late_end", "deep"),
    ],
)
def test_a_clock_that_runs_on_gives_the_futures_of_the_canonical_state(
    profile: str, environment: str, size: str
) -> None:
    constants = constants_for(profile, faults_of(environment), size)
    steps = MACHINE.steps(constants)
    chance = random.Random(f"{profile} {environment} {size}")
    canonical = MACHINE.initial(constants)
    longest = cut = 0
    for _ in range(6):
        state = MACHINE.initial(constants)
        for _ in range(60):
            canonical.load(state.canonical())
            assert canonical.canonical() == tuple(canonical.memory.values)
            here, there = (
                [(str(step), after) for step, after in successors(s, constants, steps)] for s in (state, canonical)
            )
            assert here == there
            for clause in MACHINE.clauses:
                assert holds(state, constants, clause) == holds(canonical, constants, clause)
            for witness in MACHINE.witnesses:
                assert is_witnessed(state, constants, witness) == is_witnessed(canonical, constants, witness)
            longest = max(longest, state.memory.values[0] - state.horizon)
            cut += any(
                slot.kind.value == "instant" and 0 < value < slot.low + state.memory.values[0] - state.horizon
                for slot, value in zip(state.memory.slots, state.memory.values, strict=True)
            )
            if not step_at_random(MACHINE, constants, state, chance):
                break
    assert longest > constants.horizon, "the clock ran past the horizon"
    assert cut > 50, "ages were cut"


def test_the_canonical_form_moves_the_clock_back_and_keeps_young_ages() -> None:
    constants = constants_for("5.3.3", (), "tiny")
    state, moved = State(constants), State(constants)
    for _ in range(10):
        state.now += 1
    state.round_ended_at = state.now - 1
    state.half[0].born_at = state.now - 3
    state.half[1].born_at = state.now - 9
    moved.load(state.canonical())
    assert moved.now == constants.horizon
    assert moved.now - moved.round_ended_at == 1
    assert moved.now - moved.half[0].born_at == 3
    assert moved.now - moved.half[1].born_at == constants.birth_cut == 4
