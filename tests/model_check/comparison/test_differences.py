"""Two releases side by side, by the table of verdicts or by searches; and what an upgrade brings and mends."""

from __future__ import annotations

from typing import Any

import pytest

from model_check.answers.answer import search_portfolio
from model_check.clauses import chosen_clauses, clauses_by_name, name_of
from model_check.comparison.differences import (
    ClauseChange,
    Comparison,
    Difference,
    ProfileVerdict,
    Verdicts,
    compared,
    needs_a_search,
    of_search,
    verdicts_of,
)
from model_check.comparison.upgrade_answer import UpgradeAnswer, UpgradeEntry, upgrade_answer
from model_check.defects.affected import affects
from model_check.defects.catalogue import catalogue
from model_check.instances import load_instance
from model_check.world import Environment, asked_for
from spec.profiles import VERSIONS


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


TINY = load_instance("tiny")
QUIET = Environment()
IMMUNE_HALF, DISCARDED = (clauses_by_name()[name] for name in ("S1.immune_half", "S2.commit_after_discard"))


def compare(before: str, after: str, *faults: str, **question: Any) -> Comparison:
    environment = Environment.of(faults)
    return compared(*(verdicts_of(asked_for(name), environment, **question) for name in (before, after)))


def on_tiny(before: str, after: str, *faults: str) -> Comparison:
    return compare(before, after, *faults, instances=[TINY])


def test_a_repair_that_mends_is_seen_with_what_it_mends() -> None:
    found = on_tiny("4.9.7", "4.9.7+heeds_settled_originals")
    mended = {name_of(one.clause): one for one in found.differences if one.change is ClauseChange.MENDED}
    assert {"S1.immune_half", "S9.immune_half"} <= set(mended)
    assert mended["S1.immune_half"].before == ProfileVerdict("violated", 16, TINY, ("B01",))
    assert mended["S1.immune_half"].after == ProfileVerdict("holds", None, None, ())
    differing = {one.clause for one in found.differences}
    assert differing.isdisjoint(clause for clauses in found.same.values() for clause in clauses)
    assert len(differing) + sum(map(len, found.same.values())) == len(clauses_by_name())


def test_the_same_profile_twice_differs_in_nothing() -> None:
    found = on_tiny("5.4.0", "5.4.0", "crash")
    assert found.differences == ()
    assert set(found.same) == {"violated", "holds", "cannot occur"}
    assert found.to_json()["differences"] == {}


def test_a_repair_that_does_not_mend_the_clause_alone_is_not_taken_for_useless() -> None:
    found = on_tiny("5.4.0", "5.4.0+heeds_settled_originals")
    through = {name_of(one.clause): one for one in found.differences if one.change is ClauseChange.THROUGH}
    assert through["S1.immune_half"].before.resembles == ("B01", "A16", "B05")
    assert through["S1.immune_half"].after.resembles == ("A16", "B05")


def test_what_becomes_worse_stands_first() -> None:
    found = on_tiny("4.9.7", "5.3.3", "crash")
    assert found.differences[0].change is ClauseChange.BROKEN
    broken = {name_of(one.clause) for one in found.differences if one.change is ClauseChange.BROKEN}
    assert "S10.op_entry_dies_with_the_process" in broken
    order = [list(ClauseChange).index(one.change) for one in found.differences]
    assert order == sorted(order)
    told = found.to_json()["differences"]["S10.op_entry_dies_with_the_process"]
    assert told["change"] == "broken now"
    assert told["after"] == {"verdict": "violated", "depth": 4, "instance": "tiny", "resembles": ["B02"]}


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (("violated", 5), ("violated", 7), ClauseChange.LATER),
        (("violated", 7), ("violated", 5), ClauseChange.SOONER),
        (("violated", 5), ("violated", 5), ClauseChange.THROUGH),
        (("holds", None), ("violated", 5), ClauseChange.BROKEN),
        (("unknown", None), ("violated", 5), ClauseChange.FOUND),
        (("violated", 5), ("holds", None), ClauseChange.MENDED),
        (("violated", 5), ("cannot occur", None), ClauseChange.MENDED),
        (("violated", 5), ("unknown", None), ClauseChange.OTHER),
        (("holds", None), ("unknown", None), ClauseChange.OTHER),
    ],
)
def test_what_a_difference_comes_to(
    before: tuple[str, int | None], after: tuple[str, int | None], change: ClauseChange
) -> None:
    sides = (ProfileVerdict(verdict, depth) for verdict, depth in (before, after))
    assert Difference(IMMUNE_HALF, *sides).change is change


