"""What one among others breaks is broken by a run of a few transactions without others, or no such run is known."""

from __future__ import annotations

import pytest

from fuzz.lockstep.pairing import Pairing
from fuzz.lockstep.script import run_text
from model_check.check import BROKEN_AMONG_OTHERS, check
from model_check.counterexample.steps import read_path, replay
from model_check.finding import Unknown, Violated
from model_check.question import Question
from model_check.world import World
from spec.language import holds
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.sampled import sampled

LEFT_BEHIND = (
    "send_half_with_checks t=0 immunity=-1 checks=1; roll_back_locally t=0; send_half t=1 immunity=-1; "
    "roll_back_locally t=1; write_op h=1; write_op h=0; send_half t=2 immunity=1; tick; begin_round; discard_half; "
    "pass_settled_half; pull_more_ops; roll_back_locally t=2; write_op h=2; pull_more_ops; pass_settled_half; "
    "end_round_at_queue_end"
)
"""L4.left_behind of 4.9.7 in the quiet world: the op message of a half that was discarded stands behind one that is
done, and is read again."""


def asked(profile: str, clause: str, instance: str) -> Violated | Unknown:
    question = Question.of(profile, (), instance, properties=[clause])
    (row,) = check(question).rows
    assert isinstance(row, Violated | Unknown)
    return row


def test_an_op_message_is_left_behind_by_three_transactions() -> None:
    row = asked("4.9.7", "L4.left_behind", "crowd_odd")
    assert isinstance(row, Violated)
    assert (row.world.instance.transactions, row.world.is_crowded, row.depth) == (3, False, 17)
    constants = World.of("4.9.7", (), row.world.instance.name).constants
    assert constants == row.world.constants, "the name of the instance says all of it"
    again = replay(TRANSACTIONAL_MESSAGES, constants, read_path(TRANSACTIONAL_MESSAGES, constants, row.steps))
    assert row.clause in again.violated


def test_the_reference_broker_leaves_it_behind_too() -> None:
    world = World.of("4.9.7", (), "crowd_odd@3x5x5")
    (clause,) = Question.of("4.9.7", (), "tiny", properties=["L4.left_behind"]).asked
    pair = run_text(Pairing(world), LEFT_BEHIND)
    assert len(pair.taken) == 17, "the broker took all of it"
    assert not holds(pair.state, world.constants, clause)


def test_without_a_path_it_is_unknown_whether_many_break_it() -> None:
    question = Question.of("4.9.7", (), "crowd", properties=["S1.immune_half"])
    (row,) = check(Question(world=question.world, clauses=question.clauses, paths=())).rows
    assert isinstance(row, Unknown)
    assert row.why.startswith(BROKEN_AMONG_OTHERS)


@pytest.mark.parametrize(("clause", "transactions"), sampled([("S1.immune_half", 1), ("S9.unread_op", 2)], 2))
def test_the_fewest_transactions_that_break_it_are_shown(clause: str, transactions: int) -> None:
    row = asked("4.9.7", clause, "crowd")
    assert isinstance(row, Violated)
    assert row.world.instance.transactions == transactions
