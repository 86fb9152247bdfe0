"""``halfcheck switches``: the list, one switch, JSON, and one line for a name that is none."""

from __future__ import annotations

import json
import re

import pytest

from halfcheck.app import run
from halfcheck.errors import ExitCode
from spec.constants import FAULTS, SWITCHES


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


@pytest.mark.parametrize("columns", [60, 80, 160])
def test_the_list_has_every_switch_whole_in_any_width(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert run(["switches"]) == ExitCode.OK
    out = capsys.readouterr().out
    assert all(name in out for name in SWITCHES)
    assert all(len(line) <= columns for line in out.splitlines())
    assert f"{len(SWITCHES)} switches" in out


def test_a_switch_is_told_with_what_it_models_and_what_it_mends(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    assert run(["switches", "heeds_settled_originals", "--profile", "4.9.7"]) == ExitCode.OK
    out = capsys.readouterr().out
    assert out.startswith("heeds_settled_originals, a repair switch: An op message that names a half counts for")
    assert "B01: a commit inside the immunity is delivered twice" in out
    assert "S1.immune_half in 4.9.7, quiet, tiny: 16 steps; in 4.9.7+heeds_settled_originals: holds" in out
    assert "TransactionalMessageServiceImpl#checkPrepareQueueOffset" in out
    assert "mends" in out
    assert "4.9.7: quiet (16 steps)" in out


def test_a_switch_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["switches", "keeps_discarded", "--profile", "4.9.7", "--json"]) == ExitCode.OK
    told = json.loads(capsys.readouterr().out)["keeps_discarded"]
    assert (told["kind"], told["profiles"], told["instance"]) == (
        "version",
        ["4.9.7", "5.3.3", "5.4.0", "5.5.0", "5.5.1", "fixed"],
        "tiny",
    )
    effect = {"clause": "L1.discarded_without_a_record", "change": "mends", "profile": "4.9.7", "environment": "quiet"}
    assert {**effect, "without": 11, "with": None} in told["effects"]
    assert run(["switches", "--json"]) == ExitCode.OK
    assert set(json.loads(capsys.readouterr().out)) == set(SWITCHES)


def test_a_name_that_is_none_is_answered_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["switches", "heed_settled_original"]) == ExitCode.BAD_OPTION
    assert capsys.readouterr().err == (
        "halfcheck: no switch 'heed_settled_original'; did you mean heeds_settled_originals?\n"
    )
    assert run(["switches", "settles_once", "--profile", "5.3"]) == ExitCode.BAD_OPTION
    assert "no profile '5.3'; did you mean 5.3.3?" in capsys.readouterr().err


def test_the_faults_are_listed_with_what_each_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["switches", "--faults"]) == ExitCode.OK
    out = capsys.readouterr().out
    assert re.search(r"^crash +the broker's process may die *$", out, re.MULTILINE)
    assert f"{len(FAULTS)} faults; --faults crash,lose_end takes some" in out
    assert run(["switches", "--faults", "--json"]) == ExitCode.OK
    assert list(json.loads(capsys.readouterr().out)) == list(FAULTS)
    assert run(["check", "--faults", "all"]) == ExitCode.BAD_OPTION
    assert "halfcheck switches --faults says what each one is" in capsys.readouterr().err
