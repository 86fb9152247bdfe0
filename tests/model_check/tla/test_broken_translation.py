"""A translation that is wrong on purpose does not get past the comparison with another reading."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.machines.two_phase_commit import TWO_PHASE_COMMIT
from benchmarks.machines.two_phase_commit import Constants as Sizes
from model_check.cpython import explore
from model_check.tla.definitions import Definer
from model_check.tla.effects import TlaEffect
from model_check.tla.module import TlaModule, export
from model_check.tla.pending import PendingPlaces
from model_check.tla.uses import Uses
from tests.model_check.tla.awkward_machine import AWKWARD, Constants
from tests.model_check.tla.comparison import disagreements, run_export

if TYPE_CHECKING:
    from pathlib import Path

    from spec.language import Machine


def judged(exported: TlaModule, machine: Machine, constants: object, folder: Path) -> list[str]:
    found = explore(machine, constants)
    return disagreements(run_export(exported, folder), found.distinct, found.generated, found.depth)


def test_a_dropped_assignment_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = TlaEffect.write

    def write(self: TlaEffect, path: tuple[str, ...], *others: object) -> None:
        if path != ("messages", "abort"):
            whole(self, path, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(TlaEffect, "write", write)
    constants = Sizes(resource_managers=3)
    told = judged(export(TWO_PHASE_COMMIT, constants), TWO_PHASE_COMMIT, constants, tmp_path)
    assert any(line.startswith("distinct") for line in told)


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("number : 0..MOST,", "number : 0..MOST - 1,", ["TypeOK is violated"]),
        pytest.param("Cells == 0..CELLS - 1", "Cells == 0..CELLS", None, marks=pytest.mark.sweep),
        ("|-> NONE]", "|-> 0]", None),
    ],
)
def test_a_wrong_range_is_seen(tmp_path: Path, right: str, wrong: str, told: list[str] | None) -> None:
    constants = Constants()
    exported = export(AWKWARD, constants, ())
    assert right in exported.module
    broken = TlaModule(exported.name, exported.module.replace(right, wrong), exported.config)
    found = judged(broken, AWKWARD, constants, tmp_path)
    assert found == told if told is not None else found != []


def test_indices_that_may_be_one_and_are_taken_for_two_are_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PendingPlaces, "_are_apart", lambda *_: True)
    constants = Constants()
    assert judged(export(AWKWARD, constants, ()), AWKWARD, constants, tmp_path) != []


def test_a_call_that_stands_apart_where_it_may_not_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TlaEffect, "is_untouched", lambda *_: True)
    constants = Constants()
    assert judged(export(AWKWARD, constants, ()), AWKWARD, constants, tmp_path) != []


def test_a_disjunction_that_tlc_takes_for_two_ways_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Uses, "branches", lambda *_: False)
    constants = Constants()
    told = judged(export(AWKWARD, constants, ()), AWKWARD, constants, tmp_path)
    assert [line.split(":")[0] for line in told] == ["generated"]


def test_a_forgotten_variable_is_an_error_of_tlc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Definer, "_unchanged", lambda *_: [])
    constants = Sizes(resource_managers=3)
    told = judged(export(TWO_PHASE_COMMIT, constants), TWO_PHASE_COMMIT, constants, tmp_path)
    assert told == ["TLC ends with an error"]
