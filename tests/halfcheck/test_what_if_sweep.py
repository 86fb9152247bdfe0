"""``halfcheck what-if --sweep``: from end to end on Spark, gone on with, the same bytes; and one line for bad input."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from halfcheck.app import run
from halfcheck.errors import ExitCode

if TYPE_CHECKING:
    from pathlib import Path

SHOP = """
transactions = { per_second = 20, arrivals = "poisson", body_bytes = 100 }
producers = { count = 2, groups = 1 }
local = { time = { p50 = "1s", p99 = "20s" }, rollback = 0.05, unknown = 0.0, hangs = 0.0 }
checks = { after = "5ms", unknown = 0.0, never_run = "rollback" }
network = { to_broker = "0.5ms", from_broker = "0.5ms", loss_to_broker = 0.01, loss_from_broker = 0.0 }
client = { kind = "grpc" }
"""
FEW = ("--transactions", "120", "--replications", "2")
SWEEP = ("--sweep", "transactionTimeOut=1s,60s", "transactionCheckInterval=10s,60s")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.toml"
    path.write_text(SHOP, encoding="utf-8")
    return path


def what_if(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = run(("what-if", *words))
    out, err = capsys.readouterr()
    return code, out, err


def test_a_sweep_is_gone_on_with_and_gives_the_same_bytes(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "sweep"
    words = (*SWEEP, "--workload", str(shop), *FEW, "--out", str(out))
    code, said, err = what_if(capsys, *words)
    assert code == ExitCode.OK, err
    assert said.startswith("Your settings in RocketMQ 5.5.1 (transactionTimeOut 6s, transactionCheckInterval 30s): ")
    assert f"page: {out / 'index.html'}" in said
    found = json.loads((out / "sweep.json").read_bytes())
    assert len(found["points"]) == 5, "four of the grid, and what the files say"
    runs = sorted((out / "runs").iterdir())
    assert len(runs) == 10
    page = (out / "index.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 4, "three heat maps and the front"
    assert "Delay</h3>" in page

    before = {path.name: path.read_bytes() for path in (*runs, out / "sweep.json", out / "index.html")}
    runs[0].unlink()
    runs[1].write_bytes(runs[1].read_bytes()[:100])
    kept = {path: path.stat().st_mtime_ns for path in runs[2:]}
    assert what_if(capsys, *words)[:2] == (code, said)
    after = {path.name: path.read_bytes() for path in (*runs, out / "sweep.json", out / "index.html")}
    assert after == before
    assert {path: path.stat().st_mtime_ns for path in runs[2:]} == kept, "what was finished was left"

    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert what_if(capsys, *words)[:2] == (code, said), "all is there: no Spark is needed"


def test_an_upgrade_is_one_command(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said, err = what_if(capsys, "--releases", "4.9.7,5.5.1", "--workload", str(shop), *FEW, "--json")
    assert code == ExitCode.OK, err
    found = json.loads(said)
    assert [point["release"] for point in found["points"]] == ["4.9.7", "5.5.1"]
    assert found["points"][0]["more_than_yours"]["doubled"]["value"] == 0
    assert found["points"][0]["counts"]["arriving_ms"] == found["points"][1]["counts"]["arriving_ms"]


def test_a_point_that_is_added_leaves_the_number_of_runs_as_it_was(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    conf, out = tmp_path / "broker.conf", tmp_path / "sweep"
    conf.write_text("transactionCheckInterval=100\n", encoding="utf-8")
    words = (str(conf), "--workload", str(shop), "--transactions", "240", "--out", str(out), "--sweep")
    for values, files, longest in (("200ms", 24, "200 ms"), ("200ms,60s", 36, "1 min")):
        code, _, err = what_if(capsys, *words, f"transactionCheckInterval={values}")
        assert code == ExitCode.OK, err
        assert len(list((out / "runs").iterdir())) == files, "12 runs of ten intervals of yours for each point"
        assert f"check intervals of {longest}: " in err, "the point whose runs have the fewest bounds the answer"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--sweep", "transactionTimeout=1s"), "no such setting; did you mean transactionTimeOut?"),
        (("--sweep", "transactionTimeOut="), "there is nothing to sweep over"),
        (("--sweep", "local.p99=1ms"), "p99 (1ms) lies below p50 (1s)"),
        (("--points", "9"), "--points 9: there is nothing to sweep over; give --sweep NAME=LOW..HIGH"),
        (("transactionTimeOut=1s",), "transactionTimeOut=1s: write --sweep before what is swept"),
        (("a.conf", "b.conf"), "b.conf: a second file; expected one broker.conf, and NAME=VALUES behind --sweep"),
        (("--releases", "4.9.8"), "--version 4.9.8: the reference broker, which is simulated, is none of that release"),
        (("--releases", ","), "--releases: expected names with commas such as 4.9.7,5.5.1,fixed, or all"),
        (("--releases", "4.9.7", "--version", "5.5.1"), "give either --version or --releases"),
        (
            ("--sweep", "transactionTimeOut=1s", "--transactions", "3"),
            "--transactions 3: fewer than one for each of 8",
        ),
        (("--releases", "all", "--master", "yarn"), "--master yarn: give --out DIR, a folder that all machines see"),
    ],
)
def test_what_cannot_be_asked_is_said_in_one_line(
    words: tuple[str, ...], line: str, shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = what_if(capsys, *words, "--workload", str(shop))
    assert code in {ExitCode.BAD_CONTENT, ExitCode.BAD_OPTION}
    assert out == ""
    assert line in err
    assert err.count("\n") == 1
