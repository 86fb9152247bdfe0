"""A repair that is wrong only with two transactions that may have an immunity is not said to hold."""

import pytest

from model_check.answers.answer import search_portfolio
from model_check.answers.chosen_instances import portfolio_of
from model_check.check import check
from model_check.clauses import clauses_by_name
from model_check.finding import Holds
from model_check.instances import load_instance
from model_check.question import Question
from model_check.world import NO_FAULTS, Profile, World
from spec import op_pull
from spec.constants import Constants
from spec.op_pull import is_to_be_met, mark_done
from spec.state import State

PROFILE = Profile.of("5.5.1+heeds_settled_originals-batches_ops")
CLAUSE = clauses_by_name()["S1.immune_half"]


def enters_old_names_of_done_ops(s: State, c: Constants, first: int, most: int) -> None:
    """Enter the names of halves that are over, too, as `heeds_settled_originals` asks; their op is done at once.

    A first draft of a repair of B01: `removeMap.put` above `if (offsetValue < miniOffset) continue`. A young half in
    front of the copy ends the round, the op offset passes the op message, and the next round reads no name of it.
    """
    begin = max(first, s.gone.ops)
    for o in range(c.op_slots):
        if begin <= o and o < begin + most and o < s.op_length:
            if not s.op[o].undecodable:
                for h in range(c.half_slots):
                    if s.op[o].names.has(h):
                        s.round.removed_by[h] = o
                        if is_to_be_met(s, c, h):
                            s.pulled_op[o].unresolved.add(h)
                if s.pulled_op[o].unresolved.is_empty():
                    mark_done(s, o)
            s.round.next_op = o + 1


def test_the_instance_that_breaks_it_is_searched_for_repairs_and_not_for_releases(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(op_pull, "read_op_messages", enters_old_names_of_done_ops)
    medium = load_instance("medium")
    found = check(Question(world=World(PROFILE, NO_FAULTS, medium), clauses=(CLAUSE,), until=(CLAUSE,)))
    assert found[CLAUSE].depth == 22
    assert medium in portfolio_of(PROFILE, NO_FAULTS)


@pytest.mark.sweep
def test_only_the_instance_with_two_immune_transactions_and_two_checks_breaks_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    repaired = search_portfolio(PROFILE, NO_FAULTS, clauses=[CLAUSE])
    assert isinstance(repaired.whole[CLAUSE], Holds)
    monkeypatch.setattr(op_pull, "read_op_messages", enters_old_names_of_done_ops)
    draft = search_portfolio(PROFILE, NO_FAULTS, clauses=[CLAUSE])
    assert [(row.world.instance.name, row.depth) for row in draft.broken] == [("medium", 22)]
    assert all(one[CLAUSE].depth is None for one in draft.findings if one.world.instance.name != "medium")
