"""``halfcheck simulate`` and ``halfcheck analyze``: from end to end, and one line for each bad input."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from halfcheck.app import run


def halfcheck(*arguments: str) -> subprocess.CompletedProcess[str]:
    """A process of its own, because Spark can be started but once in one."""
    command = [sys.executable, "-m", "halfcheck", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def test_simulate_then_analyze_with_a_report(tmp_path: Path) -> None:
    out, report = tmp_path / "traces", tmp_path / "report.html"
    simulated = halfcheck(
        "simulate", "--traces", "2000", "--faults", "crash", "--instance", "tiny", "--out", str(out), "--json"
    )
    assert (simulated.returncode, simulated.stderr) == (0, "")
    told = json.loads(simulated.stdout)
    assert (told["traces"], told["environment"], told["reused"]) == (2_000, ["crash"], False)

    analyzed = halfcheck("analyze", str(out), "--report", str(report), "--json")
    assert (analyzed.returncode, analyzed.stderr) == (0, "")
    found = json.loads(analyzed.stdout)
    assert (found["traces"], found["events"]) == (2_000, told["events"])
    assert set(found["violations"]["5.3.3"]["crash"]) == {"S1", "S2"}
    assert {"kernels", "queries", "statistics", "report"} <= set(found["seconds"])
    assert report.read_text(encoding="utf-8").count("<figure>") == 5


@pytest.mark.parametrize(
    ("arguments", "exit_code", "message"),
    [
        (["simulate", "--out", "new", "--traces", "0"], 151, "--traces 0"),
        (["simulate", "--out", "new", "--traces", "-1"], 151, "--traces -1"),
        (["simulate", "--out", "new", "--traces", "many"], 151, "many"),
        (["simulate", "--out", "new", "--seed", "-1"], 151, "--seed -1"),
        (["simulate", "--out", "new", "--profile", "9.9"], 151, "9.9"),
        (["simulate", "--out", "new", "--faults", "rain"], 151, "rain"),
        (["simulate", "--out", "new", "--instance", "enormous"], 151, "enormous"),
        (["simulate", "--out", "new", "--traces", "5", "--instance", "tiny", "--master", "nowhere"], 151, "nowhere"),
        (["simulate", "--out", "full"], 151, "something else"),
        (["simulate"], 151, "--out"),
        (["analyze", "missing"], 150, "no such folder"),
        (["analyze", "empty"], 150, "empty"),
        (["analyze", "full"], 150, "no manifest.json"),
        (["analyze", "full/a.txt"], 150, "not a folder"),
        (["analyze", "full", "--report", "empty"], 151, "--report"),
        (["analyze"], 151, "DIR"),
    ],
)
def test_bad_input_gets_one_line(
    arguments: list[str],
    exit_code: int,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a.txt").touch()
    assert run(arguments) == exit_code
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "full"]
