"""TLC on the exported module reaches the states of the other engines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.machines import two_phase_commit
from benchmarks.machines.two_phase_commit import TWO_PHASE_COMMIT
from model_check import cpython
from model_check.explicit.search import explore
from model_check.tla.module import export
from model_check.world import World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.tla import awkward_machine
from tests.model_check.tla.awkward_machine import AWKWARD
from tests.model_check.tla.comparison import disagreements, run_export
from tests.model_check.tla.states_of_tlc import states_of

if TYPE_CHECKING:
    from spec.language import Machine

pytestmark = pytest.mark.untraced


@pytest.mark.parametrize(
    ("resource_managers", "distinct", "generated"),
    [(3, 288, 1_146), pytest.param(5, 8_832, 58_146, marks=pytest.mark.sweep)],
)
def test_two_phase_commit_has_the_numbers_of_the_field(
    tmp_path: Path, resource_managers: int, distinct: int, generated: int
) -> None:
    constants = two_phase_commit.Constants(resource_managers=resource_managers)
    found = explore(TWO_PHASE_COMMIT, constants)
    assert (found.distinct, found.generated) == (distinct, generated)
    told = run_export(export(TWO_PHASE_COMMIT, constants), tmp_path)
    assert disagreements(told, distinct, generated, found.depth) == []


NANO, NANO_PROXIED = (
    str(Path(__file__).parents[1] / "instances" / f"{name}.toml") for name in ("nano", "nano_proxied")
)


@pytest.mark.parametrize(
    ("instance", "profile", "faults"),
    [
        (NANO, "5.3.3", ["crash"]),
        pytest.param("tiny", "4.5.1", ["slow_local"], marks=pytest.mark.sweep),
        pytest.param(NANO, "4.9.7", ["undecodable_half", "undecodable_op"], marks=pytest.mark.sweep),
        pytest.param("odd", "4.9.7", ["undecodable_half", "undecodable_op"], marks=pytest.mark.sweep),
        pytest.param(NANO, "5.3.3", ["clock_skew"], marks=pytest.mark.sweep),
        pytest.param(NANO, "4.9.7", ["retention"], marks=pytest.mark.sweep),
        (NANO_PROXIED, "5.5.1", ["slow_proxy", "shared_topic"]),
        pytest.param(NANO_PROXIED, "5.3.3", ["slow_local", "restart_proxy", "other_proxy"], marks=pytest.mark.sweep),
        pytest.param("odd", "5.3.3", ["clock_skew"], marks=pytest.mark.sweep),
        pytest.param(NANO, "5.4.0", ["acting_slave"], marks=pytest.mark.sweep),
        pytest.param(NANO, "5.3.3", ["power_loss", "put_failure"], marks=pytest.mark.sweep),
        pytest.param(NANO, "fixed", ["offset_regression", "role_change"], marks=pytest.mark.sweep),
    ],
)
def test_the_protocol_has_the_numbers_of_the_compiled_search(
    tmp_path: Path, instance: str, profile: str, faults: list[str]
) -> None:
    constants = World.of(profile, faults, instance).constants
    found = explore(TRANSACTIONAL_MESSAGES, constants)
    told = run_export(export(TRANSACTIONAL_MESSAGES, constants, ()), tmp_path)
    assert disagreements(told, found.distinct, found.generated, found.depth) == []


@pytest.mark.parametrize(
    ("machine", "constants"),
    [
        (AWKWARD, awkward_machine.Constants()),
        pytest.param(AWKWARD, awkward_machine.Constants(turbo=True, starts=(0,), cut=1), marks=pytest.mark.sweep),
        (TRANSACTIONAL_MESSAGES, World.of("5.4.0", [], NANO).constants),
    ],
    ids=["awkward", "awkward in another instance", "protocol"],
)
def test_each_state_is_a_state_of_the_slow_judge(tmp_path: Path, machine: Machine, constants: object) -> None:
    found = cpython.explore(machine, constants)
    dump = tmp_path / "states.dump"
    told = run_export(export(machine, constants, ()), tmp_path, "-dump", str(dump))
    assert disagreements(told, found.distinct, found.generated, found.depth) == []
    assert states_of(dump.read_text(), machine, constants) == set(found.parents)