@pytest.mark.parametrize(("after_ms", "change"), [(420_001, ClauseChange.SOONER), (900_000, ClauseChange.LATER)])
def test_of_a_configuration_milliseconds_count_and_no_steps_of_other_ticks(after_ms: int, change: ClauseChange) -> None:
    """S2.commit_after_discard from 4.9.7 to 5.3.3: a path of more ticks, over in half the time."""
    before, after = (
        ProfileVerdict("violated", 17, TINY, ("A14",), 840_001),
        ProfileVerdict("violated", 41, TINY, ("A14",), after_ms),
    )
    assert Difference(DISCARDED, before, after).change is change


def test_what_is_broken_after_the_same_milliseconds_is_no_difference() -> None:
    both = (ProfileVerdict("violated", depth, TINY, ("B01",), 60_001) for depth in (17, 40))
    found = compared(*(Verdicts(asked_for("5.4.0"), QUIET, {IMMUNE_HALF: side}) for side in both))
    assert (found.differences, found.same) == ((), {"violated": (IMMUNE_HALF,)})


# --- the table answers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("profile", "faults"), [("5.3.3", ()), ("4.9.7", ("crash",)), ("5.5.1", ("crash", "lose_end"))]
)
def test_the_table_answers_as_a_search_of_the_same_instance(profile: str, faults: tuple[str, ...]) -> None:
    asked, environment = asked_for(profile), Environment.of(faults)
    known = verdicts_of(asked, environment, instances=[TINY])
    searched = of_search(asked, search_portfolio(asked.profile, environment, instances=[TINY]))
    assert (known.known, known.searched) == ((TINY,), ())
    assert {clause: (side.verdict, side.depth) for clause, side in known.sides.items()} == {
        clause: (side.verdict, side.depth) for clause, side in searched.sides.items()
    }
    assert known.distinct == searched.distinct or len(faults) > 1, "of two faults the table has what is new in it"


def test_only_what_the_table_does_not_know_takes_a_search() -> None:
    of_4_9_7, fixed = asked_for("4.9.7"), asked_for("fixed")
    crash, both = Environment.of(["crash"]), Environment.of(["crash", "lose_end"])
    assert not needs_a_search(of_4_9_7, QUIET)
    assert needs_a_search(fixed, crash), "three transactions were searched in the quiet world"
    assert not needs_a_search(fixed, crash, instances=[TINY, load_instance("large@2x3x2")])
    assert needs_a_search(of_4_9_7, both), "two faults at once were searched in two instances"
    assert not needs_a_search(of_4_9_7, both, instances=[TINY])
    assert needs_a_search(asked_for("4.5.2"), QUIET), "it is a profile with a switch turned"
    assert needs_a_search(asked_for("5.4.0+settles_once"), QUIET)
    assert needs_a_search(of_4_9_7, QUIET, most_states=100)


def test_a_table_of_another_specification_answers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model_check.comparison.differences._is_stale", lambda: True)
    assert needs_a_search(asked_for("4.9.7"), QUIET)


