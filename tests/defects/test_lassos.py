"""A defect that stops something for ever does so as a lasso; what only looks like it comes at last all the same."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from model_check.check import check
from model_check.clauses import clauses_by_name
from model_check.defects.__main__ import lassos
from model_check.defects.findings import LASSO_FINDINGS
from model_check.defects.search import engines_that_agree_on_the_lasso, find_lasso
from model_check.errors import EvaluationError
from model_check.question import Question
from model_check.world import Profile

if TYPE_CHECKING:
    from collections.abc import Iterable

    from model_check.defects.catalogue import LassoSearch

QUESTIONS = {name: question for name, _, question in lassos()}
FINDINGS = LASSO_FINDINGS.read()


@pytest.fixture(autouse=True, params=["endless"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


def test_each_question_is_on_record_and_nothing_else_is() -> None:
    assert list(FINDINGS) == list(QUESTIONS)
    for name, question in QUESTIONS.items():
        assert bool(question.vanishes) == (FINDINGS[name].cycle == 0)
        assert bool(question.vanishes) != bool(question.shows and question.repaired_in)


SMALL = ("A31", "B08")
"""With a fault and without, found and only resembled: in graphs of up to 70,000 states."""


def of_small_ones(names: Iterable[str]) -> list[Any]:
    return [pytest.param(name, marks=() if name in SMALL else pytest.mark.sweep) for name in names]


@pytest.mark.parametrize("name", of_small_ones(QUESTIONS))
def test_the_lasso_is_found_where_the_defect_is_and_nowhere_where_it_is_repaired(name: str) -> None:
    found, recorded = find_lasso(QUESTIONS[name]), FINDINGS[name]
    assert found.lengths == (recorded.stem, recorded.cycle)


@pytest.mark.sweep
@pytest.mark.parametrize("name", [name for name, found in FINDINGS.items() if "networkx" in found.engines])
def test_networkx_decides_the_same(name: str) -> None:
    assert engines_that_agree_on_the_lasso(QUESTIONS[name], find_lasso(QUESTIONS[name])) == ("numba", "networkx")


TWO_ROUNDS = {
    "A03": "L4.left_behind",
    "A07": "L3.undecodable_half",
    "A08": "L3.exception",
    "B07": "L3.poison_half",
    "B08": "L3.failed_put",
    "B17": "L3.undecodable_op",
    "B29": "L3.time_limit",
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "B08" else pytest.mark.sweep) for name in TWO_ROUNDS]
)
def test_the_safety_clause_is_broken_in_the_same_world_whether_there_is_a_lasso_or_not(name: str) -> None:
    clauses = (clauses_by_name()[TWO_ROUNDS[name]],)
    assert check(Question(world=QUESTIONS[name].world, clauses=clauses, until=clauses)).violated


def question(name: str, **changes: Any) -> LassoSearch:
    return replace(QUESTIONS[name], **changes)


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        (
            question("A03", vanishes="", shows=("tick",)),
            "P9.ops is holds in 4.5.1 in the quiet world on endless, not vio",
        ),
        pytest.param(
            question("A07", shows=("discard_half",)),
            "has no step 'discard_half' where it is expected; in order it should",
            marks=pytest.mark.sweep,
        ),
        (
            question("A07", repaired_in=Profile.of("4.5.1")),
            "P8.halves is violated in 4.5.1 with undecodable_half on endless, not ho",
        ),
        pytest.param(
            question("A07", vanishes="It does not."),
            "P8.halves is violated in 4.5.1 with undecodable_half on endless, no",
            marks=pytest.mark.sweep,
        ),
    ],
)
def test_what_is_not_as_the_catalogue_says_is_told(asked: LassoSearch, complaint: str) -> None:
    with pytest.raises(EvaluationError, match=complaint):
        find_lasso(asked)
