"""The engines agree on one transaction among others: states, successors, depth, verdicts."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest

from model_check import cpython
from model_check.clauses import name_of
from model_check.engines import COMPILED, CPYTHON
from model_check.instances import load_instance
from model_check.question import Question
from model_check.tla.module import TlaModule, export
from model_check.world import World
from spec.transactional_messages import AMONG_OTHERS
from tests.model_check.tla.comparison import disagreements, run_export
from tests.model_check.tla.states_of_tlc import states_of

if TYPE_CHECKING:
    from pathlib import Path

    from model_check.engines import Explored
    from spec.constants import Instance

pytestmark = pytest.mark.untraced

CROWD: Final = load_instance("crowd")
FEW: Final = replace(CROWD, name="few", check_max=1, half_slots=3, op_slots=2, immunities=(-1,))
FEWER: Final = replace(FEW, name="fewer", op_slots=1)
"""A release that writes op messages in batches has many states."""
ANY_CRASHES: Final = replace(FEWER, name="any crashes", crashes=-1)
"""As often as it likes."""


def searched(world: World) -> Explored:
    found = COMPILED.search(Question(world=world, paths=()))
    assert found.numbers.complete
    assert found.numbers.distinct > 500
    return found


def without_full_queues(exported: TlaModule, found: Explored) -> TlaModule:
    """TLC shall search on where a queue is full, if one is."""
    if not found.full:
        return exported
    return replace(exported, config=re.sub(r"INVARIANTS\n(    \w+_has_room\n)+", "", exported.config))


@pytest.mark.parametrize(
    ("profile", "faults", "instance"),
    [
        ("4.5.1", [], FEW),
        ("4.9.7", [], FEW),
        ("5.5.1", [], FEWER),
        ("fixed", [], FEW),
        ("fixed", ["crash"], ANY_CRASHES),
        pytest.param("fixed", ["crash"], FEW, marks=pytest.mark.sweep),
        pytest.param("4.5.1", ["undecodable_op"], FEWER, marks=pytest.mark.sweep),
        pytest.param("4.9.7", ["crash"], FEW, marks=pytest.mark.sweep),
        pytest.param("5.5.1", [], FEW, marks=pytest.mark.sweep),
        pytest.param("fixed", ["power_loss"], FEW, marks=pytest.mark.sweep),
        pytest.param("fixed", ["acting_slave"], FEW, marks=pytest.mark.sweep),
    ],
)
def test_the_slow_judge_agrees_with_the_compiled_search(profile: str, faults: list[str], instance: Instance) -> None:
    question = Question(world=World.of(profile, faults, instance))
    compiled, plain = COMPILED.search(question), CPYTHON.search(question)
    assert compiled.numbers.complete
    assert compiled.numbers.distinct > 500
    assert compiled.numbers.size_to_json() == plain.numbers.size_to_json()
    assert (compiled.depths, compiled.paths) == (plain.depths, plain.paths)
    assert (compiled.seen, compiled.full) == (plain.seen, plain.full)


def test_actions_of_others_are_on_the_paths_that_agree() -> None:
    found = CPYTHON.search(Question(world=World.of("4.9.7", [], FEW)))
    of_others = {action.name for action in AMONG_OTHERS.actions if action.function.__module__ == "spec.chapters.others"}
    assert of_others & {step.action.name for path in found.paths.values() for step in path}


@pytest.mark.parametrize(
    ("profile", "faults", "instance"),
    [
        pytest.param("4.5.1", [], FEW, marks=pytest.mark.sweep),
        ("4.9.7", [], FEWER),
        pytest.param("4.9.7", [], FEW, marks=pytest.mark.sweep),
        pytest.param("5.5.1", [], FEWER, marks=pytest.mark.sweep),
        pytest.param("fixed", [], FEW, marks=pytest.mark.sweep),
        pytest.param("fixed", ["crash"], FEW, marks=pytest.mark.sweep),
        pytest.param("fixed", [], CROWD, marks=pytest.mark.sweep),
        pytest.param("4.9.7", [], CROWD, marks=pytest.mark.sweep),
    ],
)
def test_tlc_agrees_with_the_compiled_search(
    tmp_path: Path, profile: str, faults: list[str], instance: Instance
) -> None:
    """Of all that holds TLC says no violation, either."""
    world = World.of(profile, faults, instance)
    found = searched(world)
    holding = [clause for clause in AMONG_OTHERS.clauses if clause not in found.depths]
    told = run_export(without_full_queues(export(world.machine, world.constants, holding), found), tmp_path)
    numbers = found.numbers
    assert disagreements(told, numbers.distinct, numbers.generated, numbers.depth) == []


@pytest.mark.sweep
@pytest.mark.parametrize("profile", ["4.5.1", "4.9.7"])
def test_tlc_breaks_what_the_compiled_search_breaks_in_as_many_steps(tmp_path: Path, profile: str) -> None:
    world = World.of(profile, [], FEW)
    found = searched(world)
    told = {}
    for clause in found.depths:
        exported = without_full_queues(export(world.machine, world.constants, [clause]), found)
        told[clause] = run_export(exported, tmp_path)
    assert {clause: len(one.trace) for clause, one in told.items()} == found.depths
    for clause, one in told.items():
        assert (one.violated or "").removesuffix("_reached") == name_of(clause).replace(".", "_")


@pytest.mark.sweep
def test_each_state_of_tlc_is_one_of_the_slow_judge(tmp_path: Path) -> None:
    world = World.of("fixed", ["crash"], FEW)
    found = cpython.explore(world.machine, world.constants)
    dump = tmp_path / "states.dump"
    exported = without_full_queues(export(world.machine, world.constants, ()), searched(world))
    told = run_export(exported, tmp_path, "-dump", str(dump))
    assert disagreements(told, found.distinct, found.generated, found.depth) == []
    assert states_of(dump.read_text(), world.machine, world.constants) == set(found.parents)
