"""Each action of the specification is something to a client, and a schedule becomes what a client does."""

from __future__ import annotations

import pytest

from model_check.counterexample.steps import read_path
from model_check.world import World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from wire.client.transactions import COMMIT, ROLLBACK
from wire.probe.orders import AwaitCheck, AwaitCopy, AwaitRound, AwaitTick, Kill, ProbePlan, SendEnd, SendHalf
from wire.probe.staging import STAGED, CannotStageError, plan

IMMUNE = (
    "send_half t=0 immunity=3; commit_locally t=0; tick; begin_round; put_back_immune_half; end_round_at_fresh_half; "
    "tick; store_real_message h=0; buffer_op h=0; tick; tick; begin_round; put_back_and_check; answer_check h=2; "
    "store_real_message h=2"
)


def planned(steps: str, *faults: str, profile: str = "5.3.3") -> ProbePlan:
    constants = World.of(profile, faults, "tiny").constants
    return plan(constants, read_path(TRANSACTIONAL_MESSAGES, constants, steps))


def test_each_action_of_the_specification_is_something_to_a_client() -> None:
    assert STAGED.keys() == {action.function for action in TRANSACTIONAL_MESSAGES.actions}


def test_a_commit_within_an_immunity_is_sent_behind_the_put_back_that_was_waited_for() -> None:
    assert planned(IMMUNE) == ProbePlan(
        (
            SendHalf(0, 0, immunity=3),
            AwaitTick(1),
            AwaitRound(1),
            AwaitCopy(0, 1),
            AwaitTick(2),
            SendEnd(0, 0, COMMIT, answers_check=False),
            AwaitTick(4),
            AwaitRound(4),
            AwaitCheck(0, 2),
            SendEnd(0, 2, COMMIT, answers_check=True),
        )
    )


def test_no_round_comes_between_those_of_a_schedule() -> None:
    assert planned(IMMUNE).interval == 3


def test_a_rollback_is_one_request_though_it_takes_one_step_and_a_commit_though_it_takes_two() -> None:
    sent = planned(
        "send_half t=0 immunity=-1; commit_locally t=0; store_real_message h=0; buffer_op h=0; "
        "send_wrong_rollback h=0; buffer_op h=0",
        "wrong_end",
    ).orders
    assert [order.outcome for order in sent if isinstance(order, SendEnd)] == [COMMIT, ROLLBACK]


def test_a_crash_between_the_two_writes_of_a_commit_is_finer_than_anybody_can_choose() -> None:
    given = planned("send_half t=0 immunity=-1; commit_locally t=0; store_real_message h=0; crash", "crash")
    assert (given.orders[-1], given.restarts) == (Kill(), True)
    assert given.finer == ("the process dies between the two writes of an END_TRANSACTION",)


@pytest.mark.parametrize(
    ("steps", "fault", "why"),
    [
        ("send_half t=0 immunity=-1; lose_power records=0", "power_loss", "the machine has to lose power"),
        ("send_poison_half t=0 immunity=-1", "put_failure", "a write of the broker's store has to fail"),
        ("send_half t=0 immunity=-1; commit_locally t=0; commit_locally t=0", "crash", "step 3, commit_locally t=0"),
    ],
)
def test_what_no_client_can_bring_about_is_refused_with_the_reason(steps: str, fault: str, why: str) -> None:
    with pytest.raises(CannotStageError, match=why):
        planned(steps, fault)
