"""Old spellings of command lines go on working, and say how they are spelled now."""

from __future__ import annotations

import json
import shlex

import pytest

from halfcheck.app import run
from halfcheck.errors import ExitCode
from halfcheck.old_spellings import respelled

pytestmark = pytest.mark.xdist_group(name="tiny")


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("check --minimal-faults --most-faults 3 --profile 5.3.3", "faults --most 3 --profile 5.3.3"),
        ("check --minimal-repairs --with one --most-repairs 2", "repairs --with one --most 2"),
        ("check --compare 4.9.7 5.5.1 --broker-conf b.conf", "compare 4.9.7 5.5.1 --broker-conf b.conf"),
        ("check --broker-conf=b.conf --version 5.3.3 --suggest", "conf b.conf --version 5.3.3 --suggest"),
        ("check --broker-conf b.conf --profile 5.3.3", "conf b.conf --version 5.3.3"),
        ("check --liveness --profile 4.5.1", "liveness --profile 4.5.1"),
        ("check --property P5.at_one_moment --svg s.svg", "liveness --property P5.at_one_moment --write s.svg"),
        ("check --coverage --instance tiny --profile 5.3.3", "coverage --instance tiny --profile 5.3.3"),
        ("check --coverage --instance tiny", "coverage --instance tiny --profile 5.5.1"),
        ("check --instance medium --width", "instances medium"),
        ("check --engine z3 --max-depth 15 --instance tiny", "check --engine z3:15 --instance tiny"),
        ("check --max-depth 15 --engine=z3", "check --engine z3:15"),
        ("check --no-disk --fingerprints", "check --disk none --engine fingerprints"),
        (
            "check --version 5.3.4 --itf a.json --pytest t.py",
            "check --profile 5.3.4 --write itf=a.json --write t.py",
        ),
    ],
)
def test_an_old_command_line_is_said_in_todays_words(before: str, now: str) -> None:
    words, sentence = respelled(shlex.split(before))
    assert words == shlex.split(now)
    assert sentence == f"now spelled: halfcheck {now}"


@pytest.mark.parametrize(
    "today", ["check --profile 5.3.3 --faults=crash", "faults --most 1", "conf b.conf", "", "--help"]
)
def test_what_is_said_in_todays_words_is_left_alone(today: str) -> None:
    assert respelled(shlex.split(today)) == (shlex.split(today), "")


def test_an_old_command_line_works_and_says_the_new_one(capsys: pytest.CaptureFixture[str]) -> None:
    old = [
        "check",
        "--minimal-faults",
        "--profile",
        "5.3.3",
        "--instance",
        "tiny",
        "--property",
        "S1.immune_half",
        "--json",
    ]
    assert run(old) == ExitCode.SAFETY_VIOLATED
    first = capsys.readouterr()
    assert first.err.startswith("halfcheck: now spelled: halfcheck faults --profile 5.3.3 ")
    assert run(["faults", *old[2:]]) == ExitCode.SAFETY_VIOLATED
    second = capsys.readouterr()
    assert second.err == ""
    assert json.loads(first.out)["profiles"] == json.loads(second.out)["profiles"]


def test_no_command_of_one_question_has_more_than_fifteen_options() -> None:
    from halfcheck.app import COMMANDS
    from halfcheck.lazy_commands import load_command

    counts = {
        name: sum(
            param.name != "help" and param.param_type_name == "option"
            for param in load_command(name, COMMANDS[name]).params
        )
        for name in ("check", "compare", "faults", "repairs", "conf", "liveness")
    }
    assert {name: count for name, count in counts.items() if count > 15} == {}
