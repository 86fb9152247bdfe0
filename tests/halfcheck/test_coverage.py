"""`halfcheck coverage` and `halfcheck coverage`: tables, JSON, exit codes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import jsonschema
import pytest

from halfcheck.app import run
from halfcheck.errors import ExitCode
from model_check.finding import SCHEMA
from tests.model_check.checked import untraced

if TYPE_CHECKING:
    from pathlib import Path

ONE_WORLD = ("check", "--instance", "tiny", "--property", "S10", "--coverage")

pytestmark = pytest.mark.usefixtures("compiled_instance")


@pytest.fixture(params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def test_the_table_warns_of_what_is_never_put_to_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(ONE_WORLD) == ExitCode.OK
    lines = capsys.readouterr().out.splitlines()
    crash = next(line.split() for line in lines if line.startswith("crash "))
    assert crash == ["crash", "0", "3", "never", "enabled"]
    begun = next(line.split() for line in lines if line.startswith("begin_round "))
    assert begun[2:5] == ["4", "never", "the"]
    assert int(begun[1].replace(",", "")) > 0
    assert any("never the first false: assume: a local transaction is over before its first check" in x for x in lines)


def test_the_json_has_the_counts_of_both_readings_and_the_shape_of_the_schema(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = []
    for reading in ("numba", "cpython"):
        with untraced():
            assert run([*ONE_WORLD, "--engine", reading, "--profile", "4.9.7", "--json"]) == ExitCode.OK
        told.append(json.loads(capsys.readouterr().out))
    for content in told:
        jsonschema.validate(content, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert told[0]["coverage"] == told[1]["coverage"]
    assert told[0]["coverage"]["states"] == told[0]["distinct"]
    assert {"action": "crash", "rule": None} in told[0]["coverage"]["uncovered"]


def test_the_key_is_only_there_when_it_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    run([*ONE_WORLD[:-1], "--json"])
    assert "coverage" not in json.loads(capsys.readouterr().out)


def test_z3_stores_no_states_to_count(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*ONE_WORLD, "--engine", "z3"]) == ExitCode.BAD_OPTION
    assert capsys.readouterr().err.splitlines() == [
        "halfcheck: coverage is counted over states, and the engine z3 stores none; ask numba or cpython"
    ]


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
