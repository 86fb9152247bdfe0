"""Which known defect a counterexample shows, decided by its steps and by the repairs that stop it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from model_check.answers.answer import answer_of
from model_check.check import check
from model_check.clauses import chosen_clauses, clauses_by_name, name_of
from model_check.counterexample.steps import read_path
from model_check.defects.affected import affects
from model_check.defects.catalogue import catalogue
from model_check.defects.resemblance import (
    is_repaired,
    repaired_by_hand,
    repairs_of,
    resembled,
    still_breaks,
    unrepaired,
    with_turns,
)
from model_check.instances import load_instance
from model_check.question import Question
from model_check.verdicts.counterexamples import read_counterexamples
from model_check.verdicts.table import table_file
from model_check.world import Profile, World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from spec.language import Property

LATE_BATCH = (
    "send_half t=0 immunity=3; commit_locally t=0; tick; begin_round; put_back_immune_half; end_round_at_fresh_half; "
    "tick; store_real_message h=0; buffer_op h=0; tick; tick; begin_round; put_back_and_check; answer_check h=2; "
    "store_real_message h=2"
)
READ_IN_TIME = (
    "send_half t=0 immunity=3; commit_locally t=0; tick; begin_round; put_back_immune_half; "
    "store_real_message h=0; write_op h=0; end_round_at_fresh_half; tick; tick; tick; begin_round; "
    "pull_more_ops; put_back_and_check; answer_check h=2; store_real_message h=2"
)


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def shown(world: World, clause: Property, steps: str) -> tuple[str, ...]:
    path = read_path(TRANSACTIONAL_MESSAGES, world.constants, steps)
    assert still_breaks(TRANSACTIONAL_MESSAGES, world.constants, clause, path)
    return resembled(TRANSACTIONAL_MESSAGES, world.constants, clause, path)


def shown_by_immune_half(profile: str, steps: str) -> tuple[str, ...]:
    return shown(World.of(profile), clauses_by_name()["S1.immune_half"], steps)


def test_a_schedule_that_only_the_repair_of_b01_stops_shows_b01() -> None:
    assert shown_by_immune_half("4.9.7", READ_IN_TIME) == ("B01",)


def test_with_b01_repaired_the_same_clause_is_broken_through_a_late_batch() -> None:
    assert shown_by_immune_half("5.4.0+heeds_settled_originals", LATE_BATCH) == ("A16", "B05")


def test_where_the_repair_of_b01_alone_does_not_stop_the_schedule_all_that_it_takes_are_named() -> None:
    assert shown_by_immune_half("5.4.0", LATE_BATCH) == ("B01", "A16", "B05")


def test_the_search_of_a_repaired_profile_names_what_is_left_and_not_what_is_repaired() -> None:
    finding = check(Question.of("5.4.0+heeds_settled_originals", properties=["S1.immune_half"]))
    answer = answer_of(finding)
    assert (answer.rows[0].depth, answer.rows[0].resembles) == (15, ("A16", "B05"))
    content = answer.to_json()["properties"]["S1"]
    assert content["resembles"] == content["clauses"]["immune_half"]["resembles"] == ["A16", "B05"]


@pytest.mark.parametrize(
    ("clause", "faults", "expected"),
    [
        ("S10.op_entry_dies_with_the_process", ("crash",), ("B02",)),
        ("S10.op_entry_dies_with_the_process", ("graceful_stop",), ("B03",)),
        ("L2.nobody_to_ask", ("offline_producer",), ("B19",)),
        ("L2.nobody_to_ask", ("restarted_producer",), ("A35",)),
        ("R1.forks", ("offset_regression",), ("B16",)),
        ("R1.forks", ("null_half",), ("A08",)),
        ("S1.end_after_escape", ("acting_slave",), ()),
    ],
)
def test_of_the_defects_that_a_clause_resembles_the_one_that_is_there_is_named(
    clause: str, faults: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    finding = check(Question.of("5.4.0", faults, "tiny", properties=[clause], until_violated=True))
    assert answer_of(finding).rows[0].resembles == expected


def test_every_schedule_of_a_release_on_tiny_shows_a_defect_that_its_clause_resembles_or_none_that_is_repaired() -> (
    None
):
    """Among all minimal schedules on record; those of S1.immune_half show more than the clause says."""
    schedules, _ = read_counterexamples(table_file().with_name("schedules.toml"))
    tiny, more = load_instance("tiny"), []
    for one in schedules:
        for profile in one.profiles:
            if one.instance == tiny and len(one.environment) < 2:
                ids = shown(World(profile, one.environment, tiny), one.clause, one.steps)
                open_here = set(unrepaired(one.clause, profile.switches))
                assert not any(is_repaired(i, profile.switches) for i in ids), one
                assert all(affects(i, profile.name) for i in ids), one
                searches = [catalogue()[i].search for i in open_here]
                may_occur = any(s is None or s.world.environment.is_within(one.environment) for s in searches)
                assert may_occur <= bool(ids) <= bool(open_here), one
                if not set(ids) <= open_here:
                    more.append((profile.name, name_of(one.clause), ids))
    assert more == [
        *((profile, "S1.immune_half", ("B01", "A16", "B05")) for profile in ("5.3.3", "5.4.0")),
        *((profile, "S1.immune_half", ("B01", "B05")) for profile in ("5.5.0", "5.5.1")),
    ]


def test_a_release_without_batches_writes_at_once_what_the_path_buffers() -> None:
    constants = World.of("5.4.0").constants
    path = read_path(TRANSACTIONAL_MESSAGES, constants, LATE_BATCH)
    turned, steps = with_turns(TRANSACTIONAL_MESSAGES, constants, path, {"batches_ops": False})
    assert turned == replace(constants, batches_ops=False)
    assert [str(step) for step in steps] == [
        "write_op h=0" if str(step) == "buffer_op h=0" else str(step) for step in path
    ]


def test_what_a_profile_repairs_by_its_turned_switches_is_known() -> None:
    older = Profile.of("5.3.3")
    (immune, lost) = chosen_clauses(["S1.immune_half", "S1.lost_op"])
    assert repaired_by_hand(immune, Profile.of("5.4.0+heeds_settled_originals")) == ("B01",)
    assert repaired_by_hand(lost, older.turn("+keeps_failed_ops", "+flushes_on_stop")) == ("B04",), "B53 is left"
    every = older.turn("+keeps_failed_ops", "+flushes_on_stop", "+awaits_ends_on_stop")
    assert repaired_by_hand(lost, every) == ("B03", "B04", "B53")
    assert repaired_by_hand(lost, older.turn("+heeds_settled_originals")) == ()
    assert repaired_by_hand(immune, Profile.of("fixed")) == (), "it is so in the profile itself"


def test_each_defect_with_a_repaired_profile_is_repaired_there_and_not_where_it_is_found() -> None:
    for identifier, defect in catalogue().items():
        if defect.search is not None and defect.search.repaired_in is not None:
            assert repairs_of(identifier), identifier
            assert is_repaired(identifier, defect.search.repaired_in.switches), identifier
            assert not is_repaired(identifier, defect.search.world.profile.switches), identifier
    assert repairs_of("A05") == ()
