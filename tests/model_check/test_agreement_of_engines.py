"""The compiled search and the CPython search say the same of the half/op/check machine, whole instances through.

The numbers in `agreed.toml` were obtained twice, by two readings that share nothing but the specification:
`check(…, reading="numba")` and `check(…, reading="cpython")`.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from model_check import cpython
from model_check.explicit import search as explicit
from model_check.instances import instance_names
from model_check.world import Environment, World
from spec.constants import FAULTS
from spec.profiles import PROFILES, distinct
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.checked import checked, violations
from tests.sampled import sampled

if TYPE_CHECKING:
    from model_check.finding import Finding

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


def found_in(world: dict[str, Any], engine: str) -> Finding:
    return checked(world["profile"], world["environment"], instance_of(world), engine)


def numbers(result: Finding) -> tuple[object, ...]:
    assert result.numbers.complete
    return result.numbers.distinct, result.numbers.generated, result.numbers.depth, violations(result)


@pytest.mark.parametrize("world", WORLDS, ids=name_of)
def test_the_compiled_search_finds_the_pinned_states_and_verdicts(world: dict[str, Any]) -> None:
    expected = (world["distinct"], world["generated"], world["depth"], world["violated"])
    assert numbers(found_in(world, "numba")) == expected


@pytest.mark.parametrize(
    "world",
    [
        *sampled([pytest.param(w, id=name_of(w)) for w in WORLDS if w["distinct"] <= WHOLE], 2),
        *(pytest.param(w, id=name_of(w), marks=pytest.mark.sweep) for w in WORLDS if w["distinct"] > WHOLE),
    ],
)
def test_both_readings_find_the_same_states_verdicts_and_first_shortest_paths(world: dict[str, Any]) -> None:
    compiled, judge = (found_in(world, engine) for engine in ("numba", "cpython"))
    assert numbers(judge) == numbers(compiled)
    assert [(r.clause, r.verdict, r.path) for r in compiled.rows] == [(r.clause, r.verdict, r.path) for r in judge.rows]
    assert compiled.unseen == judge.unseen


@pytest.mark.parametrize("world", sampled([pytest.param(w, id=name_of(w)) for w in WORLDS if w["distinct"] > WHOLE], 5))
def test_the_beginning_of_a_larger_world_has_the_same_states_a_depth_and_the_same_first_shortest_paths(
    world: dict[str, Any],
) -> None:
    constants = World.of(world["profile"], Environment.named(world["environment"]), instance_of(world)).constants
    judge = cpython.explore(TRANSACTIONAL_MESSAGES, constants, most_states=FIRST)
    depths: dict[object, int] = {}
    for state, before in judge.parents.items():
        depths[state] = 0 if before is None else depths[before[0]] + 1
    sizes = Counter(depth for depth in depths.values() if depth < judge.depth)
    compiled = explicit.explore(TRANSACTIONAL_MESSAGES, constants)
    assert [sizes[depth] for depth in range(judge.depth)] == list(compiled.sizes[: judge.depth])

    paths = {clause: tuple(judge.path_to(state)) for clause, state in judge.violations.items()}
    whole = {clause: path for clause, path in paths.items() if len(path) < judge.depth}
    found = {r.clause: r.path for r in found_in(world, "numba").rows if r.path is not None}
    assert whole == {clause: path for clause, path in found.items() if len(path) < judge.depth} != {}


def test_every_profile_and_every_fault_is_in_some_world() -> None:
    assert {world["profile"] for world in WORLDS} == set(distinct(PROFILES))
    assert {fault for world in WORLDS for fault in Environment.named(world["environment"])} == set(FAULTS)


def test_one_instance_has_between_50_000_and_150_000_states() -> None:
    assert any(50_000 <= world["distinct"] <= 150_000 for world in WORLDS)
