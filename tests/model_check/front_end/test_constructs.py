"""Each construct means the same to Python and to the engines that go through the front end."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from model_check.explicit.code_generation.compile import compile_machine
from spec.language import RangeViolation, holds, is_witnessed
from tests.model_check.checked import untraced
from tests.model_check.emitted import Emitted, Values, emitted, in_cpython
from tests.model_check.front_end.constructs import ACTIONS, Sizes, machine_of

if TYPE_CHECKING:
    from collections.abc import Callable

LEAVES_A_RANGE = {
    "may_leave_its_range",
    "writes_at_a_place_that_may_not_be",
    "writes_a_record_that_may_not_be",
    "adds_a_member_that_may_not_be",
    "adds_a_member_that_may_be_absent",
    "sets_a_member_that_may_be_absent",
}


def random_states(machine: Emitted, count: int) -> list[Values]:
    chance = random.Random(machine.machine.name)
    return [tuple(chance.randint(slot.low, slot.high) for slot in machine.packing.slots) for _ in range(count)]


def outcome_in_cpython(machine: Emitted, values: Values) -> object:
    try:
        return list(in_cpython(machine.machine, machine.constants, values))
    except RangeViolation:
        return "out of range"


def outcome_emitted(machine: Emitted, values: Values) -> object:
    try:
        return machine.successors(values)
    except OverflowError:
        return "out of range"


@pytest.mark.parametrize("switch", [False, True], ids=["off", "on"])
@pytest.mark.parametrize("function", ACTIONS, ids=lambda f: f.__name__)
def test_the_construct_means_the_same_in_both_readings(function: Callable[..., None], switch: bool) -> None:
    machine = emitted(machine_of(function), Sizes(switch=switch))
    outcomes = []
    with untraced():
        for values in random_states(machine, 300):
            outcomes.append(outcome_in_cpython(machine, values))
            assert outcome_emitted(machine, values) == outcomes[-1], values
    changed = [o for o in outcomes if isinstance(o, list) and o]
    assert changed, "the action is enabled somewhere"
    assert ("out of range" in outcomes) is (function.__name__ in LEAVES_A_RANGE)


def test_clauses_and_witnesses_are_judged_the_same() -> None:
    machine = emitted(machine_of(ACTIONS[0]), Sizes())
    state = machine.machine.initial(machine.constants)
    verdicts = set()
    for values in random_states(machine, 300):
        state.load(values)
        violated = not holds(state, machine.constants, machine.machine.clauses[0])
        seen = is_witnessed(state, machine.constants, machine.machine.witnesses[0])
        assert machine.verdict(values) == violated + 2 * seen
        verdicts.add((violated, seen))
    assert len(verdicts) == 4


DEPENDS_ON_THE_SIZE = {"any_all_and_sum", "sum_of_flags", "nested_loops"}

IN_RANGE = tuple(f for f in ACTIONS if f.__name__ not in LEAVES_A_RANGE | DEPENDS_ON_THE_SIZE)


@pytest.mark.parametrize("function", ACTIONS, ids=lambda f: f.__name__)
def test_the_construct_means_the_same_on_arrays_over_several_words(function: Callable[..., None]) -> None:
    machine = emitted(machine_of(function), Sizes(places=40))
    assert len(machine.packing.places["cell", "members"]) == 40
    assert len(machine.packing.places["box", "numbers"]) == 2
    with untraced():
        for values in random_states(machine, 60):
            assert outcome_emitted(machine, values) == outcome_in_cpython(machine, values), values


def test_the_kernels_call_the_same_code() -> None:
    constants = Sizes(places=12)
    machine = emitted(machine_of(*IN_RANGE), constants)
    compiled = compile_machine(machine.machine, constants)
    width, room = machine.packing.words, len(machine.steps)
    assert width >= 4
    found, steps, parents = np.zeros(room * width, np.int64), np.zeros(room, np.int32), np.zeros(room, np.int64)
    negative = 0
    for values in random_states(machine, 200):
        words = machine.packing.pack(values)
        negative += bool((words < 0).any())
        switches = compiled.switches(constants, reachable=False)
        n, _ = compiled.module.expand(words, 0, 1, switches, found, steps, parents, room)
        by_numba = [
            (str(machine.steps[steps[j]]), machine.packing.unpack(found[j * width : (j + 1) * width])) for j in range(n)
        ]
        assert by_numba == machine.successors(values) == list(in_cpython(machine.machine, constants, values))
        verdict = np.zeros(1, np.int64)
        compiled.module.judge(words, 0, switches, verdict)
        assert verdict[0] == machine.verdict(values)
    assert negative >= 50, "bit 63 is in use"
