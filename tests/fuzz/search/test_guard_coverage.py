"""Is it counted what the examples have tried, and is what nothing tried named?"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from fuzz.left_out import DRIVEN, LEFT_OUT_ACTIONS, LEFT_OUT_RULES, NEEDS, driven
from fuzz.lockstep.forbidden import is_allowed
from fuzz.lockstep.pair import DEEDS, Lockstep
from fuzz.lockstep.pairing import World
from fuzz.search.campaign import run_campaign
from fuzz.search.guard_coverage import GuardCoverage, Guards
from fuzz.search.state_coverage import LISTED, count_states, steered_along
from fuzz.search.workloads import KINDS, MoveTable
from model_check.counterexample.steps import read_path
from model_check.errors import ModelCheckError
from spec.constants import FAULTS, SWITCHES
from spec.language import Refused
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

QUIET = {
    "send_half", "send_half_with_checks", "commit_locally", "roll_back_locally", "leave_it_unknown",
    "resolve_to_commit", "resolve_to_rollback", "answer_check", "store_real_message", "write_op",
    "begin_round", "pass_settled_half", "discard_half", "pass_half_of_settled_original", "put_back_immune_half",
    "put_back_and_check", "pull_more_ops", "end_round_at_queue_end", "end_round_at_fresh_half",
    "end_round_at_young_half", "end_round_at_time_limit", "persist_offsets", "tick",
}  # fmt: skip
"""What can happen in the quiet world of 4.9.7."""


def test_what_a_profile_or_an_environment_never_allows_is_not_asked_for() -> None:
    assert Guards.of(World.of("4.9.7", ())).allowed == QUIET
    all_of_4_5_1 = Guards.of(World.of("4.5.1", FAULTS)).allowed
    all_of_5_3_3 = Guards.of(World.of("5.3.3", FAULTS)).allowed
    assert {"write_op", "fail_to_write_op", "abort_at_undecodable_half"} <= all_of_4_5_1 - all_of_5_3_3
    assert {"buffer_op", "let_half_escape", "deliver_escaped"} <= all_of_5_3_3 - all_of_4_5_1


def test_what_an_action_needs_are_switches_and_faults_of_actions_that_are_driven() -> None:
    assert NEEDS.keys() <= {action.name for action in DRIVEN.actions}
    named = {name.lstrip("-") for ways in NEEDS.values() for needed in ways for name in needed}
    assert named <= {*FAULTS, *SWITCHES}


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


def test_each_action_is_in_some_kind_of_move_or_left_out_with_a_reason() -> None:
    moved = {name for names in KINDS.values() for name in names}
    assert moved | LEFT_OUT_ACTIONS.keys() == {a.name for a in TRANSACTIONAL_MESSAGES.actions}
    assert not moved & LEFT_OUT_ACTIONS.keys()
    assert all(LEFT_OUT_ACTIONS.values())


def test_each_driven_action_has_a_deed_and_no_other_has() -> None:
    assert {action.name for action in DRIVEN.actions} == DEEDS.keys()


def test_only_repairs_are_left_out() -> None:
    assert all("repair" in reason for reason in LEFT_OUT_ACTIONS.values())


def test_an_action_that_is_neither_driven_nor_left_out_is_an_error() -> None:
    new = replace(TRANSACTIONAL_MESSAGES.actions[0], function=new_action)
    with pytest.raises(ModelCheckError, match="does not know the action new_action: drive it"):
        driven(replace(TRANSACTIONAL_MESSAGES, actions=(*TRANSACTIONAL_MESSAGES.actions, new)))


def new_action(s: object, c: object, t: int) -> None: ...


@pytest.mark.parametrize(
    ("profile", "faults", "told"),
    [
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
    world = World.of(profile, FAULTS)
    spared = [s for s in TRANSACTIONAL_MESSAGES.steps(world.constants) if s.action.name in LEFT_OUT_ACTIONS]
    table = MoveTable.of(world)
    chance = random.Random(7)
    for weather in range(len(table.draws)):
        pair = Lockstep(world)
        for step in table.starts[weather]:
            pair.take(step)
        for _ in range(10):
            table.move(pair, weather, chance.randrange(1 << 24), lambda step, refused: None)
            assert [str(step) for step in spared if is_allowed(pair, step) is None] == []


@pytest.mark.untraced
def test_nearly_every_conjunct_is_false_once() -> None:
    campaign = run_campaign(World.of("5.3.3", FAULTS), FAULTS, examples=120, steps=50, random_seed=7)
    told = campaign.to_json()["coverage"]
    assert len(told["never_enabled"]) < 15
    assert len(told["never_false"]) < 90
    assert told["states"]["reachable"] == 6_096
    assert told["states"]["missing"]
    assert not {rule for _, rule in campaign.coverage.refused} & LEFT_OUT_RULES.keys()


@pytest.mark.untraced
def test_by_chance_few_states_are_seen_and_the_first_that_are_missing_are_listed() -> None:
    counted = count_states("4.9.7", examples=20, steps=40, random_seed=7, faults=("put_failure",))
    assert counted.drawn + 1 >= counted.seen > 50
    assert counted.seen < counted.reachable // 2
    assert len(counted.missing) == LISTED
    assert all(schedule.count(";") < 12 for schedule in counted.missing), "the shallowest come first"


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("faults", "least"), [((), 300), pytest.param(None, 5_000, marks=pytest.mark.sweep)], ids=["quiet", "all"]
)
def test_steered_the_pair_visits_every_state(faults: tuple[str, ...] | None, least: int) -> None:
    counted = count_states("5.4.0", examples=50, steps=60, random_seed=7, visits_all=True, faults=faults)
    assert least < counted.reachable < 20_000
    assert counted.share == 1.0
    assert counted.missing == ()


def test_a_step_that_is_left_out_ends_the_way_to_a_state(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World.of("4.9.7", (), "counted")
    schedule = "send_half t=0 immunity=-1; leave_it_unknown t=0; tick; tick; tick; begin_round"
    path = read_path(world.machine, world.constants, schedule)
    assert len(steered_along(world, path)) == 6
    monkeypatch.setattr("fuzz.lockstep.pair.is_left_out", lambda step, pair: step.action.name == "begin_round")
    assert len(steered_along(world, path)) == 5
