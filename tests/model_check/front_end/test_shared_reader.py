"""The functions of a machine are read once for all its instances, and again when one of them has changed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from benchmarks.machines.two_phase_commit import TWO_PHASE_COMMIT, Constants
from model_check.errors import NotInTheLanguage
from model_check.front_end.lower import Lowering
from model_check.front_end.open_functions import MOST_READERS, shared_reader
from model_check.world import World
from spec import op_pull
from spec.language import MachineState, require
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.quality.test_mutants_of_the_engines import rewritten

TINY, ODD = (World.of("5.3.3", (), name).constants for name in ("tiny", "odd"))


def test_instances_of_a_machine_share_a_reader_and_machines_do_not() -> None:
    assert shared_reader(TRANSACTIONAL_MESSAGES, TINY) is shared_reader(TRANSACTIONAL_MESSAGES, ODD)
    assert shared_reader(TWO_PHASE_COMMIT, Constants(resource_managers=3)) is not shared_reader(
        TRANSACTIONAL_MESSAGES, ODD
    )


def test_a_function_that_was_replaced_is_read_again() -> None:
    before = shared_reader(TRANSACTIONAL_MESSAGES, TINY)
    with rewritten(op_pull, op_pull.op_offset_after_round, "return ", "return  "):
        assert shared_reader(TRANSACTIONAL_MESSAGES, TINY) is not before
    assert shared_reader(TRANSACTIONAL_MESSAGES, TINY) is before


def test_constants_of_other_kinds_are_read_with_others() -> None:
    @dataclass(frozen=True)
    class Open:
        resource_managers: object

    assert shared_reader(TWO_PHASE_COMMIT, Open(3)) is shared_reader(TWO_PHASE_COMMIT, Open(4))
    assert shared_reader(TWO_PHASE_COMMIT, Open(3)) is not shared_reader(TWO_PHASE_COMMIT, Open(None))


def test_only_some_readers_are_kept() -> None:
    first = shared_reader(TWO_PHASE_COMMIT, Constants(resource_managers=3))
    for number in range(MOST_READERS):
        state = type(f"Other{number}", (MachineState,), {})
        shared_reader(replace(TWO_PHASE_COMMIT, state=state), Constants(resource_managers=3))
    assert shared_reader(TWO_PHASE_COMMIT, Constants(resource_managers=3)) is not first


def refused(s: MachineState) -> None:
    require(len("no") == 2, "a call that the language has not")


def test_what_was_refused_is_refused_for_the_same_reason_again() -> None:
    action = replace(TWO_PHASE_COMMIT.actions[0], function=refused, parameters={})
    machine = replace(TWO_PHASE_COMMIT, actions=(action,))
    said = []
    for _ in range(2):
        with pytest.raises(NotInTheLanguage) as error:
            Lowering(machine, Constants(resource_managers=3)).action(machine.steps(Constants(resource_managers=3))[0])
        said.append(str(error.value))
    assert said[0] == said[1]
    assert "calls itself" not in said[0]
