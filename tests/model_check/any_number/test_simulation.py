"""One transaction among others follows each of many, in states of searches, of walks and of a schedule of A15."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from model_check.any_number.compared_instances import WALKED
from model_check.any_number.simulation import Simulator
from model_check.counterexample.steps import read_path
from model_check.explicit.code_generation.compile import compile_machine
from model_check.explicit.search import explore
from model_check.world import World
from spec.language import take
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from tests.model_check.any_number.two_transactions import TWO
from tests.sampled import sampled

if TYPE_CHECKING:
    from collections.abc import Sequence

THREE = replace(WALKED, half_slots=6, op_slots=4)
TWO_SHARE_AN_OP = (
    "send_half t=0 immunity=3; send_half t=1 immunity=-1; tick; begin_round; put_back_immune_half; crash; "
    "send_half t=2 immunity=-1; roll_back_locally t=0; roll_back_locally t=1; roll_back_locally t=2; tick; "
    "begin_round; put_back_immune_half; buffer_op h=0; buffer_op h=1; buffer_op h=3; write_op_batch; pull_more_ops; "
    "pass_settled_half; pass_half_of_settled_original; pass_settled_half"
)
"""A copy marks an op message as done that names two more halves; the first of them was settled before, the second is
settled behind it (A15)."""


def searched(profile: str, faults: Sequence[str], most_states: int, without: Sequence[str] = ()) -> Simulator:
    """All states of two transactions, or the first of them, compared."""
    constants = World.of(profile, faults, TWO).constants
    found = explore(TRANSACTIONAL_MESSAGES, constants, most_states=most_states)
    simulator = Simulator(found.compiled, constants, without)
    words = found.compiled.packing.words
    simulator.compare(found.store.arrays.states[: int(found.store.counts[0]) * words].reshape(-1, words))
    return simulator


def walked(profile: str, faults: Sequence[str], without: Sequence[str] = (), seed: int = 1) -> Simulator:
    """The states that walks of three transactions pass."""
    constants = World.of(profile, faults, THREE).constants
    simulator = Simulator(compile_machine(TRANSACTIONAL_MESSAGES, constants), constants, without)
    simulator.walk(walkers=1000, steps=80, seed=seed)
    return simulator


def along(steps: str, without: Sequence[str] = ()) -> Simulator:
    """The states of a schedule of 5.3.3 with a crash, on `shared`."""
    constants = World.of("5.3.3", ["crash"], "shared").constants
    compiled = compile_machine(TRANSACTIONAL_MESSAGES, constants)
    state = TRANSACTIONAL_MESSAGES.initial(constants)
    states = [state.canonical()]
    for step in read_path(TRANSACTIONAL_MESSAGES, constants, steps):
        assert take(state, constants, step) is None
        states.append(state.canonical())
        state.load(states[-1])
    simulator = Simulator(compiled, constants, without)
    simulator.compare(np.array([compiled.packing.pack(values) for values in states]))
    return simulator


@pytest.mark.parametrize(
    ("profile", "faults", "states", "transitions"),
    [
        pytest.param("fixed", (), 39_814, 86_402, id="fixed-quiet"),
        pytest.param("fixed", ("crash",), 68_637, 200_624, id="fixed-crash"),
        pytest.param("4.9.7", (), 21_045, 46_997, id="4.9.7-quiet"),
    ],
)
def test_each_step_of_two_transactions_is_followed(
    profile: str, faults: tuple[str, ...], states: int, transitions: int
) -> None:
    """The numbers are those of the compiled search, and of a comparison that was written for CPython before."""
    compared = searched(profile, faults, 1_000_000).result
    assert (compared.states, compared.transitions, compared.broken) == (states, transitions, {})
    assert compared.pairs > 2_000


@pytest.mark.parametrize("profile", sampled(["fixed", "4.9.7", "5.5.1"], 3))
def test_each_step_of_walks_of_three_transactions_is_followed(profile: str) -> None:
    compared = walked(profile, ("crash",)).result
    assert compared.broken == {}
    assert compared.transitions > 100_000


def test_a_schedule_in_which_three_transactions_share_an_op_message_is_followed() -> None:
    assert along(TWO_SHARE_AN_OP).result.broken == {}


@pytest.mark.parametrize(
    ("action", "profile", "faults"),
    [
        ("begin_round_among_others", "fixed", ()),
        ("begin_stop_among_others", "fixed", ("graceful_stop",)),
        ("pull_ops_among_others", "4.9.7", ()),
        ("see_op_end_for_another", "fixed", ()),
        ("end_round_at_another", "fixed", ()),
        ("leave_op_of_another", "fixed", ("slow_round",)),
        ("jump_over_half_of_another", "4.9.7", ("null_half",)),
        ("abort_round_at_another", "4.9.7", ("null_half",)),
        ("pull_unreadable_ops", "4.9.7", ("undecodable_op",)),
        ("bring_master_back_amid_escape_of_another", "5.5.1", ("acting_slave",)),
        ("trouble_another", "fixed", ("null_half",)),
        ("send_stray_end_to_another", "fixed", ("duplicate_end",)),
        ("hear_of_producer_by_another", "fixed", ("restarted_producer",)),
        ("join_batch_by_another", "5.5.1", ()),
        ("write_batch_of_another", "5.5.1", ()),
    ],
)
def test_no_action_of_others_can_be_left_out(action: str, profile: str, faults: tuple[str, ...]) -> None:
    assert searched(profile, faults, 20_000, (action,)).result.broken


def test_without_a_flush_for_another_the_disk_has_less_than_it_may() -> None:
    faults = ("power_loss", "null_half")
    assert walked("fixed", faults, ("flush_for_another",)).result.broken
    assert walked("fixed", faults).result.broken == {}


def test_an_op_offset_that_a_pull_has_set_may_stay() -> None:
    """The end of the op queue was seen for a half, and then the round ends at an op message of another (A02)."""
    faults = ("slow_round",)
    assert "end_round_at_fresh_half" in walked("4.5.1", faults, ("keep_op_offset_for_another",), 6).result.broken
    assert walked("4.5.1", faults, seed=6).result.broken == {}


@pytest.mark.parametrize(
    ("action", "broken"),
    [
        ("mark_op_done_for_another", {"pass_half_of_settled_original"}),
        ("list_op_once", {"pass_settled_half"}),
    ],
)
def test_what_others_do_to_a_shared_op_message_can_not_be_left_out(action: str, broken: set[str]) -> None:
    assert along(TWO_SHARE_AN_OP, (action,)).result.broken.keys() == broken


def test_a_difference_names_the_step_the_transaction_and_the_state() -> None:
    simulator = searched("fixed", (), 20_000, ("end_round_at_another",))
    difference = simulator.result.differences[0]
    constants = simulator.constants
    state = TRANSACTIONAL_MESSAGES.initial(constants).load(difference.values)
    assert take(state, constants, difference.step) is None
    assert difference.transaction in range(constants.transactions)


@pytest.mark.parametrize(("profile", "fault"), [("4.9.7", "preset_original"), ("4.9.7", "retention")])
def test_where_others_can_not_be_left_out_of_a_state_the_comparison_says_so(profile: str, fault: str) -> None:
    assert searched(profile, (fault,), 20_000).result.broken
