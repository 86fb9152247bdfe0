"""What clients choose, in any order and number, is a schedule that the specification takes and a client can play."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_check.instances import load_instance
from model_check.walks.choices import fault_actions
from model_check.world import World
from spec.language import holds, take
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from wire.probe.choices import ClientSchedules
from wire.probe.orders import AwaitTick, Kill, ProbePlan, SendEnd, Stop
from wire.probe.staging import plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spec.state import State
    from wire.probe.choices import Choice

FAULTS = ("duplicate_end", "crash", "graceful_stop", "lose_check")


def schedules_of(*faults: str, ticks: int = 1, can_die: bool = False) -> ClientSchedules:
    instance = replace(
        load_instance("tiny"), transactions=2, half_slots=8, op_slots=6, check_interval=ticks, check_max=15
    )
    constants = World.of("5.3.3", {*faults, "slow_round"}, instance).constants
    return ClientSchedules(constants, ticks, with_faults=bool(faults), can_die=can_die)


QUIET, FAULTY = schedules_of(), schedules_of(*FAULTS, can_die=True)


def broken_by(schedules: ClientSchedules, visits: Sequence[Sequence[Choice]]) -> set[str]:
    """The clauses that a schedule breaks in the specification."""
    path, _ = schedules.schedule(visits)
    state = cast("State", TRANSACTIONAL_MESSAGES.initial(schedules.constants))
    found = set()
    for step in path:
        take(state, schedules.constants, step)
        found |= {
            f"{c.identifier}.{c.clause}"
            for c in TRANSACTIONAL_MESSAGES.clauses
            if not holds(state, schedules.constants, c)
        }
    return found


def orders_of(schedules: ClientSchedules, *visits: Sequence[Choice]) -> ProbePlan:
    return schedules.schedule(visits)[1]


@given(st.data())
def test_whatever_is_chosen_is_a_path_of_the_specification(data: st.DataObject) -> None:
    schedules = data.draw(st.sampled_from((QUIET, FAULTY)))
    choice = st.tuples(st.sampled_from(schedules.actions), st.integers(0, 2))
    path, played = schedules.schedule(data.draw(st.lists(st.lists(choice, max_size=3), max_size=4)))
    state = TRANSACTIONAL_MESSAGES.initial(schedules.constants)
    assert [step for step in path if take(state, schedules.constants, step) is not None] == []
    assert played == plan(schedules.constants, path)


def test_nothing_that_only_a_fault_allows_is_chosen_without_faults() -> None:
    assert not set(QUIET.actions) & set(fault_actions())
    assert "duplicate_end" in FAULTY.actions


def test_the_broker_dies_only_where_somebody_can_start_it_again() -> None:
    assert not {"crash", "begin_stop"} & set(schedules_of(*FAULTS).actions)
    sent = [("send_half", 0), ("commit_locally", 0), ("store_real_message", 0)]
    killed, stopped = (orders_of(FAULTY, [*sent, (death, 0)]) for death in ("crash", "begin_stop"))
    assert (killed.orders[-1], stopped.orders[-1]) == (Kill(), Stop())


def test_a_choice_that_is_not_possible_stands_for_the_next_one_that_is() -> None:
    sent, committed = orders_of(QUIET, [("send_half", 0)] * 2), orders_of(QUIET, [("send_half", 0)] * 3)
    assert sent == orders_of(QUIET, [("write_op_batch", 0)] * 2)
    assert committed.orders[:2] == sent.orders


def test_a_commit_within_an_immunity_is_one_of_the_schedules() -> None:
    visits: list[list[Choice]] = [
        [("send_half", 1)],
        [("commit_locally", 0), ("store_real_message", 0)],
        [],
        [],
        [("answer_check", 0), ("store_real_message", 0)],
    ]
    assert {"S9.immune_half", "S1.immune_half"} <= broken_by(QUIET, visits)
    assert not {"S9.immune_half", "S1.immune_half"} & broken_by(QUIET, visits[:2])


def test_an_end_transaction_is_one_request_though_it_takes_the_broker_two_writes() -> None:
    plan = orders_of(QUIET, [("send_half", 0), ("commit_locally", 0), ("store_real_message", 0), ("buffer_op", 0)])
    assert sum(isinstance(order, SendEnd) for order in plan.orders) == 1


@pytest.mark.parametrize("ticks", [1, 4])
def test_as_many_ticks_are_between_two_visits_as_between_two_rounds(ticks: int) -> None:
    plan = orders_of(schedules_of(ticks=ticks), [], [], [])
    assert [order.ticks for order in plan.orders if isinstance(order, AwaitTick)] == [ticks, 2 * ticks]
    assert plan.rounds == (ticks, 2 * ticks)