def test_three_faults_hold_only_as_far_as_a_search_of_all_three_came(monkeypatch: pytest.MonkeyPatch) -> None:
    """In `tiny` two at once were searched: what two do not break is open, if the search of three is cut short."""
    monkeypatch.setattr("model_check.comparison.differences.MOST_STATES", 300)
    environment = Environment.of(["crash", "lose_end", "slow_local"])
    asked = chosen_clauses(["S2", "S3", "S5"])
    found = verdicts_of(asked_for("4.9.7"), environment, instances=[TINY], clauses=asked)
    assert found.cut_short == (TINY,)
    verdicts = {name_of(clause): side.verdict for clause, side in found.sides.items()}
    assert verdicts["S2.commit_after_rollback"] == "violated"
    assert verdicts["S5.no_commit_arrived"] == "unknown"
    assert "S5.no_commit_arrived" in map(name_of, found.open)
    assert verdicts["S3.not_decided"] == "cannot occur"


# --- what an upgrade brings -------------------------------------------------------------------------------------------


def answer(before: str, after: str, *faults: str) -> UpgradeAnswer:
    return upgrade_answer(compare(before, after, *faults))


def entry(entries: tuple[UpgradeEntry, ...], name: str) -> UpgradeEntry:
    return next(one for one in entries if name in (*one.defects, one.clause and name_of(one.clause)))


def test_from_4_9_7_to_5_5_1_every_defect_of_the_catalogue_stands_in_its_group() -> None:
    found = answer("4.9.7", "5.5.1")
    for name, entries in (("new", found.new), ("mended", found.mended), ("both", found.both)):
        of_catalogue = {one for entry in entries for one in entry.defects}
        for one in catalogue():
            had, has = affects(one, "4.9.7"), affects(one, "5.5.1")
            is_here = {"new": has and not had, "mended": had and not has, "both": had and has}[name]
            assert not is_here or one in of_catalogue, f"{one} is not in {name}"
    spins = entry(found.new, "A17")
    assert (spins.happens, spins.is_always_there) == ("one core is busy for nothing", True)
    assert spins.remedy
    assert entry(found.mended, "R1.pulls_nothing").defects == ("A19",)
    assert entry(found.both, "S1.immune_half").defects == ("B01", "B05")


@pytest.mark.parametrize("before", VERSIONS)
@pytest.mark.parametrize("after", VERSIONS)
def test_what_is_new_and_what_stays_says_what_to_do_gravest_first(before: str, after: str) -> None:
    found = answer(before, after)
    for entries in (found.new, found.both):
        assert all(one.happens and one.remedy for one in entries)
        assert [one.gravity for one in entries] == sorted(one.gravity for one in entries)
    assert not [one.remedy for one in found.mended if one.remedy]
    if before == after:
        assert (found.new, found.mended) == ((), ())


def test_the_way_back_has_what_it_breaks() -> None:
    assert entry(answer("5.5.1", "4.9.7").new, "B18").happens == "everything is checked again; duplicates"


def test_a_repair_mends_what_searches_have_shown_and_no_more() -> None:
    found = upgrade_answer(on_tiny("5.4.0", "5.4.0+heeds_settled_originals"))
    assert "B01" in {one for entry in found.mended for one in entry.defects}
    assert found.new == ()
    assert entry(found.both, "S1.immune_half").defects == ("A16", "B05")


def test_what_a_search_left_open_is_in_no_group() -> None:
    sides = {IMMUNE_HALF: ProfileVerdict("violated", 9, TINY, ("B01",))}, {IMMUNE_HALF: ProfileVerdict("unknown")}
    before, after = (Verdicts(asked_for("5.4.0"), QUIET, side) for side in sides)
    found = compared(before, after)
    assert (found.after.open, found.is_complete) == ((IMMUNE_HALF,), False)
    groups = upgrade_answer(found)
    assert not [one for one in (*groups.new, *groups.mended, *groups.both) if one.clause]


def test_what_the_first_one_left_open_is_not_said_to_be_new_for_certain() -> None:
    sides = {IMMUNE_HALF: ProfileVerdict("unknown")}, {IMMUNE_HALF: ProfileVerdict("violated", 9, TINY, ("B01",))}
    before, after = (Verdicts(asked_for("5.4.0"), QUIET, side) for side in sides)
    (new,) = [one for one in upgrade_answer(compared(before, after)).new if one.clause]
    assert new.happens.endswith("(in 5.4.0 that is open)")
