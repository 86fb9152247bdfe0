"""One transaction among others needs the repairs: `fixed` without one of them breaks what it did not break with it."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Final

import pytest

from model_check.clauses import name_of
from model_check.engines import COMPILED
from model_check.instances import load_instance
from model_check.question import Question
from model_check.world import NO_FAULTS, Environment, Profile, World, single_environments
from spec.switches import RepairSwitches
from tests.sampled import sampled

if TYPE_CHECKING:
    from collections.abc import Iterable

FIXED: Final = Profile.of("fixed")
INSTANCES: Final = ("crowd", "crowd_odd")
MOST_STATES: Final = 700_000

REPAIRS: Final = tuple(field.name for field in fields(RepairSwitches))

LEAST_NOTICED: Final = 22


def broken(world: World) -> dict[str, int]:
    """Each clause that is violated, to the steps of its shortest violation."""
    question = Question(world=world, paths=(), most_states=MOST_STATES)
    return {name_of(clause): steps for clause, steps in COMPILED.search(question, threads=1).depths.items()}


@cache
def broken_with_all_repairs(environment: Environment, instance: str) -> frozenset[str]:
    """What is broken even so."""
    return frozenset(broken(World(FIXED, environment, load_instance(instance))))


def noticed(
    repair: str, environments: Iterable[Environment], instances: Iterable[str] = INSTANCES
) -> tuple[str, dict[str, int]]:
    """The first world in which the lack of a repair breaks more, and what; of no name, where there is none."""
    without = FIXED.turn(f"-{repair}")
    for environment in environments:
        for instance in instances:
            found = broken(World(without, environment, load_instance(instance)))
            known = broken_with_all_repairs(environment, instance)
            if new := {clause: steps for clause, steps in found.items() if clause not in known}:
                return f"{environment.name} on {instance}", new
    return "", {}


@pytest.mark.parametrize(
    ("repair", "environment", "instance", "new"),
    sampled(
        [
            ("keeps_flag", NO_FAULTS, "crowd", {"S6.flag_of_a_copy": 10}),
            ("asks_the_old", NO_FAULTS, "crowd_odd", {"L2.over_age": 8}),
            ("copies_once", Environment.of(["crash"]), "crowd", {"R1.forks": 8}),
        ],
        3,
    ),
)
def test_the_lack_of_a_repair_is_noticed(
    repair: str, environment: Environment, instance: str, new: dict[str, int]
) -> None:
    assert noticed(repair, [environment], [instance]) == (f"{environment.name} on {instance}", new)


@pytest.mark.sweep
def test_the_lack_of_most_repairs_is_noticed() -> None:
    """Another repair may cover for one that is taken out, and some are for two faults at once."""
    assert all(getattr(FIXED.switches, repair) for repair in REPAIRS)
    where = {repair: noticed(repair, single_environments()) for repair in REPAIRS}
    for repair, (world, new) in where.items():
        print(f"{repair}: {world or 'not noticed'} {new or ''}")
    assert sum(bool(world) for world, _ in where.values()) >= LEAST_NOTICED
