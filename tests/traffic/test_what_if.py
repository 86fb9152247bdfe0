"""``halfcheck what-if``: sentences, tables and JSON of one answer, what bounds it, and one line for what can't be."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from halfcheck.app import run
from halfcheck.errors import ExitCode
from traffic.simulation import replications

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from traffic.simulation.counts import TrafficCounts

SHOP = """
transactions = { per_second = 20, arrivals = "poisson", body_bytes = 100 }
producers = { count = 2, groups = 1 }
local = { time = { p50 = "1s", p99 = "60s" }, rollback = 0.05, unknown = 0.0, hangs = 0.01 }
checks = { after = "5ms", unknown = 0.0, never_run = "rollback" }
network = { to_broker = "0.5ms", from_broker = "0.5ms", loss_to_broker = 0.001, loss_from_broker = 0.001 }
client = { kind = "grpc" }
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workload; replications run in this process."""

    def run_here(runs: list[replications.Replication], report: Callable[[TrafficCounts], None]) -> None:
        for each in runs:
            report(each.run())

    monkeypatch.setattr(replications, "run_all", run_here)
    path = tmp_path / "shop.toml"
    path.write_text(SHOP, encoding="utf-8")
    return path


def asked(shop: Path, *more: str) -> int:
    return run(["what-if", "--workload", str(shop), "--transactions", "600", "--replications", "3", *more])


def test_the_answer_begins_with_three_sentences_and_splits_by_cause(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(shop, "--version", "5.3.3") == ExitCode.OK
    out, err = capsys.readouterr()
    first, second, third = out.splitlines()[:3]
    assert first.startswith("RocketMQ 5.3.3: doubled ")
    assert "% by A11 (a commit after the first check does not settle the copy)" in first
    assert second.startswith("Lost fewer than ")
    assert "“its local transaction hangs”" in second
    assert third.startswith("A committed message is with its consumer after ")
    assert "Never happens, as shop does not have it: pauses.broker, pauses.producer, disk_stalls, crashes" in out
    assert "less than 10 check intervals of 30 s" in err


def test_json_and_the_files_say_the_same_and_the_same_seed_says_it_again(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "answer"
    assert asked(shop, "--version", "4.9.7", "--json", "--out", str(out)) == ExitCode.OK
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert told == json.loads((out / "answer.json").read_text(encoding="utf-8"))
    each = json.loads((out / "replications.json").read_text(encoding="utf-8"))
    assert sum(one["counts"]["transactions"] for one in each) == told["counts"]["transactions"] == 600
    doubled = told["measures"]["doubled"]
    assert doubled["counted"] == sum(cause["counted"] for cause in doubled["causes"].values())
    assert doubled["per_million"]["value"] == pytest.approx(doubled["counted"] / 600 * 1e6)
    assert doubled["per_day"]["value"] == pytest.approx(doubled["counted"] / 600 * 20 * 86_400)
    assert doubled["per_day"]["low"] < doubled["per_day"]["value"] < doubled["per_day"]["high"]
    assert asked(shop, "--version", "4.9.7", "--json") == ExitCode.OK
    assert json.loads(capsys.readouterr().out) == told


def test_a_broker_conf_counts(shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_text("transactionTimeOut=600000\n", encoding="utf-8")
    assert run([
        "what-if", str(conf), "--version", "5.3.3", "--workload", str(shop), "--json",
        "--transactions", "200", "--replications", "2",
    ]) == ExitCode.OK  # fmt: skip
    told = json.loads(capsys.readouterr().out)
    assert told["measures"]["checked_needlessly"]["causes"].keys() <= {"A39"}


def test_ctrl_c_keeps_what_was_counted(
    shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(runs: list[replications.Replication], report: Callable[[TrafficCounts], None]) -> None:
        report(runs[0].run())
        report(runs[1].run())
        raise KeyboardInterrupt

    monkeypatch.setattr(replications, "run_all", cut)
    assert asked(shop, "--version", "5.3.3", "--json") == ExitCode.INTERRUPTED
    out, err = capsys.readouterr()
    assert json.loads(out)["counts"]["transactions"] == 400
    assert "interrupted: the answer is that of 2 of 3 runs" in err


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--version", "5.3.2"], 151, "is none of that release; take 5.3.3, the nearest"),
        (["--version", "5.3.3+keeps_flags"], 151, "no switch 'keeps_flags'"),
        (["--version", "5.3.3", "--transactions", "2"], 151, "fewer than one for each of 3 --replications"),
        (["no.conf", "--version", "5.3.3"], 150, "no.conf is not a file"),
    ],
)
def test_what_can_not_be_asked_gets_one_line(
    words: list[str], code: int, told: str, shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(shop, *words) == code
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert told in lines[0]


def test_a_workload_is_asked_for_and_one_that_is_bad_has_exit_code_150(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["what-if", "--version", "5.3.3"]) == ExitCode.BAD_OPTION
    assert "give --workload FILE, or --example to see one" in capsys.readouterr().err
    bad = tmp_path / "bad.toml"
    bad.write_text(SHOP.replace("p99", "p98"), encoding="utf-8")
    assert run(["what-if", "--version", "5.3.3", "--workload", str(bad)]) == ExitCode.BAD_CONTENT
    assert "expected p50 and p99, not p98" in capsys.readouterr().err
