"""Which steps an environment can take at all, held against those that runs take and against the guards."""

from __future__ import annotations

import pytest

from model_check.explicit.code_generation.compile import Compiled, compile_machine
from model_check.front_end.possible_steps import allowed_steps, possible_steps
from model_check.world import World
from spec.constants import FAULTS, Constants
from spec.language import require, successors
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.front_end.constructs import Sizes, State, machine_of
from tests.model_check.walked import walked_states

WORLDS = [
    ("4.5.1", ("crash", "slow_round")),
    ("5.3.3", ("acting_slave", "role_change")),
    ("5.4.0", ("graceful_stop", "lose_check")),
    ("5.5.1", ("retention", "power_loss")),
    ("5.5.1", FAULTS),
]


def names_of(compiled: Compiled, numbers: set[int]) -> set[str]:
    return {compiled.steps[number].action.name for number in numbers}


def switches_of(constants: Constants) -> dict[str, int]:
    return {name: int(getattr(constants, name)) for name in TRANSACTIONAL_MESSAGES.switches}


@pytest.mark.parametrize("instance", ["small", "lasting"])
@pytest.mark.parametrize(("profile", "faults"), WORLDS, ids=lambda part: part if isinstance(part, str) else len(part))
def test_no_run_takes_a_step_that_is_not_possible(profile: str, faults: tuple[str, ...], instance: str) -> None:
    constants = World.of(profile, faults, instance).constants
    compiled = compile_machine(TRANSACTIONAL_MESSAGES, constants)
    possible = {
        str(compiled.steps[number]) for number in possible_steps(compiled.guard_parts.occasions, switches_of(constants))
    }
    state, taken = TRANSACTIONAL_MESSAGES.initial(constants), set[str]()
    for values in walked_states(TRANSACTIONAL_MESSAGES, constants, walks=12, steps=60, seed=20_261_125):
        taken |= {str(step) for step, _ in successors(state.load(values), constants, compiled.steps)}
    assert len(taken) > len(possible) // 8, "the walks come about"
    assert taken <= possible


def test_what_only_a_fault_brings_about_is_not_tried_without_it() -> None:
    compiled = compile_machine(TRANSACTIONAL_MESSAGES, World.of("5.3.3", (), "small").constants)

    def possible(*faults: str) -> set[str]:
        switches = switches_of(World.of("5.3.3", faults, "small").constants)
        return names_of(compiled, possible_steps(compiled.guard_parts.occasions, switches))

    brought = {"become_master", "let_half_escape", "deliver_escaped"}
    assert not brought & possible("crash", "slow_round")
    assert "become_master" in possible("role_change")
    assert brought <= possible("acting_slave")


def test_a_step_is_tried_from_a_state_that_no_run_comes_to_where_that_is_asked_for() -> None:
    constants = World.of("5.3.3", (), "small").constants
    compiled = compile_machine(TRANSACTIONAL_MESSAGES, constants)
    occasions, switches = compiled.guard_parts.occasions, switches_of(constants)
    assert possible_steps(occasions, switches) < allowed_steps(occasions, switches)
    tried, tried_anywhere = (compiled.switches(constants, reachable=reachable) for reachable in (True, False))
    assert sum(tried[:-5]) < sum(tried_anywhere[:-5])


def the_clock_goes_on(s: State, c: Sizes) -> None:
    s.now += 1


def sees_what_is_old(s: State, c: Sizes) -> None:
    require(s.now - s.cell[0].at < 3, "it is not old")
    s.a = 1


def wants_a_box(s: State, c: Sizes) -> None:
    require(s.box.first == 1, "nothing writes that")
    s.a = 2


def test_time_changes_what_no_step_writes() -> None:
    machine = machine_of(the_clock_goes_on, sees_what_is_old, wants_a_box)
    compiled = compile_machine(machine, Sizes())
    assert possible_steps(compiled.guard_parts.occasions, {"switch": 0}) == {0, 1}
