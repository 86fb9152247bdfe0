"""Is it counted what the examples have tried, and is what nothing tried named?"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from fuzz.campaign import count_states, run_campaign
from fuzz.coverage import GuardCoverage, Guards
from fuzz.forbidden import is_allowed
from fuzz.left_out import DRIVEN, DRIVEN_FAULTS, LEFT_OUT_ACTIONS, LEFT_OUT_FAULTS, LEFT_OUT_RULES, driven
from fuzz.lockstep import Lockstep
from fuzz.moves import KINDS, MoveTable
from fuzz.world import World
from model_check.errors import ModelCheckError
from spec.constants import FAULTS
from spec.language import Refused
from spec.transactional_messages import TRANSACTIONAL_MESSAGES


def test_what_a_profile_or_an_environment_never_allows_is_not_asked_for() -> None:
    quiet = Guards.of(World.of("4.9.7", ()))
    closed = {action.name for action in DRIVEN.actions} - quiet.allowed
    assert closed == {
        "buffer_op", "lose_end", "lose_check", "duplicate_end", "crash",
        "answer_check_too_early", "end_round_before_dispatch", "refuse_late_end",
        "send_wrong_commit", "send_wrong_rollback", "answer_with_wrong_commit", "answer_with_wrong_rollback",
    }  # fmt: skip
    assert "buffer_op" in Guards.of(World.of("5.3.3", DRIVEN_FAULTS)).allowed


def test_a_run_that_tries_nothing_covers_nothing() -> None:
    guards = Guards.of(World.of("5.3.3", DRIVEN_FAULTS))
    coverage = GuardCoverage(guards)
    assert coverage.never_enabled == sorted(guards.allowed)
    assert set(coverage.never_false) == guards.open


def test_a_step_that_was_tried_is_counted() -> None:
    world = World.of("5.3.3", DRIVEN_FAULTS)
    coverage = GuardCoverage(Guards.of(world))
    step = world.steps_of["begin_round"][0]
    coverage.note(step, None)
    coverage.note(step, Refused("require", "no round runs"))
    assert "begin_round" not in coverage.never_enabled
    assert ("begin_round", "no round runs") not in coverage.never_false
    assert ("begin_round", "the check interval is over since the last round") in coverage.never_false


def test_each_action_is_in_some_kind_of_move_or_left_out_with_a_reason() -> None:
    moved = {name for names in KINDS.values() for name in names}
    assert moved | LEFT_OUT_ACTIONS.keys() == {a.name for a in TRANSACTIONAL_MESSAGES.actions}
    assert not moved & LEFT_OUT_ACTIONS.keys()
    assert all(LEFT_OUT_ACTIONS.values())


def test_each_fault_is_driven_or_left_out_with_a_reason() -> None:
    assert set(DRIVEN_FAULTS) | LEFT_OUT_FAULTS.keys() == set(FAULTS)
    assert not set(DRIVEN_FAULTS) & LEFT_OUT_FAULTS.keys()
    assert all(LEFT_OUT_FAULTS.values())


def test_an_action_that_is_neither_driven_nor_left_out_is_an_error() -> None:
    new = replace(TRANSACTIONAL_MESSAGES.actions[0], function=new_action)
    with pytest.raises(ModelCheckError, match="does not know the action new_action: drive it"):
        driven(replace(TRANSACTIONAL_MESSAGES, actions=(*TRANSACTIONAL_MESSAGES.actions, new)))


def new_action(s: object, c: object, t: int) -> None: ...


@pytest.mark.parametrize(
    ("profile", "faults", "told"),
    [
        ("5.3.3", ("crash", "power_loss"), "no lockstep with power_loss: the broker's disk keeps what was written"),
        ("fixed", (), "no reference broker of the profile 'fixed'; there are 4.5.1, 4.9.7, 5.3.3, 5.4.0"),
    ],
)
def test_a_world_that_no_broker_has_is_refused_with_the_reason(
    profile: str, faults: tuple[str, ...], told: str
) -> None:
    with pytest.raises(ModelCheckError, match=told):
        World.of(profile, faults)


@pytest.mark.parametrize("profile", ["4.5.1", "5.4.0"])
def test_without_its_faults_nothing_that_is_left_out_is_possible(profile: str) -> None:
    """Each action that is left out is closed, state by state, on schedules that reach what the lockstep reaches."""
    world = World.of(profile, DRIVEN_FAULTS)
    spared = [s for s in TRANSACTIONAL_MESSAGES.steps(world.constants) if s.action.name in LEFT_OUT_ACTIONS]
    table = MoveTable.of(world)
    chance = random.Random(7)
    for weather in range(len(table.draws)):
        pair = Lockstep(world)
        for step in table.starts[weather]:
            pair.take(step)
        for _ in range(25):
            table.move(pair, weather, chance.randrange(1 << 24), lambda step, refused: None)
            assert [str(step) for step in spared if is_allowed(pair, step) is None] == []


@pytest.mark.untraced
def test_nearly_every_conjunct_is_false_once() -> None:
    campaign = run_campaign(World.of("5.3.3", DRIVEN_FAULTS), DRIVEN_FAULTS, examples=300, steps=50, random_seed=7)
    told = campaign.to_json()["coverage"]
    assert told["never_enabled"] == []
    assert len(told["never_false"]) < 12
    assert told["states"]["reachable"] == 23_583
    assert not {rule for _, rule in campaign.coverage.refused} & LEFT_OUT_RULES.keys()


@pytest.mark.untraced
def test_states_that_are_seen_are_states_that_a_search_finds() -> None:
    counted = count_states("4.9.7", examples=60, steps=40, random_seed=7)
    assert counted.reachable == 3_236
    assert 150 < counted.seen < 3_236
