"""A release is asked by either word, and the answer says which profile speaks for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from halfcheck.app import run
from halfcheck.errors import CommandLineError, ExitCode
from halfcheck.options import asked_aloud
from model_check.world import asked_for

QUICK = ("--engine", "cpython", "--instance", "tiny", "--max-states", "60")
WHY = "4.5.2 has no profile: it is judged by 4.5.1+keeps_discarded"


@pytest.mark.parametrize("word", ["--version", "--profile"])
def test_a_release_without_a_profile_is_asked_by_either_word(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", word, "4.5.2", "--property", "R1.pulls_nothing", *QUICK]) == ExitCode.OTHER
    out, err = capsys.readouterr()
    assert WHY in err
    assert out.startswith("RocketMQ 4.5.2 (judged by 4.5.1+keeps_discarded)")


@pytest.mark.parametrize("word", ["--version", "--profile"])
def test_a_release_that_is_a_profile_is_asked_by_either_word(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", word, "5.3.3", "--property", "S3", *QUICK]) in (ExitCode.OK, ExitCode.OTHER)
    assert [line for line in capsys.readouterr().err.splitlines() if "now spelled" not in line] == []


def test_either_word_goes_with_a_broker_conf(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broker.conf").write_text("brokerName=a\n")
    for word in ("--version", "--profile"):
        run(["check", "--broker-conf", "broker.conf", word, "5.3.4", "--property", "S3", *QUICK, "--json"])
        assert json.loads(capsys.readouterr().out)["broker_conf"]["version"] == "5.3.4"


def test_two_words_for_different_releases_are_refused() -> None:
    assert asked_aloud(["5.3.4", "5.3.4"]).profile.name == "5.4.0"
    with pytest.raises(CommandLineError, match=r"^--profile 5.3.3 --profile 5.3.4: give one profile$"):
        asked_aloud(["5.3.3", "5.3.4"])


def test_no_id_and_no_advice_is_of_another_release(capsys: pytest.CaptureFixture[str]) -> None:
    """5.1.0 batches op messages, and has no B25 (5.1.1); 4.7.0 has neither B03 nor B53."""
    assert asked_for("5.1.0").release == "5.1.0"
    asked = ["check", "--version", "5.1.0", "--property", "S1.short_immunity", "--faults", "slow_local"]
    assert run([*asked, "--engine", "cpython", "--instance", "odd", "--max-states", "4000", "--json"]) == 12
    told = json.loads(capsys.readouterr().out)
    assert told["properties"]["S1"]["clauses"]["short_immunity"]["resembles"] == []


@pytest.mark.parametrize("name", ["5.3", "4.2.0", "latest", "5.3.4+settle_once"])
def test_what_is_neither_a_release_nor_a_profile_is_answered_in_one_line(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", "--profile", name]) == ExitCode.BAD_OPTION
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert name.partition("+")[0] in err or "settle_once" in err
