"""The compiled search and the CPython search say the same of the half/op/check machine, whole instances through.

The numbers in `agreed.toml` were obtained twice, by two readings that share nothing but the specification:
`check(…, reading="numba")` and `check(…, reading="cpython")`.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from model_check.check import CheckResult, check
from model_check.instances import instance_names
from model_check.verdicts.environment import faults_of
from spec.constants import FAULTS
from spec.profiles import PROFILES
from tests.model_check.checked import checked, violations

HERE = Path(__file__).parent
WHOLE = 4_000
"""So many states CPython searches in two seconds; larger worlds are sweeps, and the tests see their beginning."""
FIRST = 1_000
WORLDS: list[dict[str, Any]] = tomllib.loads((HERE / "agreed.toml").read_text())["world"]


def instance_of(world: dict[str, Any]) -> str:
    """One that comes with the specification, or one beside this file."""
    name = str(world["instance"])
    return name if name in instance_names() else str(HERE / "instances" / f"{name}.toml")


def name_of(world: dict[str, Any]) -> str:
    return f"{world['profile']}-{world['environment']}-{world['instance']}"


def found_in(world: dict[str, Any], reading: str) -> CheckResult:
    return checked(world["profile"], world["environment"], instance_of(world), reading)


def numbers(result: CheckResult) -> tuple[object, ...]:
    assert result.complete
    return result.distinct, result.generated, result.depth, violations(result)


@pytest.mark.parametrize("world", WORLDS, ids=name_of)
def test_the_compiled_search_finds_the_pinned_states_and_verdicts(world: dict[str, Any]) -> None:
    expected = (world["distinct"], world["generated"], world["depth"], world["violated"])
    assert numbers(found_in(world, "numba")) == expected


@pytest.mark.parametrize(
    "world",
    [pytest.param(w, id=name_of(w), marks=() if w["distinct"] <= WHOLE else pytest.mark.sweep) for w in WORLDS],
)
def test_both_readings_find_the_same_states_verdicts_and_first_shortest_paths(world: dict[str, Any]) -> None:
    compiled, judge = (found_in(world, reading) for reading in ("numba", "cpython"))
    assert numbers(judge) == numbers(compiled)
    assert [(r.clause, r.verdict, r.path) for r in compiled.clauses] == [
        (r.clause, r.verdict, r.path) for r in judge.clauses
    ]
    assert compiled.unseen == judge.unseen


@pytest.mark.parametrize("world", [w for w in WORLDS if w["distinct"] > WHOLE], ids=name_of)
def test_in_the_first_states_of_a_larger_world_both_readings_violate_the_same_clauses_by_the_same_paths(
    world: dict[str, Any],
) -> None:
    judge = check(
        world["profile"],
        faults_of(world["environment"]),
        instance_of(world),
        reading="cpython",
        most_states=FIRST,
    )
    assert (judge.complete, judge.distinct >= FIRST) == (False, True)

    def paths(result: CheckResult) -> dict[str, object]:
        """Of the clauses that a state violates which both have looked at."""
        return {
            f"{r.clause.identifier}.{r.clause.clause}": r.path
            for r in result.clauses
            if r.path is not None and len(r.path) < judge.depth
        }

    assert paths(judge) == paths(found_in(world, "numba")) != {}


def test_every_profile_and_every_fault_is_in_some_world() -> None:
    assert {world["profile"] for world in WORLDS} == set(PROFILES)
    assert {fault for world in WORLDS for fault in faults_of(world["environment"])} == set(FAULTS)


def test_one_instance_has_between_50_000_and_150_000_states() -> None:
    assert any(50_000 <= world["distinct"] <= 150_000 for world in WORLDS)
