"""`halfcheck faults` and `halfcheck verdicts`: what they print, exit codes, one line for bad input."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Final

import jsonschema
import pytest

from halfcheck.app import run
from halfcheck.errors import ExitCode
from halfcheck.verdicts.files import VerdictFiles
from model_check.cache_folder import cache_folder
from model_check.clauses import name_of
from model_check.verdicts import searches
from model_check.verdicts.implications import suggested
from model_check.verdicts.minimal_faults import SCHEMA
from spec.constants import FAULTS
from tests.model_check.checked import untraced

if TYPE_CHECKING:
    from pathlib import Path

MINIMAL = ("faults", "--instance", "tiny", "--faults", "crash,lose_end", "--profile", "5.3.3")
RESULTS = "model_check/verdicts/results"
IMPLICATION = f"""
[[implication]]
violated = "S1.immune_half"
implied = "S9.immune_half"
unless = {json.dumps(FAULTS)}
why = "for a test, of the quiet world only"
"""


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


@pytest.fixture(autouse=True)
def own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Searches of other runs are not found, and those of the tests are not kept."""
    file = tmp_path / "cached.jsonl"
    monkeypatch.setattr(searches, "cache_file", lambda: file)
    return file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a plan that is searched in a moment."""
    for name in (RESULTS, "docs/generated"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / RESULTS / "verdicts.toml").write_text("[plan]\ntiny = { most_faults = 0, most_states = 20000 }\n")
    (tmp_path / RESULTS / "implications.toml").write_text(IMPLICATION)
    return tmp_path


def test_minimal_sets_are_printed_with_their_schedules(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*MINIMAL, "--property", "S10", "--property", "S2"]) == ExitCode.SAFETY_VIOLATED
    out = capsys.readouterr().out
    assert "crash" in out
    assert "roll_back_locally t=0; buffer_op h=0; crash" in out
    assert "nothing: it holds" in out


def test_what_no_set_of_faults_breaks_exits_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*MINIMAL, "--property", "S5"]) == ExitCode.OK
    assert "4 environments" in capsys.readouterr().out


def test_a_budget_that_is_too_small_exits_with_255(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*MINIMAL, "--property", "S2", "--max-states", "100"]) == ExitCode.OTHER
    assert "CUT SHORT" in capsys.readouterr().out


def test_the_json_has_its_shape_and_its_replay_works(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*MINIMAL, "--property", "S10", "--json"]) == ExitCode.SAFETY_VIOLATED
    told = json.loads(capsys.readouterr().out)
    jsonschema.validate(told, json.loads(SCHEMA.read_text(encoding="utf-8")))
    (found,) = told["profiles"]["5.3.3"]["clauses"]["S10.op_entry_dies_with_the_process"]["minimal"]
    assert (found["faults"], found["depth"], found["certain"]) == (["crash"], 4, True)
    assert run(shlex.split(found["replay"])[1:]) == ExitCode.SAFETY_VIOLATED
    assert "S10.op_entry_dies_with_the_process is violated" in capsys.readouterr().out
    told["environment"] = told.pop("environments")
    with pytest.raises(jsonschema.ValidationError, match="environments"):
        jsonschema.validate(told, json.loads(SCHEMA.read_text(encoding="utf-8")))


def test_a_second_run_searches_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    for searched, more in ((4, ()), (0, ()), (4, ("--fresh",))):
        run([*MINIMAL, "--property", "S2", "--json", *more])
        told = json.loads(capsys.readouterr().out)
        assert (told["searched"], told["kept"]) == (searched, 4 - searched)


@pytest.mark.parametrize(
    ("arguments", "expected", "code"),
    [
        ([*MINIMAL, "--profile", "5.9"], "no profile '5.9'; did you mean 5.5.1? There are 4.5.1", 151),
        ([*MINIMAL, "--faults", "fire"], "no fault 'fire'; there are slow_local", 151),
        ([*MINIMAL, "--property", "S99"], "no property 'S99'; did you mean S9? There are S1", 151),
        ([*MINIMAL, "--instance", "huge"], "no instance 'huge'; there are tiny", 151),
        ([*MINIMAL, "--most", "9"], "9", 151),
        ([*MINIMAL, "--svg", "x.svg"], "No such option: --svg", 151),
        (
            ["check", "--profile", "5.3.3", "--profile", "4.9.7"],
            "--profile 5.3.3 --profile 4.9.7: give one profile",
            151,
        ),
        (["verdicts", "--instance", "huge"], "--instance huge: the plan of verdicts.toml has tiny", 151),
        (["verdicts", "--folder", "nowhere"], "results/verdicts.toml: No such file or directory", 150),
    ],
)
def test_bad_input_gets_one_line_and_its_exit_code(
    arguments: list[str], expected: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert expected in said.err


IDLE: Final = ("late_persist", "restart_proxy", "other_proxy", "slow_proxy", "shared_topic")
"""Faults that do nothing in tiny, so that their entries are those of the quiet world."""


def test_what_update_writes_agrees_with_the_searches_and_an_edit_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ("verdicts", "--folder", str(folder))
    with untraced():
        assert run([*at, "--update"]) == ExitCode.OK
    files = VerdictFiles(folder)
    assert files.page.exists()
    assert files.map.read_text(encoding="utf-8").startswith("<svg")
    assert not list(folder.rglob("*.tmp"))
    with untraced():
        assert run(at) == ExitCode.OK
    capsys.readouterr()

    text = files.verdicts.read_text(encoding="utf-8")
    files.verdicts.write_text(text.replace('"S9.immune_half" = 12', '"S9.immune_half" = 14', 1))  # in 5.3.3
    assert run([*at, "--json"]) == ExitCode.OTHER
    wrong = json.loads(capsys.readouterr().out)["differences"]
    assert wrong[:-1] == [
        f"5.3.3 tiny {name}: S9.immune_half is violated at depth 14 in the table, "
        "and is violated at depth 12 in the search"
        for name in ("quiet", *IDLE)
    ]
    assert wrong[-1:] == [f"{files.page}: is not what the table and the schedules give"]
    with untraced():
        assert run([*at, "--update", "--fresh"]) == ExitCode.OK
    assert files.verdicts.read_text(encoding="utf-8") == text


def test_a_wrong_schedule_a_wrong_page_and_a_wrong_implication_are_said(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ("verdicts", "--folder", str(folder))
    with untraced():
        run([*at, "--update"])
    files = VerdictFiles(folder)
    schedules = files.schedules.read_text(encoding="utf-8")
    files.schedules.write_text(schedules.replace("immunity=3", "immunity=-1", 1))
    (folder / RESULTS / "implications.toml").write_text(
        IMPLICATION.replace("S1.immune_half", "L2.immunity_burns_checks")
    )
    capsys.readouterr()
    assert run(at) == ExitCode.OTHER
    told = capsys.readouterr().out
    assert "not found by the search: " in told
    assert "missing: " in told
    assert "is not what the table and the schedules give" in told
    assert "the implication from L2.immunity_burns_checks to S9.immune_half is wrong: 4.5.1 tiny quiet: " in told


def test_a_stale_table_is_refused_before_anything_is_searched(
    folder: Path, own_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ("verdicts", "--folder", str(folder))
    run([*at, "--update"])
    own_file.unlink()
    files = VerdictFiles(folder)
    text = files.verdicts.read_text(encoding="utf-8")
    files.verdicts.write_text(text.replace('specification = "', 'specification = "00', 1))
    capsys.readouterr()
    assert run(at) == ExitCode.BAD_CONTENT
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert "it was made from the specification 00" in said
    assert "`halfcheck verdicts --update` writes it anew" in said
    assert not own_file.exists()


def test_suggestions_are_of_the_table_and_not_declared(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verdicts", "--suggest"]) == ExitCode.OK
    lines = set(capsys.readouterr().out.splitlines())
    files = VerdictFiles()
    found = {f"{name_of(a)} implies {name_of(b)}" for a, b in suggested(files.table(), files.implications())}
    assert lines == found
    assert lines.isdisjoint(f"{name_of(one.violated)} implies {name_of(one.implied)}" for one in files.implications())
    assert lines


def test_searches_are_cached_beside_the_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert searches.cache_file().parent == cache_folder() / "verdicts"
