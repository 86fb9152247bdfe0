"""What is kept of the clients' habits, the page that is made of it, and who notices a newer client."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from model_check.clauses import name_of
from model_check.counterexample.steps import replay
from model_check.world import Profile
from real_brokers.habits import releases
from real_brokers.habits.__main__ import main
from real_brokers.habits.known import HABITS, Habit
from real_brokers.habits.led_clients import LED_CLIENTS
from real_brokers.habits.page import PAGE, schedules_of, write_page
from real_brokers.habits.seen import HABITS_SEEN
from real_brokers.habits.stage import PROFILE
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from pathlib import Path

BREAKING = [habit for habit in HABITS.values() if habit.breaks]


def test_each_client_was_led_through_each_situation_and_the_page_says_so(tmp_path: Path) -> None:
    seen = HABITS_SEEN.read()
    pairs = itertools.product(HABITS.values(), LED_CLIENTS.values())
    led = [f"{habit.name} {one.name}" for habit, one in pairs if one.hears_checks or not habit.takes_checks]
    assert list(seen) == led
    assert {one.client for one in seen.values() if one.word == "never asked"} == {
        one.name for one in LED_CLIENTS.values() if not one.hears_checks
    }
    write_page(seen, tmp_path / "clients.md")
    assert (tmp_path / "clients.md").read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("habit", BREAKING, ids=[habit.name for habit in BREAKING])
def test_the_schedules_of_a_habit_break_the_clauses_that_it_names(habit: Habit) -> None:
    profile = Profile.of(PROFILE)
    for (clause, _), schedule in zip(habit.breaks, schedules_of(habit), strict=True):
        constants = schedule.world(profile).constants
        violated = replay(TRANSACTIONAL_MESSAGES, constants, schedule.path(profile)).violated
        assert clause in map(name_of, violated)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("99.0.0", "rocketmq-client-nodejs 99.0.0 is there, of which no habit was seen: make client-habits"),
        (LED_CLIENTS["grpc-node"].version, ""),
        ("no such package", "rocketmq-client-nodejs was not asked for: npm says nothing"),
    ],
)
def test_a_newer_client_of_another_registry_is_told(
    answer: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm = tmp_path / "npm"
    npm.write_text(f"#!/bin/sh\necho {answer}\n", encoding="utf-8")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert releases.newer_elsewhere("rocketmq-client-nodejs") == said


def test_a_registry_that_cannot_be_asked_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert releases.newer_elsewhere("crate rocketmq") == "crate rocketmq was not asked for: cargo is not on PATH"


def test_a_newer_release_of_a_java_client_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releases, "published_releases", lambda _, led: [led, "99.0.0"])
    monkeypatch.setattr(releases, "changed_between", lambda *_: ["ProducerImpl#send0"])
    first, second = releases.newer_by_maven()
    assert "rocketmq-client-java 99.0.0" in first
    assert "beside 5.2.0, ProducerImpl#send0 changed" in first
    assert "rocketmq-client 99.0.0" in second
    assert f"beside {LED_CLIENTS['java-5.5.0'].version}, " in second


def test_an_unknown_client_or_habit_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["grpc-nodes"], ["grpc-node", "--habit", "sings"]):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 151
        assert f"no {arguments[-1]!r} here; there are" in capsys.readouterr().err
