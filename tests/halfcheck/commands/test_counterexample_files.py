"""`halfcheck check --write FILE`, and `halfcheck replay` of an ITF trace."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from halfcheck.app import run
from halfcheck.errors import ExitCode
from tests.halfcheck.itf_files import BAD_TRACES
from tests.model_check.counterexample import b02

pytestmark = pytest.mark.usefixtures("compiled_instance")


@pytest.fixture(params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


LOST = ("check", "--instance", "tiny", "--faults", "crash", "--property", "S10")


def test_the_exit_codes_are_the_documented_numbers() -> None:
    assert [int(code) for code in (ExitCode.BAD_CONTENT, ExitCode.BAD_OPTION, ExitCode.SAFETY_VIOLATED)] == [
        150,
        151,
        12,
    ]


def test_all_forms_of_one_counterexample_are_written_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    forms = ["--write", "itf=a.json", "--write", "a.svg", "--write", "a.mmd", "--write", "test_a.py"]
    assert run([*LOST, *forms]) == ExitCode.SAFETY_VIOLATED
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.json", "a.mmd", "a.svg", "test_a.py"]
    assert "B02" not in Path("a.mmd").read_text(encoding="utf-8")
    assert "4. the broker's process dies and starts again" in Path("a.mmd").read_text(encoding="utf-8")


def test_the_shortest_of_several_counterexamples_is_written(tmp_path: Path) -> None:
    run(["check", "--instance", "tiny", "--faults", "crash", "--write", f"itf={tmp_path / 'a.json'}"])
    content = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert content["#meta"]["description"].startswith(
        "S10.op_entry_dies_with_the_process is violated in 5.5.1, crash: "
    )
    assert len(content["states"]) == 5


@pytest.mark.untraced
@pytest.mark.parametrize("engine", ["numba", "z3:5"])
def test_a_replay_of_the_itf_trace_of_any_engine_takes_the_same_steps(
    engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.itf.json"
    run([*LOST, "--engine", engine, "--write", str(file), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert run(["replay", str(file), "--json"]) == ExitCode.SAFETY_VIOLATED
    replayed = json.loads(capsys.readouterr().out)
    assert replayed["violated"] == ["S10.op_entry_dies_with_the_process"]
    assert replayed["trace"] == told["properties"]["S10"]["trace"]
    assert [event["action"] for event in replayed["trace"]] == [step.split()[0] for step in b02.STEPS]


@pytest.mark.sweep
@pytest.mark.untraced
def test_z3_gives_the_path_of_the_compiled_search_and_leaves_the_rest_unknown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    answers = {}
    for engine in ("numba", "z3:4"):
        assert run([*LOST, "--engine", engine, "--json"]) == ExitCode.SAFETY_VIOLATED
        answers[engine] = json.loads(capsys.readouterr().out)
    by_z3, compiled = (answers[engine]["properties"]["S10"] for engine in ("z3:4", "numba"))
    assert by_z3["trace"] == compiled["trace"]
    other_z3, other_compiled = (told["clauses"].pop("op_entry_not_stored") for told in (by_z3, compiled))
    assert by_z3 == compiled
    assert (other_z3["verdict"], other_compiled["verdict"]) == ("unknown", "holds")
    assert other_z3["reason"] == "none is found in at most 4 steps"
    assert (answers["z3:4"]["depth"], answers["z3:4"]["distinct"], answers["z3:4"]["complete"]) == (4, 0, False)
    assert run([*LOST, "--engine", "z3:3"]) == ExitCode.OTHER
    assert "unknown" in capsys.readouterr().out


def test_threads_change_nothing_in_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    answers = []
    for threads in ("1", "2"):
        run(["check", "--profile", "5.3.3", "--instance", "tiny", "--faults", "crash", "--threads", threads, "--json"])
        told = json.loads(capsys.readouterr().out)
        answers.append({k: v for k, v in told.items() if "second" not in k and k != "peak_bytes"})
    assert answers[0] == answers[1]
    assert answers[0]["distinct"] == 98_391


def test_without_a_violation_nothing_is_written_and_one_line_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*LOST, "--profile", "4.9.7", "--write", str(tmp_path / "a.svg")]) == ExitCode.OK
    assert capsys.readouterr().err == "halfcheck: no property is violated, so no counterexample is written\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", ["itf", "svg", "mermaid", "pytest"])
@pytest.mark.parametrize("target", ["no/such/file", "."])
def test_a_target_that_cannot_be_written_gets_one_line_and_exit_150(
    form: str, target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*LOST, "--write", f"{form}={tmp_path / target}"]) == ExitCode.BAD_CONTENT
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert str(tmp_path / target) in said.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--threads", "0"], "--threads"),
        (["--threads", "-1"], "--threads"),
        (["--threads", "65"], "--threads"),
        (["--threads", "two"], "two"),
        (["--engine", "z3:-1"], "z3:-1"),
        (["--engine", "z3:deep"], "deep"),
        (["--engine", "z3", "--property", "S77"], "no property 'S77'"),
        (["--engine", "tlc"], "there are numba, cpython, z3"),
        (["--write"], "--write"),
    ],
)
def test_a_bad_option_gets_one_line_and_exit_151(
    words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", "--instance", "tiny", *words]) == ExitCode.BAD_OPTION
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert expected in said.err


# --- ITF files that are not what they should be -----------------------------------------------------------------------


@pytest.mark.parametrize("content", BAD_TRACES.values(), ids=BAD_TRACES)
def test_a_bad_itf_file_gets_one_line(content: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "trace.itf.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    assert run(["replay", str(file)]) in (ExitCode.BAD_CONTENT, ExitCode.BAD_OPTION)
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert "Traceback" not in said.err


@pytest.mark.parametrize(("key", "value"), [("profile", []), ("environment", 5), ("environment", "crash")])
def test_a_bad_answer_of_check_gets_one_line_too(
    key: str, value: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run([*LOST, "--json"])
    told = json.loads(capsys.readouterr().out)
    told[key] = value
    (tmp_path / "a.json").write_text(json.dumps(told), encoding="utf-8")
    assert run(["replay", str(tmp_path / "a.json")]) == ExitCode.BAD_CONTENT
    assert len(capsys.readouterr().err.splitlines()) == 1
