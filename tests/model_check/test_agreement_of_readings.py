"""The compiled search and the CPython search say the same of the half/op/check machine, whole instances through.

The numbers in `agreed.toml` were obtained twice, by two readings that share nothing but the specification:
`check(…, reading="numba")` and `check(…, reading="cpython")`.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from model_check.instances import instance_names
from model_check.verdicts.environment import faults_of
from spec.constants import FAULTS
from spec.profiles import PROFILES
from tests.model_check.checked import checked, violations

HERE = Path(__file__).parent
WORLDS: list[dict[str, Any]] = tomllib.loads((HERE / "agreed.toml").read_text())["world"]


def instance_of(world: dict[str, Any]) -> str:
    """One that comes with the specification, or one beside this file."""
    name = str(world["instance"])
    return name if name in instance_names() else str(HERE / "instances" / f"{name}.toml")


@pytest.mark.parametrize(
    "world", [pytest.param(w, id=f"{w['profile']}-{w['environment']}-{w['instance']}") for w in WORLDS]
)
def test_both_readings_find_the_pinned_states_verdicts_and_first_shortest_paths(world: dict[str, Any]) -> None:
    compiled, judge = (
        checked(world["profile"], world["environment"], instance_of(world), reading) for reading in ("numba", "cpython")
    )
    for result in (compiled, judge):
        found = (result.distinct, result.generated, result.depth, violations(result))
        assert found == (world["distinct"], world["generated"], world["depth"], world["violated"])
        assert result.complete
    assert [(r.clause, r.verdict, r.path) for r in compiled.clauses] == [
        (r.clause, r.verdict, r.path) for r in judge.clauses
    ]
    assert compiled.unseen == judge.unseen


def test_every_profile_and_every_fault_is_in_some_world() -> None:
    assert {world["profile"] for world in WORLDS} == set(PROFILES)
    assert {fault for world in WORLDS for fault in faults_of(world["environment"])} == set(FAULTS)


def test_one_instance_has_between_50_000_and_150_000_states() -> None:
    assert any(50_000 <= world["distinct"] <= 150_000 for world in WORLDS)
