"""A configuration over several sizes: one that shows a clause broken is enough, and each must hold it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from model_check.broker_conf.judgement import ConfJudgement, judge_configuration
from model_check.clauses import chosen_clauses, name_of
from model_check.configuration import Configuration
from model_check.engines import CPYTHON
from model_check.finding import Unknown
from model_check.instances import load_instance
from model_check.world import Environment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from model_check.finding import Row
    from spec.constants import Instance

pytestmark = pytest.mark.untraced

TINY, DEEP, TRIO = map(load_instance, ("tiny", "deep", "trio"))
QUIET = Environment()
ASKED = ("S9.late_op", "S9.second_half", "S1.immune_half", "S10.op_entry_not_stored", "S5.no_commit_arrived")


@pytest.fixture(scope="module")
def judgement() -> ConfJudgement:
    quick = Configuration.of_release("5.3.3")
    return judge_configuration(quick, QUIET, (TINY, DEEP), clauses=chosen_clauses(ASKED), engine=CPYTHON)


def test_what_one_size_shows_broken_is_not_asked_of_the_next(judgement: ConfJudgement) -> None:
    assert [row.name for row in judgement.broken] == ["S9.late_op"]
    tiny, deep = ({row.name for row in answer.finding.rows} for answer in judgement.answers)
    assert tiny == set(ASKED)
    assert deep == set(ASKED) - {"S9.late_op"}
    assert {row.name: judgement.shown_by[row.clause].base for row in judgement.broken} == {"S9.late_op": TINY}
    assert judgement.after_ms(judgement.broken[0]) == 6_001


def test_what_no_size_can_show_broken_is_no_guarantee(judgement: ConfJudgement) -> None:
    told = {name_of(clause): why for clause, why in judgement.cannot_occur.items()}
    assert told["S1.immune_half"] == "needs a message with an immunity"
    assert "fault" in told["S10.op_entry_not_stored"]
    others = {row.name for rows in (judgement.broken, judgement.holding) for row in rows}
    assert not {*told} & others
    assert {*told} | others == set(ASKED)


def test_the_numbers_are_those_of_all_searches(judgement: ConfJudgement) -> None:
    numbers = [answer.finding.numbers for answer in judgement.answers]
    assert judgement.whole.numbers.distinct == sum(one.distinct for one in numbers) == 3_861 + 8_602
    told = judgement.to_json()
    assert [search["instance"] for search in told["searches"]] == ["tiny", "deep"]
    assert [search["distinct"] for search in told["searches"]] == [3_861, 8_602]
    late = told["properties"]["S9"]["clauses"]["late_op"]
    assert (late["after_ms"], late["instance"], late["cannot_occur"]) == (6_001, "tiny", "")
    assert late["remedy"]
    assert late["harm"]


def test_nothing_more_is_searched_when_all_is_broken() -> None:
    quick = Configuration.of_release("5.3.3")
    found = judge_configuration(quick, QUIET, (TINY, DEEP), clauses=chosen_clauses(["S9.late_op"]), engine=CPYTHON)
    assert (found.bases, found.left_out) == ((TINY,), (DEEP,))


def opened(
    judgement: ConfJudgement,
    base: Instance,
    row: Row,
    sizes: Mapping[str, Any] | None = None,
    *,
    is_complete: bool = True,
) -> ConfJudgement:
    """The judgement with the verdict of one size left open, and that size perhaps larger than it is."""
    answers = list(judgement.answers)
    place = judgement.bases.index(base)
    finding, constants = answers[place].finding, answers[place].constants
    rows = tuple(Unknown(one.clause, "") if one.clause == row.clause else one for one in finding.rows)
    finding = replace(finding, rows=rows, numbers=replace(finding.numbers, complete=is_complete))
    answers[place] = replace(answers[place], finding=finding, constants=replace(constants, **(sizes or {})))
    return ConfJudgement(judgement.configuration, tuple(answers))


def test_what_a_size_leaves_open_is_open_unless_a_finer_one_holds_it(judgement: ConfJudgement) -> None:
    """A violation in two checks that the real fifteen refuse says nothing where three checks show none."""
    holds = judgement.holding[0]
    assert opened(judgement, TINY, holds).open == ()
    assert [row.clause for row in opened(judgement, TINY, holds, is_complete=False).open] == [holds.clause]
    assert [row.clause for row in opened(judgement, DEEP, holds).open] == [holds.clause]


def test_a_finer_size_settles_nothing_that_it_cannot_show(judgement: ConfJudgement) -> None:
    """What a larger size breaks a smaller one cannot hold; and what needs a fault does not hold without it."""
    holds = judgement.holding[0]
    for larger in ({"transactions": 2}, {"half_slots": 4}, {"op_slots": 3}, {"mishaps": 3}, {"stray_ends": 2}):
        assert [row.clause for row in opened(judgement, TINY, holds, larger).open] == [holds.clause], larger
    (late,) = (row for row in judgement.whole.rows if row.name == "S1.immune_half")
    assert [row.clause for row in opened(judgement, TINY, late).open] == [late.clause]


def test_a_finer_size_that_deletes_no_files_settles_nothing_where_files_may_go(judgement: ConfJudgement) -> None:
    """`deep` has `expires = 0`: with the fault `retention` it holds whatever only deleted files break."""
    holds = judgement.holding[0]
    answers = tuple(replace(one, constants=replace(one.constants, retention=True)) for one in judgement.answers)
    with_retention = ConfJudgement(judgement.configuration, answers)
    assert [row.clause for row in opened(with_retention, TINY, holds).open] == [holds.clause]
    assert opened(with_retention, TINY, holds, {"expires": 0}).open == ()


def test_three_transactions_break_what_two_do_not() -> None:
    """A02 in 4.5.1: of the default times, whose immunity the widest size leaves out, 13 steps and 6 seconds."""
    default = Configuration.of_release("4.5.1", immunities_ms=(60_000,))
    found = judge_configuration(default, QUIET, (TINY, TRIO), clauses=chosen_clauses(["S7.in_memory", "S5"]))
    assert [(row.name, row.depth, found.after_ms(row)) for row in found.broken] == [("S7.in_memory", 13, 6_001)]
    assert found.answers[1].configuration.immunities_ms == ()
    assert [row.name for row in found.holding] == ["S5.no_commit_arrived"]


def test_what_the_widest_size_leaves_open_holds_in_the_others() -> None:
    default = Configuration.of_release("4.9.7")
    found = judge_configuration(default, QUIET, (TINY, TRIO), clauses=chosen_clauses(["S5"]), most_states=5_000)
    assert [answer.finding.numbers.complete for answer in found.answers] == [True, False]
    assert ([row.name for row in found.holding], found.open, found.whole.numbers.complete) == (
        ["S5.no_commit_arrived"],
        (),
        True,
    )
    alone = judge_configuration(default, QUIET, (TRIO,), clauses=chosen_clauses(["S5"]), most_states=5_000)
    assert ([row.name for row in alone.open], alone.whole.numbers.complete) == (["S5.no_commit_arrived"], False)
