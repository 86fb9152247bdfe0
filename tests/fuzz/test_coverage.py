"""Is it counted what the examples have tried, and is what nothing tried named?"""

from __future__ import annotations

import pytest

from fuzz.campaign import count_states, run_campaign
from fuzz.coverage import GuardCoverage, Guards
from fuzz.moves import KINDS
from fuzz.world import World
from spec.constants import FAULTS
from spec.language import Refused
from spec.transactional_messages import TRANSACTIONAL_MESSAGES


def test_what_a_profile_or_an_environment_never_allows_is_not_asked_for() -> None:
    quiet = Guards.of(World.of("4.9.7", ()))
    closed = {action.name for action in TRANSACTIONAL_MESSAGES.actions} - quiet.allowed
    assert closed == {
        "buffer_op", "lose_end", "lose_check", "duplicate_end", "crash",
        "answer_check_too_early", "end_round_before_dispatch", "refuse_late_end",
        "send_wrong_commit", "send_wrong_rollback", "answer_with_wrong_commit", "answer_with_wrong_rollback",
    }  # fmt: skip
    assert "buffer_op" in Guards.of(World.of("5.3.3", FAULTS)).allowed


def test_a_run_that_tries_nothing_covers_nothing() -> None:
    guards = Guards.of(World.of("5.3.3", FAULTS))
    coverage = GuardCoverage(guards)
    assert coverage.never_enabled == sorted(guards.allowed)
    assert set(coverage.never_false) == guards.open


def test_a_step_that_was_tried_is_counted() -> None:
    world = World.of("5.3.3", FAULTS)
    coverage = GuardCoverage(Guards.of(world))
    step = world.steps_of["begin_round"][0]
    coverage.note(step, None)
    coverage.note(step, Refused("require", "no round runs"))
    assert "begin_round" not in coverage.never_enabled
    assert ("begin_round", "no round runs") not in coverage.never_false
    assert ("begin_round", "the check interval is over since the last round") in coverage.never_false


def test_each_action_is_in_some_kind_of_move() -> None:
    assert {name for names in KINDS.values() for name in names} == {a.name for a in TRANSACTIONAL_MESSAGES.actions}


@pytest.mark.untraced
def test_nearly_every_conjunct_is_false_once() -> None:
    campaign = run_campaign(World.of("5.3.3", FAULTS), FAULTS, examples=300, steps=50, random_seed=7)
    told = campaign.to_json()["coverage"]
    assert told["never_enabled"] == []
    assert len(told["never_false"]) < 12
    assert told["states"]["reachable"] == 8_400


@pytest.mark.untraced
def test_states_that_are_seen_are_states_that_a_search_finds() -> None:
    counted = count_states("4.9.7", examples=60, steps=40, random_seed=7)
    assert counted.reachable == 2_390
    assert 150 < counted.seen < 2_390
