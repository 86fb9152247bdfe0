"""``halfcheck simulate`` and ``halfcheck analyze``: from end to end, and one line for each bad input."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from halfcheck.app import run
from halfcheck.printing.analyze import print_counts
from model_check.world import World
from spark_trace_analysis.judge.both_ways import Count
from spark_trace_analysis.judge.properties import ALL, NOT_SHOWN
from spark_trace_analysis.traces.manifest import Parameters
from tests.halfcheck.recorded_traces import recorded

FEW = ("--traces", "5")
"""Of what is refused there would be many."""


def halfcheck(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error, in this process, whose Java is warm."""
    code = run(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def test_simulate_then_analyze_with_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, report = tmp_path / "traces", tmp_path / "report.html"
    words = ("simulate", "--traces", "2000", "--faults", "crash", "--instance", "tiny", "--out", str(out), "--json")
    code, simulated, said = halfcheck(capsys, *words)
    assert (code, said) == (0, "")
    told = json.loads(simulated)
    assert (told["traces"], told["environment"], told["reused"]) == (2_000, ["crash"], False)

    code, analyzed, said = halfcheck(capsys, "analyze", str(out), "--report", str(report), "--json")
    assert (code, said) == (0, "")
    found = json.loads(analyzed)
    assert (found["traces"], found["events"]) == (2_000, told["events"])
    assert set(found["violations"]["5.5.1"]["crash"]) == {each.property_id for each in ALL}
    assert found["not_shown"] == NOT_SHOWN
    assert found["shares_are"] == "of random walks, no rate"
    broken = {name for name, traces in found["violations"]["5.5.1"]["crash"].items() if traces}
    assert {each["property"] for each in found["shortest"]} == broken
    assert not (out / ".analysis").exists(), "what was kept is gone when all is judged"
    assert {"kernels", "queries", "statistics", "report"} <= set(found["seconds"])
    page = report.read_text(encoding="utf-8")
    for title in (
        "How many of the random walks break a property: no rate of a real system",
        "Records written per transaction",
        "Time to delivery",
    ):
        assert f"<figcaption><b>{title}</b>" in page
    assert 'id="pair-counts"' in page


@pytest.mark.parametrize(("width", "lines"), [(400, 5), (122, 5), (100, 8), (80, 12), (60, 12)])
def test_a_row_a_property_fits_any_terminal(width: int, lines: int) -> None:
    console = Console(width=width)
    counts = [
        Count(Parameters(World.of(profile, ["slow_local", "crash"]), 7, 1_000_000, 60), name, 128_345, 17, 999_123, 9)
        for profile in ("4.9.7", "5.3.3")
        for name in ("S1", "S10")
    ]
    with console.capture() as capture:
        print_counts(console, counts)
    told = capture.get().splitlines()
    assert len(told) == lines
    assert sum("12.834% of random walks, no" in line for line in told) == 4
    assert sum("5.3.3" in line for line in told) == (2 if width >= 122 else 1)


@pytest.mark.parametrize(
    ("of", "choice"), [("specification", "swarm"), ("specification", "guided"), ("broker", "swarm")]
)
def test_one_trace_is_printed_with_the_steps_that_replay_takes_again(
    of: str, choice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    world = ["--instance", "tiny", "--faults", "crash"]
    asked = ["simulate", "--trace", "4", "--of", of, *world, "--choice", choice, "--steps", "12"]
    assert run([*asked, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["command"].split()[1:3] == ["simulate", "--trace"]
    assert {event["trace"] for event in told["events"]} == {4}
    assert run(asked) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == f"steps: {told['steps']}"
    assert not [line for line in lines if "=-1 " in f"{line} " and "immunity=-1" not in line]
    assert [line.split("event=")[1].split()[0] for line in lines[:-1]] == [event["event"] for event in told["events"]]
    assert run(["replay", *world, "--steps", told["steps"]]) in {0, 12}
    capsys.readouterr()
    assert run([*told["command"].split()[1:], "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == told


@pytest.mark.parametrize(
    ("arguments", "exit_code", "message"),
    [
        (["simulate", "--out", "new", "--traces", "0"], 151, "--traces 0"),
        (["simulate", "--out", "new", "--traces", "-1"], 151, "--traces -1"),
        (["simulate", "--out", "new", "--traces", "many"], 151, "many"),
        (["simulate", *FEW, "--out", "new", "--seed", "-1"], 151, "--seed -1"),
        (["simulate", *FEW, "--out", "new", "--profile", "9.9"], 151, "9.9"),
        (["simulate", *FEW, "--out", "new", "--faults", "rain"], 151, "rain"),
        (["simulate", *FEW, "--out", "new", "--instance", "enormous"], 151, "enormous"),
        (["simulate", "--out", "new", "--traces", "5", "--instance", "tiny", "--master", "nowhere"], 151, "nowhere"),
        (["simulate", *FEW, "--out", "full"], 151, "something else"),
        (["simulate", *FEW, "--out", "full/a.txt"], 151, "something else"),
        (
            ["simulate", *FEW, "--out", "full/a.txt/new"],
            151,
            "--out full/a.txt/new: can't be written (Not a directory)",
        ),
        (
            ["simulate", *FEW, "--out", "/proc/new"],
            151,
            "--out /proc/new: can't be written (No such file or directory)",
        ),
        (
            ["simulate", *FEW, "--out", "new", "--choice", "best"],
            151,
            "no choice 'best'; there are uniform, weighted, swarm",
        ),
        (["simulate", *FEW, "--out", "new", "--choice", "guided", "--steps", "10001"], 151, "--steps 10001"),
        (
            ["simulate", *FEW, "--out", "new", "--choice", "guided", "--of", "broker"],
            151,
            "no choice 'guided'; there are",
        ),
        (["simulate", *FEW, "--out", "new", "--of", "client"], 151, "--of client: expected specification or broker"),
        (["simulate", "--trace", "3", "--out", "new"], 151, "leave --out away"),
        (["simulate", *FEW, "--out", "new", "--runs", "runs"], 151, "--out new and --runs runs: both say where"),
        (["simulate", "--trace", "3", "--runs", "runs"], 151, "leave --out away"),
        (["simulate", "--trace", "-1"], 151, "--trace -1"),
        (["simulate", "--trace", "1", "--steps", "0"], 151, "--steps 0"),
        (["simulate", "--trace", "1", "--seed", "-4"], 151, "-4"),
        (["simulate", *FEW], 151, "--out"),
        (["analyze", "missing"], 150, "no such folder"),
        (["analyze", "empty"], 150, "empty"),
        (["analyze", "full"], 150, "no _manifest.json"),
        (["analyze", "full/a.txt"], 150, "no events in it"),
        (["analyze", "full", "--explain", "-1"], 151, "--explain -1"),
        (["analyze", "lines", "--profile", "9.9"], 151, "9.9"),
        (["analyze", "lines/no.jsonl"], 150, "(1 lines are none; lines/no.jsonl, line 1: b'nothing' is not JSON"),
        (["analyze", "lines", "--broker-conf", "missing.conf"], 150, "missing.conf"),
        (["analyze", "cut"], 150, "cut/half.parquet: not readable as Parquet"),
        (["analyze", "columns"], 150, "columns/few.parquet: has no column 'step'"),
        (["analyze", "other"], 150, "other/manifest.json: schema version 999"),
        (["analyze", "full", "--report", "empty"], 151, "--report"),
        (["analyze", "full", "--out", "empty"], 151, "--out empty: it exists already; name a new directory"),
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
    for folder, file, content in (
        ("lines", "no.jsonl", b"nothing"),
        ("cut", "half.parquet", parquet("trace", "step")[:-20]),
        ("columns", "few.parquet", parquet("trace")),
        ("other", "manifest.json", b'{"schema_version": 999}'),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / file).write_bytes(content)
    assert run(arguments) == exit_code
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["columns", "cut", "empty", "full", "lines", "other"]


def parquet(*columns: str) -> bytes:
    """A Parquet file of a few numbers."""
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({name: pa.array([0, 1, 2], pa.int64()) for name in columns}), sink)
    return bytes(sink.getvalue())


def test_recorded_lines_of_which_some_are_none_are_judged_with_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line in ten is no event; what is left is judged, and held against the specification."""
    rows = [{**row, "trace": trace} for trace in range(3) for row in recorded("5.3.3/five")]
    lines = [json.dumps(row) if number % 10 != 4 else "{cut" for number, row in enumerate(rows)]
    (tmp_path / "five.jsonl").write_text("\n".join(lines))
    code, analyzed, said = halfcheck(capsys, "analyze", str(tmp_path), "--explain", "1", "--json", "--profile", "5.3.3")
    none = len(range(4, len(rows), 10))
    assert code == 0
    assert said.startswith(f"warning: {tmp_path}/five.jsonl: {none} lines are no events and were left out")
    assert f"{tmp_path}/five.jsonl, line 5: " in said
    assert said.count("\n") == 1
    told = json.loads(analyzed)
    assert (told["traces"], told["events"]) == (3, len(rows) - none)
    assert list(told["violations"]["5.3.3"]) == ["five.jsonl"]
    assert {each["property"] for each in told["not_told"]} == {each.property_id for each in ALL if each.needs}
    (explained,) = told["explained"]
    assert (explained["accepted"] + explained["refused"], explained["problem"]) == (1, None)
