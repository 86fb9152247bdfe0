"""Claims about any number of transactions are made where the comparison found nothing, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest

from files.content import read_toml
from files.reading import read_text
from model_check.any_number import claims, world_lines, worlds
from model_check.any_number.claims import (
    COMPARISONS,
    comparisons,
    comparisons_as_toml,
    proved_worlds,
    why_no_claim,
    why_not_claimed,
    why_not_in,
)
from model_check.any_number.worlds import all_worlds, compared, page
from model_check.check import check
from model_check.clauses import clauses_by_name
from model_check.errors import EvaluationError
from model_check.explicit.search import explore
from model_check.finding import Holds, Unknown
from model_check.instances import load_instance
from model_check.question import Question
from model_check.world import Environment, Profile, World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.any_number.two_transactions import TWO

if TYPE_CHECKING:
    from collections.abc import Iterator

STALE = "run `make any-number`"

UNCLAIMED = {"preset_original", "power_loss", "retention"}
"""Faults with which one among others does not follow each of many in the releases; all it follows in `fixed`."""


def _recorded(profile: str) -> str:
    machines: dict[str, str] = read_toml(COMPARISONS)["machines"]
    return machines[profile]


@pytest.fixture
def another_specification(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for known in (comparisons, proved_worlds):
        known.cache_clear()
    monkeypatch.setattr(world_lines, "fingerprint_among_others", lambda: "0123456789abcdef")
    monkeypatch.setattr(world_lines, "machines_of", {Profile.of("4.9.7"): _recorded("4.9.7")}.get)
    yield
    for known in (comparisons, proved_worlds):
        known.cache_clear()


def test_all_worlds_were_compared_with_this_specification() -> None:
    assert list(comparisons()) == all_worlds(), STALE


@pytest.mark.parametrize("profile", [profile for profile, faults in all_worlds() if not faults], ids=str)
def test_the_worlds_without_a_claim_are_those_that_the_page_names(profile: Profile) -> None:
    unclaimed = {faults.name for each, faults in all_worlds() if each == profile and why_no_claim(each, faults)}
    assert unclaimed == (set() if profile.name == "fixed" else UNCLAIMED)


def test_the_page_is_what_the_comparisons_give() -> None:
    assert read_text(Path(__file__).parents[3] / "docs/generated/any-number.md") == page(comparisons()), STALE


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("profile", "faults"), [("4.9.7", ()), ("5.5.1", ("undecodable_half",)), ("fixed", ("crash",))]
)
def test_a_world_compared_again_gives_the_same(profile: str, faults: tuple[str, ...]) -> None:
    world = Profile.of(profile), Environment.of(faults)
    assert compared(world) == comparisons()[world], STALE


@pytest.fixture
def small_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    """A world is compared in one instance twice, and in the first step of two walks."""
    given = {"SEARCHED": (TWO, TWO), "MOST_STATES": 20_000, "WALKED": TWO, "WALKERS": 2, "STEPS": 1}
    for name, value in given.items():
        monkeypatch.setattr(worlds, name, value)


@pytest.mark.usefixtures("small_comparison")
@pytest.mark.parametrize(("profile", "fault"), [("4.9.7", "lose_end"), ("4.9.7", "retention")])
def test_a_part_of_a_world_compared_again_has_no_other_difference(profile: str, fault: str) -> None:
    world = Profile.of(profile), Environment.of([fault])
    again, recorded = compared(world), comparisons()[world]
    assert set(again.broken) <= set(recorded.broken), STALE
    assert again.is_clean == recorded.is_clean, STALE
    found = explore(TRANSACTIONAL_MESSAGES, World(*world, TWO).constants, most_states=20_000)
    assert again.states == 2 * found.distinct + 2
    assert again.is_complete == found.complete


def test_a_comparison_that_fails_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worlds, "explore", Mock(side_effect=EvaluationError("no range")))
    failed = compared((Profile.of("fixed"), Environment()))
    assert failed.error == "what one transaction sees is no state of one among others (no range)"
    assert not failed.is_clean


def test_what_is_written_is_read_back() -> None:
    assert comparisons_as_toml(comparisons()) == read_text(claims.COMPARISONS), STALE


def test_two_faults_and_turned_switches_were_not_compared() -> None:
    assert "under no fault and one, not 2" in why_no_claim(Profile.of("5.5.1"), Environment.of(["crash", "lose_end"]))
    assert "not compared with many in this profile" in why_no_claim(Profile.of("5.5.1+keeps_flag"), Environment())
    assert "does not follow each of many at " in why_no_claim(Profile.of("4.9.7"), Environment.of(["retention"]))


@pytest.mark.parametrize("profile", ["4.9.7", "fixed"])
def test_any_of_the_faults_may_be_there_where_each_step_is_proved(profile: str) -> None:
    several = Environment.of(["crash", "lose_end", "late_end"])
    assert why_no_claim(Profile.of(profile), several) == ""
    why = why_no_claim(Profile.of(profile), Environment.of([*several, "power_loss", "retention"]))
    assert why.endswith("not 5, and what is proved leaves out power_loss, retention")


def test_times_are_free_where_each_step_is_proved() -> None:
    other = replace(load_instance("crowd"), timeout=4, round_limit=3)
    assert why_not_in(World.of("4.9.7", ["crash"], other)) == ""
    assert "timeout = 2 and round_limit = 1 only" in why_not_in(World.of("5.5.1", ["crash"], other))
    late = replace(other, persist_interval=2)
    assert why_not_in(World.of("4.9.7", ["crash"], late)).endswith("where persist_interval = 0 only")


def test_the_page_has_the_counts_of_the_proofs() -> None:
    text = " ".join(read_text(Path(__file__).parents[3] / "docs/any-number.md").split())
    for proof in proved_worlds().values():
        assert f"{proof['obligations']:,} obligations of {proof['actions']} actions" in text, STALE


def test_a_profile_with_the_switches_of_a_compared_one_has_its_claims() -> None:
    turned = Profile.of("4.9.7+batches_ops-batches_ops")
    assert turned.switches == Profile.of("4.9.7").switches
    assert why_no_claim(turned, Environment()) == ""


@pytest.mark.usefixtures("another_specification")
def test_of_a_profile_that_does_something_else_nothing_is_claimed() -> None:
    assert {profile.name for profile, _ in comparisons()} == {"4.9.7"}, "it does what it did"
    (row,) = check(Question.of("fixed", (), "crowd", properties=["S5.no_commit_arrived"])).rows
    assert isinstance(row, Unknown)
    assert "not compared" in row.why


def test_nothing_is_claimed_of_other_times() -> None:
    """Where a round outlasts the timeout, an op message of another may be late, for which there is no action."""
    times: dict[str, Any] = {"round_limit": 2, "timeout": 1, "persist_interval": 2}
    few = replace(load_instance("crowd"), name="mine", check_max=1, half_slots=3, op_slots=3, immunities=(-1,))
    same, other = (
        check(Question.of("4.5.1", (), instance, properties=["S5.no_commit_arrived"])).rows[0]
        for instance in (few, replace(few, **times))
    )
    assert isinstance(same, Holds)
    assert isinstance(other, Unknown)
    assert all(f"{name} = " in other.why for name in times)


def test_what_is_not_broken_among_others_holds_for_any_number() -> None:
    (row,) = check(Question.of("fixed", (), "crowd", properties=["S5.no_commit_arrived"])).rows
    assert isinstance(row, Holds)
    assert row.for_any_number
    assert row.bounds[0].in_words(Environment()) == (
        "any number of transactions, in runs of any length, 3 checks, times of up to 3 ticks, with immunities"
    )


def test_clauses_of_two_transactions_and_of_two_rounds_are_not_claimed() -> None:
    clauses = clauses_by_name()
    assert why_not_claimed(clauses["S4.foreign_original"], Profile.of("fixed")) == "it speaks of two transactions"
    assert why_not_claimed(clauses["L3.exception"], Profile.of("5.5.1"))
    assert not why_not_claimed(clauses["L3.exception"], Profile.of("fixed"))
    assert not why_not_claimed(clauses["S5.no_commit_arrived"], Profile.of("5.5.1"))
