"""All minimal sets of repairs with which a clause holds, and the schedules that rule the other sets out."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from model_check.answers.minimal_repairs import RepairsProgress, candidates_of, find_minimal_repairs
from model_check.check import check
from model_check.clauses import clauses_by_name
from model_check.finding import Verdict
from model_check.instances import load_instance
from model_check.question import Question
from model_check.world import Environment, Profile

if TYPE_CHECKING:
    from model_check.answers.minimal_repairs import MinimalRepairs

SIX = (
    "-batches_ops",
    "-batch_thread_oversleeps",
    "+heeds_settled_originals",
    "+links_every_copy",
    "+settles_once",
    "+keeps_check_open",
)


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def repairs(profile: str, clause: str, *faults: str, **more: Any) -> MinimalRepairs:
    """`find_minimal_repairs` of these names, in the smallest instance."""
    world = Profile.of(profile), Environment.of(faults)
    return find_minimal_repairs(*world, clauses_by_name()[clause], instances=[load_instance("tiny")], **more)


def holds(profile: str, clause: str) -> bool:
    found = check(Question.of(profile, properties=[clause], until_violated=True))
    return found.rows[0].verdict is Verdict.HOLDS


@pytest.mark.parametrize("clause", ["S1.immune_half", "S9.late_op"])
def test_the_sets_are_those_that_a_search_of_every_set_finds(clause: str) -> None:
    good: list[tuple[str, ...]] = []
    for size in range(1, 4):
        for turns in combinations(SIX, size):
            if not any(set(part) <= set(turns) for part in good) and holds(f"5.4.0{''.join(turns)}", clause):
                good.append(turns)
    found = repairs("5.4.0", clause, among=SIX)
    assert [one.repairs for one in found.sets] == good
    assert len(good) > 1


def test_b01_of_a_broker_with_op_batches_takes_two_repairs_or_an_index() -> None:
    found = repairs("5.4.0", "S1.immune_half")
    assert [one.repairs for one in found.sets] == [("+settles_once",), ("-batches_ops", "+heeds_settled_originals")]
    assert all(one.certain for one in found.sets)
    assert {"A11", "A12", "A13", "B16"} <= set(found.sets[0].defects)
    assert found.sets[1].defects == ("A15", "B01", "B05", "B47")
    assert (found.known, found.with_all) == (Verdict.VIOLATED, None)
    assert found.broken is not None
    assert (found.broken.depth, found.instances) == (15, (load_instance("tiny"),))
    n = len(found.candidates)
    of_two, of_three = n * (n - 1) // 2, n * (n - 1) * (n - 2) // 6
    with_the_index = 1 + (n - 1) + (n - 1) * (n - 2) // 2
    with_the_two = 1 + (n - 3)
    sets_that_no_part_of_mends = 1 + n + of_two + of_three - with_the_index - with_the_two
    assert found.searched + found.ruled_out == sets_that_no_part_of_mends + 2, "the two that mend it are searched, too"
    assert found.searched < 10, "schedules rule out the others"


def test_the_progress_says_how_many_sets_are_done_with_and_what_is_searched() -> None:
    told = str(RepairsProgress(clauses_by_name()["S1.immune_half"], 1_234, 5, "5.4.0+settles_once on tiny", 6_789))
    assert told == "S1.immune_half: 1,234 sets ruled out, 5 searched · 5.4.0+settles_once on tiny · 6,789 states"


def test_beside_a_repair_that_is_on_only_the_other_is_missing() -> None:
    found = repairs("5.4.0+heeds_settled_originals", "S1.immune_half", among=SIX)
    assert [one.repairs for one in found.sets] == [("-batches_ops",), ("+settles_once",)]


def test_where_a_clause_holds_there_is_nothing_to_repair() -> None:
    found = repairs("fixed", "S1.immune_half")
    assert (found.known, found.broken, found.sets, found.candidates) == (Verdict.HOLDS, None, (), ())
    assert found.to_json()["sets"] == []


def test_what_no_small_set_mends_is_asked_with_all_repairs() -> None:
    found = repairs("5.3.3", "L5.end_lost", "lose_end", most_repairs=1)
    assert (found.sets, found.with_all) == ((), Verdict.VIOLATED), "nothing in the broker repairs a lost request"


def test_a_set_whose_search_was_cut_short_is_not_certain() -> None:
    found = repairs("4.9.7", "S1.immune_half", among=("+heeds_settled_originals",), most_states=2200)
    assert [(one.repairs, one.certain) for one in found.sets] == [(("+heeds_settled_originals",), False)]


def test_the_answer_as_plain_data_has_what_it_takes_to_ask_again() -> None:
    told = repairs("4.9.7", "S1.immune_half", among=SIX).to_json()
    assert told["sets"][0] == {
        "repairs": ["+heeds_settled_originals"],
        "profile": "4.9.7+heeds_settled_originals",
        "defects": ["A15", "B01", "B47"],
        "certain": True,
    }
    assert told["resembles"] == ["B01"]
    assert told["replay"].startswith("halfcheck replay --profile 4.9.7 --instance tiny --steps ")
    jsonschema.validate(
        told, {"required": ["verdict", "depth", "instance", "sets", "with_all", "searched", "ruled_out"]}
    )


def test_the_candidates_are_what_the_repaired_profile_has_and_this_one_has_not() -> None:
    profile = Profile.of("5.4.0")
    assert candidates_of(Profile.of("fixed")) == ()
    assert "+batches_ops" not in candidates_of(Profile.of("4.9.7"))
    assert set(candidates_of(profile)) - set(candidates_of(profile.turn("+settles_once"))) == {"+settles_once"}
