"""A search that does not find what the catalogue says is told apart from one that does."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from model_check.check import check
from model_check.defects import search as search_module
from model_check.defects.catalogue import catalogue
from model_check.defects.resemblance import first_step_missing
from model_check.defects.search import (
    engines_that_agree_on_its_absence,
    engines_that_agree_on_its_depth,
    find,
    without_repair,
)
from model_check.engines import ENGINES
from model_check.errors import EvaluationError
from model_check.finding import Verdict
from model_check.instances import load_instance
from model_check.question import Question
from model_check.world import Profile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.defects.catalogue import DefectSearch
    from model_check.defects.search import FoundDefect
    from model_check.finding import Finding

pytestmark = pytest.mark.untraced

B01 = catalogue()["B01"].search
assert B01 is not None
CHECKED = cache(check)
((_, A20),) = catalogue()["A20"].questions


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


@pytest.fixture(autouse=True)
def each_question_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module, "check", CHECKED)


def changed(**changes: Any) -> DefectSearch:
    assert B01 is not None
    return replace(B01, **changes)


def both_agreements(search: DefectSearch, found: FoundDefect) -> list[tuple[str, ...]]:
    return [engines_that_agree_on_its_depth(search, found), engines_that_agree_on_its_absence(search, found)]


def with_a_state_more(finding: Finding) -> Finding:
    return replace(finding, numbers=replace(finding.numbers, distinct=finding.numbers.distinct + 1))


def test_the_search_in_the_affected_profile_ends_where_the_defect_shows() -> None:
    found = find(changed())
    assert (found.depth, found.absence, found.affected.numbers.complete) == (16, "holds", False)
    assert found.affected.numbers.depth == 16
    assert found.repaired is not None
    assert found.repaired.numbers.complete


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        (
            {"world": B01.world.in_profile(Profile.of("4.9.7+heeds_settled_originals"))},
            r"^S1\.immune_half holds in 4\.9\.7\+heeds.*all reachable",
        ),
        (
            {"repaired_in": Profile.of("5.4.0")},
            r"^S1\.immune_half is violated in 5\.4\.0 in the quiet world on tiny at depth 15",
        ),
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
    assert not found.repaired.numbers.complete
    assert found.repaired.numbers.depth > found.depth
    assert found.absence == f"no violation in {found.repaired.numbers.depth - 1} steps"


def test_what_a_larger_instance_shows_later_is_shown_with_both_depths() -> None:
    found = find(A20)
    assert (found.depth, found.absence) == (11, "13 steps on patient")
    assert both_agreements(A20, found) == [("numba", "cpython")] * 2


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        (
            {"later_on": load_instance("tiny")},
            r"^L3\.time_limit is violated at depth 11 in 5\.3\.3 with slow_round on tiny, .* depth 11$",
        ),
        (
            {"world": B01.world, "clause": B01.clause, "shows": (), "later_on": load_instance("skewed")},
            r"^S1\.immune_half is not violated in 4\.9\.7 in the quiet world on skewed, where it should .* depth 16$",
        ),
    ],
)
def test_what_a_larger_instance_does_not_show_later_is_named(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(EvaluationError, match=complaint):
        find(replace(A20, **changes))


def test_where_the_states_are_too_many_the_schedule_is_taken_by_the_second_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    search, found = changed(), find(changed())
    monkeypatch.setattr(search_module, "Z3_STATES", 1_000)
    assert engines_that_agree_on_its_depth(search, found, most_states=0) == ("numba", "replay")


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
    violated = find(changed(repaired_in=None)).violated
    assert first_step_missing(violated.path, shows) == missing


def test_a_second_engine_must_find_the_same_depth_and_the_same_states() -> None:
    search, found = changed(), find(changed())
    assert both_agreements(search, found) == [("numba", "cpython")] * 2
    for wrong in (
        replace(found, violated=replace(found.violated, depth=found.depth - 1)),
        replace(found, affected=with_a_state_more(found.affected)),
    ):
        with pytest.raises(
            EvaluationError, match=r"^S1\.immune_half in 4\.9\.7 on tiny: numba finds .*, cpython finds "
        ):
            engines_that_agree_on_its_depth(search, wrong)
    assert found.repaired is not None
    wrong = replace(found, repaired=with_a_state_more(found.repaired))
    with pytest.raises(
        EvaluationError, match=r"numba finds depth None among 2,778 states, cpython finds .* 2,777 states"
    ):
        engines_that_agree_on_its_absence(search, wrong)


def test_z3_is_the_second_engine_where_the_states_are_many() -> None:
    search = catalogue()["B02"].search
    assert search is not None
    found = find(search)
    assert engines_that_agree_on_its_depth(search, found, most_states=0) == ("numba", "z3")
    assert engines_that_agree_on_its_absence(search, found, most_states=0) == ("numba",)
    assert engines_that_agree_on_its_absence(without_repair(search), replace(found, repaired=None)) == ()
    wrong = replace(found, violated=replace(found.violated, depth=found.depth - 1))
    with pytest.raises(EvaluationError, match="numba finds depth 3, z3 finds depth None"):
        engines_that_agree_on_its_depth(search, wrong, most_states=0)


@pytest.mark.parametrize("engine", ["numba", "cpython"])
def test_a_search_until_a_violation_gives_the_depth_and_the_path_of_the_whole_search(engine: str) -> None:
    clauses = ("S9.immune_half", "S1.immune_half")
    whole, short = (
        check(Question.of("4.9.7", (), "tiny", properties=clauses, until_violated=until), ENGINES[engine])
        for until in (False, True)
    )
    assert [(r.verdict, r.path) for r in short.rows] == [(r.verdict, r.path) for r in whole.rows]
    assert [r.depth for r in short.rows] == [16, 13]
    assert (whole.numbers.complete, short.numbers.complete, short.numbers.depth) == (True, False, 16)
    assert short.numbers.distinct < whole.numbers.distinct


@pytest.mark.parametrize("engine", ["numba", "cpython"])
def test_a_search_until_a_violation_that_never_comes_is_complete(engine: str) -> None:
    question = Question.of("4.9.7", (), "tiny", properties=("S10", "S9"), until_violated=True)
    result = check(question, ENGINES[engine])
    assert result.numbers.complete
    assert next(r for r in result.rows if r.clause.identifier == "S10").verdict is Verdict.HOLDS
