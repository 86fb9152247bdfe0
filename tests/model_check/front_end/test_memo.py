"""A text is written once for a machine in an instance, and again when something that it was made of has changed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Event
from time import sleep
from typing import TYPE_CHECKING

from benchmarks.machines.two_phase_commit import TWO_PHASE_COMMIT, Constants
from model_check.front_end.memo import MOST_INSTANCES, memoized_by_instance
from model_check.instances import load_instance
from model_check.world import World
from spec import op_pull
from spec.chapters import check_round
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.quality.test_mutants_of_the_engines import rewritten

if TYPE_CHECKING:
    import pytest

    from spec.language import Machine


@dataclass
class Writer:
    times: int = 0

    def __call__(self, _machine: Machine, _constants: object) -> int:
        self.times += 1
        return self.times


def test_switches_do_not_matter_and_sizes_do() -> None:
    once = memoized_by_instance(Writer())
    quiet, crash = (World.of("5.3.3", faults, "tiny").constants for faults in ((), ("crash",)))
    assert once(TRANSACTIONAL_MESSAGES, quiet) == 1
    assert once(TRANSACTIONAL_MESSAGES, crash) == 1
    assert once(TRANSACTIONAL_MESSAGES, World.of("4.5.1", (), "tiny").constants) == 1
    assert (
        once(TRANSACTIONAL_MESSAGES, World.of("5.3.3", (), replace(load_instance("tiny"), op_slots=3)).constants) == 2
    )
    assert once(TRANSACTIONAL_MESSAGES, quiet) == 1


def test_machines_are_told_apart() -> None:
    once = memoized_by_instance(Writer())
    other = replace(TRANSACTIONAL_MESSAGES, actions=TRANSACTIONAL_MESSAGES.actions[1:])
    constants = World.of("5.3.3", (), "tiny").constants
    assert [once(machine, constants) for machine in (TRANSACTIONAL_MESSAGES, other, TRANSACTIONAL_MESSAGES)] == [
        1,
        2,
        1,
    ]


def test_a_function_that_was_replaced_anywhere_below_an_action_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    once = memoized_by_instance(Writer())
    constants = World.of("5.3.3", (), "tiny").constants
    assert once(TRANSACTIONAL_MESSAGES, constants) == 1
    with rewritten(op_pull, op_pull.op_offset_after_round, "return ", "return  "):
        assert once(TRANSACTIONAL_MESSAGES, constants) == 2
    assert once(TRANSACTIONAL_MESSAGES, constants) == 1
    monkeypatch.setattr(check_round, "NONE", -2)
    assert once(TRANSACTIONAL_MESSAGES, constants) == 3


def test_only_some_are_kept() -> None:
    once = memoized_by_instance(Writer())
    sizes = range(2, MOST_INSTANCES + 3)
    assert [once(TWO_PHASE_COMMIT, Constants(resource_managers=n)) for n in sizes] == list(range(1, MOST_INSTANCES + 2))
    assert once(TWO_PHASE_COMMIT, Constants(resource_managers=MOST_INSTANCES + 2)) == MOST_INSTANCES + 1
    assert once(TWO_PHASE_COMMIT, Constants(resource_managers=2)) == MOST_INSTANCES + 2


def test_constants_that_cannot_be_compared_are_written_for_each_time() -> None:
    once = memoized_by_instance(Writer())
    assert [once(TWO_PHASE_COMMIT, object()) for _ in range(2)] == [1, 2]


def test_those_that_were_wanted_last_are_kept() -> None:
    once = memoized_by_instance(Writer())
    for n in range(2, MOST_INSTANCES + 2):
        once(TWO_PHASE_COMMIT, Constants(resource_managers=n))
    assert once(TWO_PHASE_COMMIT, Constants(resource_managers=2)) == 1
    assert once(TWO_PHASE_COMMIT, Constants(resource_managers=MOST_INSTANCES + 2)) == MOST_INSTANCES + 1
    assert once(TWO_PHASE_COMMIT, Constants(resource_managers=2)) == 1
    assert once(TWO_PHASE_COMMIT, Constants(resource_managers=3)) == MOST_INSTANCES + 2


def test_constants_of_another_class_are_told_apart() -> None:
    @dataclass(frozen=True)
    class SameFields:
        resource_managers: int

    once = memoized_by_instance(Writer())
    assert [once(TWO_PHASE_COMMIT, make(resource_managers=3)) for make in (Constants, SameFields, Constants)] == [
        1,
        2,
        1,
    ]


def test_threads_that_want_the_same_text_have_it_written_once() -> None:
    begun = Event()
    writer = Writer()

    def write(machine: Machine, constants: object) -> int:
        times = writer(machine, constants)
        begun.set()
        sleep(0.05)
        return times

    once = memoized_by_instance(write)
    with ThreadPoolExecutor(3) as threads:
        first = threads.submit(once, TWO_PHASE_COMMIT, Constants(resource_managers=3))
        assert begun.wait(60)
        others = [threads.submit(once, TWO_PHASE_COMMIT, Constants(resource_managers=3)) for _ in range(2)]
        assert [one.result() for one in (first, *others)] == [1, 1, 1]


def test_what_a_text_was_made_of_keeps_its_address() -> None:
    once = memoized_by_instance(Writer())
    machine = replace(TWO_PHASE_COMMIT, name="shortly")
    address = id(machine)
    assert once(machine, Constants(resource_managers=3)) == 1
    del machine
    later = [replace(TWO_PHASE_COMMIT, name=f"later{n}") for n in range(1000)]
    assert address not in map(id, later)
    assert once(later[0], Constants(resource_managers=3)) == 2
