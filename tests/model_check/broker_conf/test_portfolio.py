"""A configuration over several sizes: one that shows a clause broken is enough, and each must hold it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model_check.broker_conf.answer_json import judgement_to_json
from model_check.broker_conf.configuration import Configuration
from model_check.broker_conf.portfolio import Judgement, judge_configuration
from model_check.check import Verdict

pytestmark = pytest.mark.untraced

ASKED = ("S9.late_op", "S9.second_half", "S1.immune_half", "S10.op_entry_not_stored", "S5.no_commit_arrived")


@pytest.fixture(scope="module")
def judgement() -> Judgement:
    quick = Configuration.of_release("5.3.3")
    return judge_configuration(quick, (), ("tiny", "deep"), properties=ASKED, reading="cpython")


def test_what_one_size_shows_broken_is_not_asked_of_the_next(judgement: Judgement) -> None:
    assert [row.name for row in judgement.broken] == ["S9.late_op"]
    tiny, deep = ({row.name for row in answer.result.clauses} for answer in judgement.answers)
    assert tiny == set(ASKED)
    assert deep == set(ASKED) - {"S9.late_op"}
    assert {row.name: judgement.found_in[row.clause] for row in judgement.broken} == {"S9.late_op": 0}
    assert judgement.after_ms(judgement.broken[0]) == 6_001


def test_what_no_size_can_show_broken_is_no_guarantee(judgement: Judgement) -> None:
    told = {f"{clause.identifier}.{clause.clause}": why for clause, why in judgement.cannot_occur.items()}
    assert told["S1.immune_half"] == "needs a message with an immunity"
    assert "fault" in told["S10.op_entry_not_stored"]
    assert not {*told} & {row.name for row in (*judgement.broken, *judgement.holding)}
    assert {*told} | {row.name for row in (*judgement.broken, *judgement.holding)} == set(ASKED)


def test_the_numbers_are_those_of_all_searches(judgement: Judgement) -> None:
    results = [answer.result for answer in judgement.answers]
    assert judgement.result.distinct == sum(result.distinct for result in results) == 1_574 + 1_943
    told = judgement_to_json(judgement)
    assert [search["instance"] for search in told["searches"]] == ["tiny", "deep"]
    assert [search["distinct"] for search in told["searches"]] == [1_574, 1_943]
    late = told["properties"]["S9"]["clauses"]["late_op"]
    assert (late["after_ms"], late["instance"], late["cannot_occur"]) == (6_001, "tiny", "")
    assert late["remedy"]
    assert late["harm"]


def test_nothing_more_is_searched_when_all_is_broken() -> None:
    quick = Configuration.of_release("5.3.3")
    found = judge_configuration(quick, (), ("tiny", "deep"), properties=("S9.late_op",), reading="cpython")
    assert (found.bases, found.left_out) == (("tiny",), ("deep",))


def test_what_a_size_leaves_open_is_open_unless_a_finer_one_holds_it(judgement: Judgement) -> None:
    """A violation in two checks that the real fifteen refuse says nothing where three checks show none."""
    holds = judgement.holding[0]
    tiny, deep = judgement.answers

    def leave_open(answer: object, *, is_complete: bool) -> Judgement:
        rows = tuple(
            replace(row, verdict=Verdict.UNKNOWN, reason="for once") if row.clause == holds.clause else row
            for row in answer.result.clauses  # type: ignore[attr-defined]
        )
        result = replace(answer.result, clauses=rows, complete=is_complete)  # type: ignore[attr-defined]
        opened = replace(answer, result=result)  # type: ignore[type-var]
        pair = (opened, deep) if answer is tiny else (tiny, opened)
        return Judgement(judgement.configuration, pair, judgement.bases)  # type: ignore[arg-type]

    assert leave_open(tiny, is_complete=True).open == ()
    assert [row.clause for row in leave_open(tiny, is_complete=False).open] == [holds.clause]
    assert [row.clause for row in leave_open(deep, is_complete=True).open] == [holds.clause]
