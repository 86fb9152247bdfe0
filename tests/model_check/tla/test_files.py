"""The files of an export, and the command that writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.machines import two_phase_commit
from benchmarks.machines.two_phase_commit import TWO_PHASE_COMMIT
from halfcheck.app import run
from model_check.errors import ModelCheckError
from model_check.tla.module import TlaModule, export, write_export
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def exported() -> TlaModule:
    return export(TWO_PHASE_COMMIT, two_phase_commit.Constants(resource_managers=3), (), "three of them")


def test_an_export_replaces_an_earlier_one_and_leaves_other_files_alone(tmp_path: Path, exported: TlaModule) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    for _ in range(2):
        module, config = write_export(exported, tmp_path)
    assert (module.read_text(), config.read_text()) == (exported.module, exported.config)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["TwoPhaseCommit.cfg", "TwoPhaseCommit.tla", "notes.txt"]


def test_a_file_that_no_export_wrote_is_not_replaced(tmp_path: Path, exported: TlaModule) -> None:
    own = tmp_path / "TwoPhaseCommit.cfg"
    own.write_text("INIT Init\nNEXT Next\n")
    with pytest.raises(ModelCheckError, match=r"TwoPhaseCommit\.cfg was not written by an export"):
        write_export(exported, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [own.name]


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path, exported: TlaModule) -> None:
    own = tmp_path / "file"
    own.write_text("")
    with pytest.raises(ModelCheckError, match="is not a folder"):
        write_export(exported, own)


def test_the_command_writes_what_was_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "new" / "folder"
    words = ["--profile", "4.9.7", "--instance", "tiny", "--faults", "crash, lose_end", "--property", "S10"]
    assert run(["export", "--tla", str(folder), *words]) == 0
    config = folder / "TransactionalMessages.cfg"
    assert capsys.readouterr().out.splitlines() == [str(config.with_suffix(".tla")), str(config)]
    text = config.read_text()
    assert "RocketMQ 4.9.7 with lose_end, crash, instance tiny." in text
    assert "    CRASH = TRUE\n" in text
    assert "    LATE_END = FALSE\n" in text
    assert "INVARIANTS\n    TypeOK\n    S10_op_entry_dies_with_the_process\n    S10_op_entry_not_stored\n\\*" in text


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["--property", "p1", "--property", "P5.at_one_moment"], ["P1_settled", "P5_at_one_moment"]),
        pytest.param(
            ["--instance", "endless"],
            [f"{one.identifier}_{one.clause}" for one in TRANSACTIONAL_MESSAGES.responses],
            marks=pytest.mark.sweep,
        ),
    ],
)
def test_responses_are_asked_for_by_their_names_or_where_runs_are_endless(
    tmp_path: Path, words: list[str], asked: list[str]
) -> None:
    assert run(["export", "--tla", str(tmp_path), *words]) == 0
    text = (tmp_path / "TransactionalMessages.cfg").read_text()
    assert "RocketMQ 5.5.1 in the quiet world, instance endless." in text
    assert text.split("PROPERTIES\n")[1].split("\\*")[0].split() == asked


@pytest.mark.parametrize(
    "words",
    [
        ["--profile", "5.3.4"],
        ["--instance", "huge"],
        ["--faults", "rain"],
        ["--property", "S99"],
        ["--unknown"],
        ["--property", "P1", "--instance", "tiny"],
        ["--property", "P1", "--instance", "lasting"],
        ["--property", "P1", "--property", "S1"],
        ["--property", "P44", "--instance", "endless"],
    ],
)
def test_what_makes_no_sense_is_one_line(tmp_path: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", "--tla", str(tmp_path / "out"), *words]) == 151
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_made_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", "--tla", "/proc/no/such/folder", "--instance", "tiny"]) == 150
    assert len(capsys.readouterr().err.splitlines()) == 1
