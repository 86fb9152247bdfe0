"""A search that does not find what the catalogue says is told apart from one that does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from model_check.check import Verdict, check
from model_check.defects import search as search_module
from model_check.defects.catalogue import catalogue
from model_check.defects.resemblance import first_step_missing
from model_check.defects.search import (
    absence,
    find,
    readings_of_the_absence,
    readings_of_the_defect,
    without_repair,
)
from model_check.errors import EvaluationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.defects.question import Search

pytestmark = pytest.mark.untraced

B01 = catalogue()["B01"].search
assert B01 is not None


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def changed(**changes: Any) -> Search:
    assert B01 is not None
    return replace(B01, **changes)


def test_the_search_in_the_affected_profile_ends_where_the_defect_shows() -> None:
    found = find(changed())
    assert (found.depth, found.absence, found.affected.complete) == (16, "holds", False)
    assert found.affected.depth == 16
    assert found.repaired is not None
    assert found.repaired.complete


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"profile": "4.9.7+heeds_settled_originals"}, r"^S1\.immune_half holds in 4\.9\.7\+heeds.*all reachable"),
        ({"repaired_in": "5.4.0"}, r"^S1\.immune_half is violated in 5\.4\.0 in the quiet world on tiny at depth 15"),
        ({"shows": ("crash",)}, r"^the shortest schedule that breaks S1\.immune_half .* has no step 'crash'"),
        ({"most_states": 50}, r"was cut short among .* states, before the 16 steps of the defect: raise most_states$"),
    ],
)
def test_what_is_not_as_the_catalogue_says_is_named(changes: dict[str, object], complaint: str) -> None:
    with pytest.raises(EvaluationError, match=complaint):
        find(changed(**changes))


def test_a_search_that_is_cut_short_behind_the_defect_says_how_far_it_went() -> None:
    found = find(changed(most_states=2_150))
    assert found.repaired is not None
    assert not found.repaired.complete
    assert found.repaired.depth > found.depth
    assert found.absence == f"no violation in {found.repaired.depth - 1} steps" == absence(found.repaired)


def test_what_a_larger_instance_shows_later_is_shown_with_both_depths() -> None:
    ((_, search),) = catalogue()["A20"].questions
    found = find(search)
    assert (found.depth, found.absence) == (11, "13 steps on patient")
    assert readings_of_the_defect(search, found) == readings_of_the_absence(search, found) == ("numba", "cpython")


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        (
            {"later_on": "tiny"},
            r"^L3\.time_limit is violated at depth 11 in 5\.3\.3 with slow_round on tiny, .* depth 11$",
        ),
        (
            {"profile": "4.9.7", "faults": (), "clause": "S1.immune_half", "shows": (), "later_on": "skewed"},
            r"^S1\.immune_half is not violated in 4\.9\.7 in the quiet world on skewed, where it should .* depth 16$",
        ),
    ],
)
def test_what_a_larger_instance_does_not_show_later_is_named(changes: dict[str, Any], complaint: str) -> None:
    ((_, search),) = catalogue()["A20"].questions
    with pytest.raises(EvaluationError, match=complaint):
        find(replace(search, **changes))


def test_where_the_states_are_too_many_the_schedule_is_taken_in_the_second_reading(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    search, found = changed(), find(changed())
    monkeypatch.setattr(search_module, "Z3_STATES", 1_000)
    assert readings_of_the_defect(search, found, most_states=0) == ("numba", "replay")


@pytest.mark.parametrize(
    ("shows", "missing"),
    [
        (["send_half", "tick", "tick"], None),
        (["send_half t=0 immunity=3", "store_real_message h=2"], None),
        (["store_real_message h=2", "send_half"], "send_half"),
        (["send_half t=0 immunity=-1"], "send_half t=0 immunity=-1"),
        (["send_half", "send_half"], "send_half"),
        (["send"], "send"),
        (["lose_end | send_half", "tick"], None),
        (["send_half | tick", "lose_end | send_half"], "lose_end | send_half"),
    ],
)
def test_steps_are_looked_for_in_their_order(shows: Sequence[str], missing: str | None) -> None:
    violated = find(changed(repaired_in="")).violated
    assert first_step_missing(violated.path or (), shows) == missing


def test_a_second_reading_must_find_the_same_depth_and_the_same_states() -> None:
    search, found = changed(), find(changed())
    assert readings_of_the_defect(search, found) == readings_of_the_absence(search, found) == ("numba", "cpython")
    for wrong in (
        replace(found, violated=replace(found.violated, path=(found.violated.path or ())[1:])),
        replace(found, affected=replace(found.affected, distinct=found.affected.distinct + 1)),
    ):
        with pytest.raises(
            EvaluationError, match=r"^S1\.immune_half in 4\.9\.7 on tiny: numba finds .*, cpython finds "
        ):
            readings_of_the_defect(search, wrong)
    assert found.repaired is not None
    wrong = replace(found, repaired=replace(found.repaired, distinct=found.repaired.distinct + 1))
    with pytest.raises(
        EvaluationError, match=r"numba finds depth None among 2,778 states, cpython finds .* 2,777 states"
    ):
        readings_of_the_absence(search, wrong)


def test_z3_is_the_second_reading_where_the_states_are_many() -> None:
    search = catalogue()["B02"].search
    assert search is not None
    found = find(search)
    assert readings_of_the_defect(search, found, most_states=0) == ("numba", "z3")
    assert readings_of_the_absence(search, found, most_states=0) == ("numba",)
    assert readings_of_the_absence(without_repair(search), replace(found, repaired=None)) == ()
    wrong = replace(found, violated=replace(found.violated, path=(found.violated.path or ())[1:]))
    with pytest.raises(EvaluationError, match="numba finds depth 3, z3 finds depth None"):
        readings_of_the_defect(search, wrong, most_states=0)


@pytest.mark.parametrize("engine", ["numba", "cpython"])
def test_a_search_until_a_violation_gives_the_depth_and_the_path_of_the_whole_search(engine: str) -> None:
    clauses = ("S9.immune_half", "S1.immune_half")
    whole, short = (
        check("4.9.7", (), "tiny", properties=clauses, engine=engine, until_violated=until) for until in (False, True)
    )
    assert [(r.verdict, r.path) for r in short.clauses] == [(r.verdict, r.path) for r in whole.clauses]
    assert [r.depth for r in short.clauses] == [16, 13]
    assert (whole.complete, short.complete, short.depth) == (True, False, 16)
    assert short.distinct < whole.distinct


@pytest.mark.parametrize("engine", ["numba", "cpython"])
def test_a_search_until_a_violation_that_never_comes_is_complete(engine: str) -> None:
    result = check("4.9.7", (), "tiny", properties=("S10", "S9"), engine=engine, until_violated=True)
    assert result.complete
    assert next(r for r in result.clauses if r.clause.identifier == "S10").verdict is Verdict.HOLDS
