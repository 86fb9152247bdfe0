"""`halfcheck liveness`: its exit codes, its words, its JSON, its files, and what it refuses."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

import pytest

from halfcheck.app import run
from halfcheck.errors import ExitCode

if TYPE_CHECKING:
    from pathlib import Path

ITF, SVG, MERMAID, ANSWER = "a.itf.json", "a.svg", "a.mmd", "answer.json"


@pytest.fixture(autouse=True, params=["endless"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


@pytest.fixture(scope="module")
def lasso(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which a lasso is written, and what is printed of it as JSON."""
    folder, printed = tmp_path_factory.mktemp("lasso"), io.StringIO()
    asked = ["check", "--profile", "4.5.1", "--property", "P1", "--json"]
    for option, file in (("--itf", ITF), ("--svg", SVG), ("--mermaid", MERMAID)):
        asked += [option, str(folder / file)]
    with redirect_stdout(printed):
        assert run(asked) == ExitCode.LIVENESS_VIOLATED
    (folder / ANSWER).write_text(printed.getvalue())
    return folder


def test_a_violation_is_a_way_into_a_cycle_and_the_cycle(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["liveness", "--profile", "4.5.1"]) == ExitCode.LIVENESS_VIOLATED
    out = capsys.readouterr().out
    assert out.startswith(
        "RocketMQ 4.5.1 in the quiet world, runs of any length, instance endless (1 transaction at a time, 15 checks): "
        "3 of 10 responses are violated\nP1.settled (A31), 83 steps, then 3 again and again. Claimed: "
    )
    assert out.count("from here on, again and again:") == 3
    assert "P6.batch holds: " in out
    assert "all reachable states: 25,141 distinct" in out


def test_what_holds_has_exit_code_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--property", "P5", "--profile", "fixed"]) == ExitCode.OK
    assert "none of 2 responses are violated" in capsys.readouterr().out


def test_a_lasso_is_written_and_replayed(lasso: Path, capsys: pytest.CaptureFixture[str]) -> None:
    itf, svg, mermaid, of_json = (lasso / name for name in (ITF, SVG, MERMAID, ANSWER))
    capsys.readouterr()
    answer = json.loads(of_json.read_text())
    (row,) = answer["responses"].values()
    assert (row["verdict"], len(row["stem"]), len(row["cycle"]), row["under"][0]) == ("violated", 83, 3, "clock")
    assert answer["instance"]["check_max"] == 15
    trace = json.loads(itf.read_text())
    assert (trace["loop"], len(trace["states"])) == (83, 87)
    assert "from here on, again and again" in svg.read_text()
    assert "from here on, again and again" in mermaid.read_text()
    for file in (itf, of_json):
        assert run(["replay", str(file), "--json"]) == ExitCode.SAFETY_VIOLATED
        assert len(json.loads(capsys.readouterr().out)["trace"]) == 86


@pytest.mark.parametrize(
    ("loop", "line"),
    [
        (80, "the steps behind step 80 are no cycle: transaction[0].first_half: 0 → -; give a lasso that closes"),
        (88, "loop is 88: give the number of a state of the trace, from which on it goes round"),
        ("x", "loop is 'x': give the number of a state of the trace, from which on it goes round"),
    ],
)
def test_a_lasso_that_does_not_close_is_one_line(
    loop: object, line: str, lasso: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.itf.json"
    file.write_text(json.dumps(json.loads((lasso / ITF).read_text()) | {"loop": loop}))
    capsys.readouterr()
    assert run(["replay", str(file)]) == ExitCode.BAD_CONTENT
    assert capsys.readouterr().err == f"halfcheck: {file}: {line}\n"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--instance", "tiny"], "instance tiny has no endless runs: give endless, or one with"),
        (["--fairness", "clocks"], "no fairness 'clocks'; did you mean clock?"),
        (["--property", "P1", "--property", "S1"], "no property 'S1'; there are P1, "),
        (["--property", "S1", "--fairness", "clock"], "no property 'S1'; there are P1, "),
        (["--engine", "z3"], "No such option: --engine; see halfcheck liveness --help"),
        (["--property", "P44"], "no property 'P44'; did you mean P4? There are P1, "),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["liveness", *arguments]) == ExitCode.BAD_OPTION
    assert capsys.readouterr().err.startswith(f"halfcheck: {line}")
