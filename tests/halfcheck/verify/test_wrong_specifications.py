"""Is each specification that is wrong about a real store refused, and does the main job fail if one is not?"""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.golden_stores import GOLDEN
from halfcheck.app import run
from halfcheck.errors import ExitCode
from halfcheck.verify import verification
from halfcheck.verify.wrong_specifications import WRONG_SPECIFICATIONS, WrongSpecification, refused_specification
from model_check.errors import EvaluationError

if TYPE_CHECKING:
    from pathlib import Path

WHERE = {
    ("5.3.3/five", "4.9.7", ""): (6, "record: the body of an op message is one half offset in this version"),
    ("4.9.7/five", "5.3.3", ""): (3, "record: the body of an op message is a list of half offsets in this version"),
    ("4.5.1/forever", "4.9.7", ""): (16, "record: no round gets the offsets further than half 15 and op 0"),
    ("5.3.3/immunity", "5.3.3+heeds_settled_originals", ""): (
        27, "require: no op message that was pulled names its original",
    ),
    ("4.9.7/forever", "4.9.7", "transactionCheckMax=14"): (15, "require: it has checks left"),
    ("4.9.7/forever", "4.9.7", "transactionCheckMax=16"): (16, "require: it has no checks left"),
    ("5.3.3/forever", "5.3.3", "transactionCheckInterval=120000"): (2, "require: it was stored before this round"),
}  # fmt: skip
RIGHT = WrongSpecification("4.9.7", "forever", "4.9.7", "nothing is wrong", "transactionCheckMax=15")


@pytest.mark.parametrize("wrong", WRONG_SPECIFICATIONS, ids=lambda wrong: wrong.claim)
def test_it_is_refused_where_a_record_gives_it_away_and_its_command_says_the_same(
    wrong: WrongSpecification, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = refused_specification(wrong, tmp_path)
    found = told.found
    assert (found.number, found.guard) == WHERE[told.store, told.profile.name, told.setting]
    monkeypatch.chdir(GOLDEN.parents[1])
    words = shlex.split(told.command)
    assert words.pop(0) == "halfcheck"
    assert run(words) == ExitCode.SAFETY_VIOLATED
    assert f"at event {found.number} ({found.event}): {found.guard}; " in capsys.readouterr().out


def test_the_main_job_fails_at_once_if_one_is_not_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "WRONG_SPECIFICATIONS", (*WRONG_SPECIFICATIONS, RIGHT))
    words = ["verify", "--traces", "960", "--json", "--out", str(tmp_path / "report")]
    assert run([*words, "--work", str(tmp_path / "work")]) == ExitCode.EVALUATION_ERROR
    told = capsys.readouterr()
    assert "4.9.7/forever must be refused where nothing is wrong, but is accepted by the" in told.err
    assert told.out == ""
    assert not (tmp_path / "report").exists()


def test_a_setting_that_the_stores_own_file_lacks_changes_nothing_and_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="forever must be refused"):
        refused_specification(replace(RIGHT, setting="transactionOpMsgMaxSize=7"), tmp_path)
