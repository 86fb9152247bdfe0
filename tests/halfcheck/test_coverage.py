"""`halfcheck coverage`, and a search that counts it: tables, JSON, exit codes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import jsonschema
import pytest

from halfcheck.app import run
from halfcheck.errors import ExitCode
from model_check.check import check
from model_check.engines import CPYTHON, Z3
from model_check.errors import ModelCheckError
from model_check.finding import SCHEMA
from model_check.question import Question
from tests.model_check.checked import untraced

if TYPE_CHECKING:
    from pathlib import Path

ONE_WORLD = ("coverage", "--profile", "5.5.1", "--instance", "tiny")

pytestmark = pytest.mark.usefixtures("compiled_instance")


@pytest.fixture(params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def test_the_table_warns_of_what_is_never_put_to_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(ONE_WORLD) == ExitCode.SAFETY_VIOLATED
    lines = capsys.readouterr().out.splitlines()
    crash = next(line.split() for line in lines if line.startswith("crash "))
    assert crash == ["crash", "0", "3", "never", "enabled"]
    begun = next(line.split() for line in lines if line.startswith("begin_round "))
    assert begun[2:5] == ["4", "never", "the"]
    assert int(begun[1].replace(",", "")) > 0
    assert any("never the first false: assume: a local transaction is over before its first check" in x for x in lines)


def test_the_json_has_the_counts_of_both_engines_and_the_shape_of_the_schema(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["coverage", "--profile", "4.9.7", "--instance", "tiny", "--json"]) == ExitCode.SAFETY_VIOLATED
    content = json.loads(capsys.readouterr().out)
    assert run(["check", "--profile", "4.9.7", "--instance", "tiny", "--json"]) == ExitCode.SAFETY_VIOLATED
    assert set(content) == {*json.loads(capsys.readouterr().out), "coverage"}
    with untraced():
        slow = check(Question.of("4.9.7", coverage=True), CPYTHON).to_json()
    for each in (content, slow):
        jsonschema.validate(each, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert content["coverage"] == slow["coverage"]
    assert content["coverage"]["states"] == content["distinct"]
    assert {"action": "crash", "rule": None} in content["coverage"]["uncovered"]


def test_the_key_is_only_there_when_it_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    run(["check", "--instance", "tiny", "--property", "S10", "--json"])
    assert "coverage" not in json.loads(capsys.readouterr().out)


def test_z3_stores_no_states_to_count() -> None:
    with pytest.raises(ModelCheckError, match="counted over states, and the engine z3 stores none; ask numba or cpyt"):
        check(Question.of("5.5.1", coverage=True), Z3)


def test_all_worlds_together_are_held_against_what_is_accepted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    page, accepted = tmp_path / "coverage.md", tmp_path / "uncovered.toml"
    accepted.write_text("[[accepted]]\naction = 'tick'\nreason = 'It is never enabled.'\n")
    few = ["coverage", "--instance", "tiny", "--max-states", "500", "--expected", str(accepted), "--page", str(page)]
    with untraced():
        assert run(few) == ExitCode.OTHER
    out = capsys.readouterr().out
    assert "accepted, but covered or no rule any more: tick: never enabled" in out
    assert out.startswith("NOT COVERED: "), "the answer comes before the tables"
    assert "NOT COVERED: send_half: never the first false: transactions are numbered in the order of their sends" in out
    assert page.read_text(encoding="utf-8").startswith("# Coverage\n")


def test_a_page_that_cannot_be_written_is_told_in_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page = tmp_path / "none" / "coverage.md"
    assert run(["coverage", "--page", str(page)]) == ExitCode.BAD_CONTENT
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"halfcheck: {page}: there is no folder {page.parent} to write it to; make it first"
