"""The tables of the choices, and the compiled walk against the one in plain Python."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from model_check.errors import ModelCheckError
from model_check.explicit.code_generation.compile import compile_machine
from model_check.front_end.lower import Lowering
from model_check.walks.choices import CHOICES, FAULT, OPTIONAL, ORDINARY, QUIET, WEIGHTS, fault_actions, step_tables
from model_check.walks.dice import Dice
from model_check.walks.walk import Walker
from model_check.world import Environment, World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.checked import checked
from tests.model_check.walks.plain_walk import plain_walk


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


@cache
def walker(profile: str, environment: str, choice: str) -> Walker:
    return Walker(World.of(profile, Environment.named(environment), "tiny"), choice)


def test_the_actions_that_a_fault_makes_possible_are_those_whose_guard_assumes_something() -> None:
    assuming = set()
    for instance in ("tiny", "proxied"):
        constants = World.of("5.3.3", (), instance).constants
        lowering = Lowering(TRANSACTIONAL_MESSAGES, constants)
        assuming |= {
            step.action.name
            for step in TRANSACTIONAL_MESSAGES.steps(constants)
            if any(conjunct.kind == "assume" for conjunct in lowering.action(step).guard)
        }
    assert assuming - {action.__name__ for action in QUIET} == set(fault_actions())
    assert len(fault_actions()) == 48


def test_the_tables_name_actions_of_the_specification() -> None:
    functions = {action.function for action in TRANSACTIONAL_MESSAGES.actions}
    assert {*WEIGHTS, *OPTIONAL, *QUIET} <= functions
    assert not {action.__name__ for action in OPTIONAL} & set(fault_actions())
    assert len(set(OPTIONAL)) == len(OPTIONAL)
    assert all(0 < weight < 2 * ORDINARY for weight in WEIGHTS.values())
    weights = {action.__name__: weight for action, weight in WEIGHTS.items()}
    assert all(weights.get(name, FAULT) < ORDINARY for name in fault_actions())


def test_an_unknown_choice_is_refused() -> None:
    with pytest.raises(ModelCheckError, match=r"^no choice 'best'; there are uniform, weighted, swarm$"):
        Walker(World.of("5.3.3"), "best")


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize(
    ("profile", "environment"),
    [
        ("5.3.3", "crash,lose_end,late_end,slow_local"),
        ("4.5.1", "quiet"),
        ("4.9.7", "power_loss,put_failure,op_write_failure,duplicate_end,graceful_stop"),
    ],
)
def test_the_compiled_walk_is_the_one_in_plain_python(profile: str, environment: str, choice: str) -> None:
    constants = World.of(profile, Environment.named(environment), "tiny").constants
    steps = TRANSACTIONAL_MESSAGES.steps(constants)
    tables = step_tables(choice, steps)
    walks = walker(profile, environment, choice)
    for number in (0, 1, 2, 10**12):
        state = TRANSACTIONAL_MESSAGES.initial(constants)
        plain = tuple(plain_walk(state, constants, steps, Dice(5, number, tables), 25))
        assert walks.path(5, number, 25) == plain
        assert len(plain) > 10


def test_the_three_choices_walk_differently() -> None:
    paths = {walker("5.3.3", "crash", choice).path(7, 5, 30) for choice in CHOICES}
    assert len(paths) == 3


def test_in_a_swarm_an_optional_action_is_off_in_about_half_of_the_walks_and_never_taken_there() -> None:
    constants = World.of("5.3.3", ("crash", "lose_end"), "tiny").constants
    steps = TRANSACTIONAL_MESSAGES.steps(constants)
    tables = step_tables("swarm", steps)
    walks = walker("5.3.3", "crash,lose_end", "swarm")
    crash = next(number for number, step in enumerate(steps) if step.action.name == "crash")
    columns = walks.walk(7, 0, 2_000, 25)
    crashed = set(columns["trace"][columns["action"] == walks.actions.index("crash")].tolist())
    may_crash = {number for number in range(2_000) if Dice(7, number, tables).choose([crash]) is not None}
    assert crashed <= may_crash
    assert len(crashed) > 200
    assert 900 < len(may_crash) < 1_100
    assert not any(Dice(7, 0, step_tables("uniform", steps)).choose([number]) is None for number in range(len(steps)))


def test_weights_make_faults_rarer_and_what_they_do_not_touch_more_frequent() -> None:
    taken = {}
    for choice in ("uniform", "weighted"):
        walks = walker("5.3.3", "crash", choice)
        columns = walks.walk(7, 0, 2_000, 30)
        taken[choice] = np.bincount(columns["action"], minlength=len(walks.actions)) / len(columns["action"])
    crash, deliver = (
        walker("5.3.3", "crash", "uniform").actions.index(name) for name in ("crash", "store_real_message")
    )
    assert taken["weighted"][crash] < taken["uniform"][crash] / 2
    assert taken["weighted"][deliver] > taken["uniform"][deliver]


@pytest.mark.parametrize("choice", CHOICES)
def test_the_states_that_walks_see_are_those_of_their_paths_and_of_the_search(choice: str) -> None:
    constants = World.of("4.5.1", (), "tiny").constants
    compiled = compile_machine(TRANSACTIONAL_MESSAGES, constants)
    walks = walker("4.5.1", "quiet", choice)
    states: set[tuple[int, ...]] = set()
    for number in range(40):
        state = TRANSACTIONAL_MESSAGES.initial(constants)
        states.add(state.canonical())
        for step in walks.path(3, number, 30):
            step.action.function(state, constants, *step.arguments)
            states.add(state.canonical())
    seen = walks.visited(3, 0, 40, 30)
    assert len(seen) == len(states) > 100
    packed = np.array([compiled.packing.pack(state) for state in states])
    assert {int(word) for word in seen} == {plain_hash(words) for words in packed.tolist()}
    assert seen.tolist() == sorted(seen.tolist())


def test_walks_see_no_more_states_than_a_search_and_most_of_them_with_weights_or_in_a_swarm() -> None:
    found = checked("5.3.3", "crash", "tiny").numbers.distinct
    seen = {choice: len(walker("5.3.3", "crash", choice).visited(3, 0, 5_000, 60)) for choice in CHOICES}
    assert seen["uniform"] < min(seen["weighted"], seen["swarm"])
    assert max(seen.values()) <= found


def test_no_walks_see_no_states() -> None:
    assert walker("4.5.1", "quiet", "uniform").visited(3, 0, 0, 30).tolist() == []


def plain_hash(words: list[int]) -> int:
    """As `model_check/explicit/kernel_texts/hashing.py` says, in Python's own numbers."""
    state, most = 0x243F6A8885A308D3, (1 << 64) - 1
    numbers = []
    for _ in range(2 + 2 * len(words)):
        state = (state + 0x9E3779B97F4A7C15) & most
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & most
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & most
        numbers.append(z ^ (z >> 31))
    whole = [low | high << 64 for low, high in zip(numbers[::2], numbers[1::2], strict=True)]
    total = whole[0] + sum(b * (word & most) for b, word in zip(whole[1:], words, strict=True))
    high = total >> 64 & most
    high = ((high ^ (high >> 32)) * 0xD6E8FEB86659FD93) & most
    return high ^ (high >> 29)
