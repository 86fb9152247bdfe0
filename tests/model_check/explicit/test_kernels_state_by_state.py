"""`expand` and `judge` of the compiled module against the CPython engine, one state at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from model_check.explicit.code_generation.compile import compile_machine
from model_check.explicit.code_generation.emit import CLAIMS_A_WORD
from model_check.world import Environment, World
from spec.constants import FAULTS
from spec.language import always, declared_always, holds, is_witnessed, successors
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.tla.forgetful_machine import FORGETFUL, Constants, State
from tests.model_check.walked import walked_states
from tests.sampled import sampled

pytestmark = pytest.mark.untraced

EVERYTHING = ",".join(FAULTS)

WORLDS = [
    (profile, environment, instance)
    for instance in ("tiny", "odd", "small")
    for profile, environment in (
        ("4.5.1", "crash,slow_round"),
        ("4.9.7", EVERYTHING),
        ("5.3.3", EVERYTHING),
        ("5.4.0", "slow_local,lose_check,acting_slave"),
        ("fixed", EVERYTHING),
    )
]


@pytest.mark.parametrize(("profile", "environment", "instance"), sampled(WORLDS, 3))
def test_every_step_from_every_walked_state_is_the_same(profile: str, environment: str, instance: str) -> None:
    machine = TRANSACTIONAL_MESSAGES
    constants = World.of(profile, Environment.named(environment), instance).constants
    compiled = compile_machine(machine, constants)
    kernels, switches, width = compiled.module, compiled.switches(constants), compiled.packing.words
    states = walked_states(machine, constants, walks=20, steps=60, seed=20_240_901)
    assert len(states) >= 200

    packed = np.concatenate([compiled.packing.pack(values) for values in states])
    room = len(states) * len(compiled.steps)
    found = np.zeros(room * width, np.int64)
    steps, parents = np.zeros(room, np.int32), np.zeros(room, np.int64)
    n, expanded = kernels.expand(packed, 0, len(states), switches, found, steps, parents, room)
    assert expanded == len(states)
    by_kernel: list[list[tuple[str, tuple[int, ...]]]] = [[] for _ in states]
    for j in range(n):
        after = compiled.packing.unpack(found[j * width : (j + 1) * width])
        by_kernel[parents[j]].append((str(compiled.steps[steps[j]]), after))

    state = machine.initial(constants)
    for number, values in enumerate(states):
        in_cpython = [(str(step), after) for step, after in successors(state.load(values), constants, compiled.steps)]
        assert by_kernel[number] == in_cpython
        words = np.zeros(compiled.verdict_words, np.int64)
        kernels.judge(packed, number, switches, words)
        verdict = sum(int(word) << (CLAIMS_A_WORD * place) for place, word in enumerate(words))
        claims = [not holds(state, constants, clause) for clause in machine.clauses]
        claims += [is_witnessed(state, constants, witness) for witness in machine.witnesses]
        assert [bool(verdict >> bit & 1) for bit in range(len(claims))] == claims


@always("Y1", clause="something_is_there")
def something_is_there(s: State, c: Constants) -> bool:
    """False of a state of zeros."""
    return s.length > 0


@pytest.mark.parametrize("count", [1, 63, 64, 65])
def test_nothing_but_the_states_of_a_run_is_judged(count: int) -> None:
    """A run is laid out for 64 states, however many there are."""
    machine, constants = replace(FORGETFUL, clauses=(declared_always(something_is_there),)), Constants()
    compiled, state = compile_machine(machine, constants), machine.initial(constants)
    nothing, something = (
        compiled.packing.pack(tuple(slot.low + more * (slot.path == ("length",)) for slot in state.memory.slots))
        for more in (0, 1)
    )
    for at_last, violated in ((something, 0), (nothing, 1)):
        words = np.zeros(compiled.verdict_words, np.int64)
        states = np.concatenate([something] * (count - 1) + [at_last])
        compiled.module.judge_run(states, 0, count, compiled.switches(constants), words)
        assert words.tolist() == [violated]
