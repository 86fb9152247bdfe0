"""Is it counted what the examples have tried, and is what nothing tried named?"""

from __future__ import annotations

import random

import pytest

from fuzz.actions.check_round import begin_round
from fuzz.lockstep.forbidden import is_allowed
from fuzz.lockstep.pairing import DRIVEN, Pair, Pairing
from fuzz.search import coverage
from fuzz.search.campaign import run_campaign
from fuzz.search.coverage import EXCLUDED_RULES, LISTED, GuardCoverage, Guards, count_states, states_along
from fuzz.search.workloads import MoveTable
from model_check.counterexample.steps import read_path
from model_check.world import Profile
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
    assert Guards.of(Pairing.of("4.9.7", ())).allowed == QUIET
    all_of_4_5_1 = Guards.of(Pairing.of("4.5.1", FAULTS)).allowed
    all_of_5_3_3 = Guards.of(Pairing.of("5.3.3", FAULTS)).allowed
    assert {"write_op", "fail_to_write_op", "abort_at_undecodable_half"} <= all_of_4_5_1 - all_of_5_3_3
    assert {"buffer_op", "let_half_escape", "deliver_escaped"} <= all_of_5_3_3 - all_of_4_5_1


def test_what_an_action_needs_are_switches_and_faults_of_actions_that_are_driven() -> None:
    named = {name.lstrip("-") for record in DRIVEN.values() for needed in record.needs for name in needed.split()}
    assert named <= {*FAULTS, *SWITCHES}


def test_a_run_that_tries_nothing_covers_nothing() -> None:
    guards = Guards.of(Pairing.of("5.3.3", FAULTS))
    coverage = GuardCoverage(guards)
    assert coverage.never_enabled == sorted(guards.allowed)
    assert set(coverage.never_false) == guards.open


def test_a_step_that_was_tried_is_counted() -> None:
    pairing = Pairing.of("5.3.3", FAULTS)
    coverage = GuardCoverage(Guards.of(pairing))
    step = pairing.steps_of["begin_round"][0]
    coverage.note(step, None)
    coverage.note(step, Refused("require", "no round runs"))
    assert "begin_round" not in coverage.never_enabled
    assert ("begin_round", "no round runs") not in coverage.never_false
    assert ("begin_round", "the check interval is over since the last round") in coverage.never_false


@pytest.mark.parametrize("profile", ["4.5.1", "5.4.0"])
def test_without_its_faults_nothing_that_is_excluded_is_possible(profile: str) -> None:
    """Each excluded action is closed, state by state, on schedules that reach what the lockstep reaches."""
    pairing = Pairing.of(profile, FAULTS)
    spared = [s for s in TRANSACTIONAL_MESSAGES.steps(pairing.constants) if s.action.name not in DRIVEN]
    table = MoveTable.of(pairing)
    chance = random.Random(7)
    for workload in range(len(table.draws)):
        pair = Pair(pairing)
        for step in table.starts[workload]:
            pair.take(step)
        for _ in range(10):
            table.move(pair, workload, chance.randrange(1 << 24), lambda step, refused: None)
            assert [str(step) for step in spared if is_allowed(pair, step) is None] == []


@pytest.mark.untraced
def test_nearly_every_conjunct_is_false_once() -> None:
    campaign = run_campaign(Pairing.of("5.3.3", FAULTS), examples=120, steps=50, random_seed=7)
    coverage = campaign.to_json()["coverage"]
    assert len(coverage["never_enabled"]) < 15
    assert len(coverage["never_false"]) < 90
    assert coverage["states"]["reachable"] == 6_096
    assert coverage["states"]["missing"]
    assert not {rule for _, rule in campaign.coverage.refused} & EXCLUDED_RULES.keys()


@pytest.mark.untraced
def test_by_chance_few_states_are_seen_and_the_first_that_are_missing_are_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(coverage._COUNTED_FAULTS, "4.9.7", ("put_failure",))
    counted = count_states(Profile.of("4.9.7"), examples=20, steps=40, random_seed=7)
    assert counted.drawn + 1 >= counted.seen > 50
    assert counted.seen < counted.reachable // 2
    assert len(counted.missing) == LISTED
    assert all(schedule.count(";") < 12 for schedule in counted.missing), "the shallowest come first"


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("faults", "least"), [((), 300), pytest.param(None, 5_000, marks=pytest.mark.sweep)], ids=["quiet", "all"]
)
def test_steered_the_pair_visits_every_state(
    faults: tuple[str, ...] | None, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if faults is not None:
        monkeypatch.setitem(coverage._COUNTED_FAULTS, "5.4.0", faults)
    counted = count_states(Profile.of("5.4.0"), examples=50, steps=60, random_seed=7, visits_all=True)
    assert least < counted.reachable < 20_000
    assert counted.share == 1.0
    assert counted.missing == ()


def test_an_excluded_step_ends_the_way_to_a_state(monkeypatch: pytest.MonkeyPatch) -> None:
    pairing = Pairing.of("4.9.7", (), "counted")
    schedule = "send_half t=0 immunity=-1; leave_it_unknown t=0; tick; tick; tick; begin_round"
    path = read_path(pairing.machine, pairing.constants, schedule)
    assert len(states_along(pairing, path)) == 6
    monkeypatch.setattr("fuzz.lockstep.pairing.is_excluded", lambda record, *state: record is begin_round)
    assert len(states_along(pairing, path)) == 5
