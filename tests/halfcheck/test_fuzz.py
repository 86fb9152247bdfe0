"""Does `halfcheck fuzz` say what it found, and with which exit code?"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from fuzz.lockstep.pairing import Pairing
from fuzz.mutants import kill_table
from fuzz.mutants.mutant import Edit
from fuzz.search import coverage
from halfcheck.app import run
from model_check.cpython import explore
from reference.broker.transaction.half_judge import HalfJudge
from spec.constants import FAULTS
from tests.model_check.checked import at_full_speed

SPEC = Path(__file__).parents[2] / "spec" / "instances"

Captured = pytest.CaptureFixture[str]

KEYS = {
    "profile", "environment", "instance", "seed", "examples", "steps", "seconds", "steps_per_second", "coverage",
    "mismatch", "real",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _count_at_full_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the schedules stands the exhaustive count of a small instance, which takes longest of all."""
    monkeypatch.setattr(coverage, "explore", at_full_speed(explore))


def test_a_sound_pair_agrees(capsys: Captured) -> None:
    assert run(["fuzz", "--profile", "4.9.7", "--examples", "10", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told.keys() == KEYS
    assert told["mismatch"] is None
    assert told["examples"] == 10
    assert told["environment"] == list(FAULTS)
    assert told["coverage"]["states"]["reachable"] == 5_974


def test_each_transition_of_an_instance_is_taken(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one.toml").write_text((SPEC / "tiny.toml").read_text().replace("half_slots = 3", "half_slots = 2"))
    instance = ["--instance", str(tmp_path / "one.toml")]
    asked = ["fuzz", "--profile", "4.9.7", "--every-transition", *instance, "--faults", ""]
    assert run(asked) == 0
    told = capsys.readouterr().out
    assert told.startswith("specification and broker agree\n")
    found = re.search(r"in the quiet world, instance [^:]+: ([\d,]+) of ([\d,]+) transitions taken, in", told)
    assert found is not None
    assert found[1] == found[2]
    monkeypatch.setattr(HalfJudge, "need_discard", lambda *_: False)
    assert run([*asked, "--out", str(tmp_path)]) == 12
    broken = capsys.readouterr()
    assert "half[1].check_times is 1 in the specification, 0 in the broker" in broken.out
    assert f"halfcheck: {tmp_path}/test_lockstep_mismatch.py shows it again" in broken.err


def test_coverage_is_told_with_what_was_never_possible(capsys: Captured) -> None:
    assert run(["fuzz", "--profile", "4.5.1", "--faults", "", "--examples", "2", "--steps", "3"]) == 0
    told = capsys.readouterr().out
    assert "in the quiet world" in told
    first, *lines = told.splitlines()
    assert first == "specification and broker agree"
    (at,) = [number for number, line in enumerate(lines) if line.startswith("warning: ")]
    assert re.fullmatch(r"warning: \d+ actions were never possible:", lines[at])
    assert re.search(r"\bpass_settled_half\b", lines[at + 1])


def test_a_broken_broker_is_shown_with_its_schedule_and_a_test(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = next(mutant for mutant in kill_table.MUTANTS if mutant.name == "check count forgotten").pairing
    monkeypatch.setattr(Pairing, "of", lambda profile, faults, instance: broken)
    assert run(["fuzz", "--examples", "50", "--out", str(tmp_path)]) == 12
    told = capsys.readouterr()
    assert "half[1].check_times is 1 in the specification, 0 in the broker" in " ".join(told.out.split())
    assert "put_back_" in told.out
    assert "test_lockstep_mismatch.py shows it again" in told.err
    assert run(["fuzz", "--examples", "50", "--json"]) == 12
    assert json.loads(capsys.readouterr().out)["mismatch"]["variable"] == "half[1].check_times"


def test_the_kill_table_is_printed_and_a_survivor_fails(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    killed = next(mutant for mutant in kill_table.MUTANTS if mutant.name == "round a moment late")
    harmless = Edit(
        "reference.broker.transaction.transactional_message_check_service",
        "waited >= self._broker",
        "waited + 0 >= self._broker",
    )
    survivor = replace(killed, name="harmless", edit=harmless)
    monkeypatch.setattr(kill_table, "MOST_EXAMPLES", 40)
    monkeypatch.setattr(kill_table, "MUTANTS", (killed,))
    assert run(["fuzz", "--mutants"]) == 0
    assert "whether a round begins" in capsys.readouterr().out
    monkeypatch.setattr(kill_table, "MUTANTS", (killed, survivor))
    assert run(["fuzz", "--mutants", "--json"]) == 12
    told = json.loads(capsys.readouterr().out)
    assert told["survivors"] == ["harmless"]
    assert [row["killed"] for row in told["mutants"]] == [True, False]


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--profile", "6.0.0"], 151, "6.0.0"),
        (["--faults", "rain"], 151, "rain"),
        (["--examples", "0"], 151, "give at least one example"),
        (["--instance", "no-such"], 151, "no-such"),
        (["--real", "9.9.9"], 151, "no reference broker of the release '9.9.9'; there are 4.3.0, 4.3.2, 4.5.1"),
        (["--real", "4.3.0"], 151, "no jars of RocketMQ '4.3.0' are known; there are "),
        (["--real", "latest"], 151, "no release 'latest'"),
        (["--out", "/dev/null"], 150, "/dev/null: not a folder; --out takes one that is there, or can be made"),
        (["--out", "/dev/null/x", "--mutants"], 150, "/dev/null: not a folder"),
        (
            ["--mutants", "--real", "5.0.0"],
            151,
            "no mutant of the broker is of that release; there are some of 4.9.7, 5.3.3, 5.4.0",
        ),
        (["--mutants", "--jar", "x.jar"], 151, "the mutants are those of this project's broker; leave out --jar"),
    ],
)
def test_bad_options_are_refused_in_one_line(capsys: Captured, options: list[str], code: int, words: str) -> None:
    assert run(["fuzz", "--examples", "1", *options]) == code
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1
