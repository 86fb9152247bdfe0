"""Each action is drawn in its own way, and no label has a gap."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from model_check.counterexample.sequence_diagram import PARTICIPANTS, drawn_path, drawn_step
from model_check.counterexample.steps import Event, read_path, replay
from model_check.wording.actions import StepKind, wordings
from model_check.world import World
from spec.language import Step, take
from spec.transactional_messages import AMONG_OTHERS, TRANSACTIONAL_MESSAGES
from tests.model_check.counterexample import b02

if TYPE_CHECKING:
    from collections.abc import Sequence


WORLDS = [
    (
        ("4.5.1", "tiny"),
        "lose_end lose_check duplicate_end wrong_end crash reorder offline_producer restarted_producer "
        "undecodable_half undecodable_op op_write_failure",
    ),
    (
        ("5.3.3", "tiny"),
        "slow_local late_end slow_round slow_dispatch null_half put_failure undecodable_op wrong_end",
    ),
    (
        ("5.3.3", "tiny"),
        "power_loss offset_regression role_change acting_slave graceful_stop op_write_failure clock_step clock_skew",
    ),
    (("5.3.3", "odd"), "twin_send bad_store_status"),
    (("fixed", "tiny"), "put_failure undecodable_half duplicate_end late_end"),
    (("4.5.1", "crowd"), "undecodable_op null_half wrong_end offline_producer"),
    (("5.3.3", "crowd"), "power_loss crash graceful_stop acting_slave undecodable_half"),
    (("4.9.7", "crowd"), "undecodable_op offline_producer restarted_producer crash"),
    (("fixed", "crowd"), "power_loss graceful_stop"),
    (("5.3.3", "proxied"), "restart_proxy other_proxy slow_proxy shared_topic slow_local bad_store_status"),
]
"""Profile, instance and faults of the walks; together with the schedules below they take each action."""


UNJUDGED = replace(AMONG_OTHERS, clauses=(), witnesses=())
"""What is drawn of a step does not depend on what its state violates."""


def walked(profile: str, instance: str, faults: str, taken: Counter[str]) -> list[Event]:
    """The events of some walks that prefer the actions that were taken least."""
    world = World.of(profile, faults.split(), instance)
    constants, every = world.constants, world.machine.steps(world.constants)
    chance = random.Random(11)
    events: list[Event] = []
    for _ in range(60):
        state = UNJUDGED.initial(constants)
        path: list[Step] = []
        for _ in range(40):
            steps = sorted(every, key=lambda step: chance.random() * (1 + taken[step.action.name]))
            following = next((step for step in steps if take(state, constants, step) is None), None)
            if following is None:
                break
            path.append(following)
            taken[following.action.name] += 1
        events += replay(UNJUDGED, constants, path).events
    return events


RARE = [
    (
        ("4.5.1", "tiny", "reorder"),
        "send_half t=0 immunity=-1; commit_locally t=0; store_real_message h=0; double_end h=0; overtake h=0",
    ),
    (
        ("5.3.3", "tiny", "acting_slave"),
        "send_half t=0 immunity=-1; act_for_dead_master; tick; begin_round; bring_master_back_amid_escape",
    ),
    (
        ("4.5.1", "tiny", "lose_check"),
        "send_half t=0 immunity=-1; leave_it_unknown t=0; tick; tick; tick; begin_round; put_back_and_check; "
        "lose_check h=1",
    ),
    (
        ("fixed", "tiny", ""),
        "send_half t=0 immunity=3; commit_locally t=0; tick; begin_round; put_back_immune_half; "
        "end_round_at_fresh_half; store_real_message h=0; write_op h=0; tick; begin_round; "
        "pass_half_of_settled_transaction",
    ),
    (
        ("4.5.1", "tiny", "slow_local"),
        "send_half t=0 immunity=-1; tick; tick; tick; begin_round; put_back_and_check; answer_check_too_early h=1",
    ),
    (
        ("5.3.3", "tiny", "late_end"),
        "send_half t=0 immunity=3; commit_locally t=0; tick; tick; tick; tick; refuse_late_end h=0",
    ),
    (
        ("4.9.7", "medium", "crash"),
        "send_half t=0 immunity=3; send_half t=1 immunity=-1; tick; begin_round; put_back_immune_half; "
        "end_round_at_young_half; crash; tick; begin_round; put_back_immune_half; commit_locally t=0; "
        "commit_locally t=1; store_real_message h=0; store_real_message h=1; write_op h=0; write_op h=1; "
        "pull_more_ops; pass_settled_half; pass_half_of_settled_original",
    ),
    (
        ("5.3.3", "tiny", "acting_slave"),
        "send_half t=0 immunity=-1; act_for_dead_master; tick; begin_round; let_half_escape_unclearly; give_half_up; "
        "end_round_at_queue_end; bring_master_back_with_its_own_offsets",
    ),
    (
        ("5.3.3", "tiny", "acting_slave"),
        "send_half t=0 immunity=-1; act_for_dead_master; tick; begin_round; let_half_escape; "
        "end_round_at_queue_end; commit_locally t=0; refuse_end_as_slave h=0; deliver_escaped t=0",
    ),
    (
        ("5.3.3", "tiny", "acting_slave"),
        "send_half t=0 immunity=-1; act_for_dead_master; tick; begin_round; let_half_escape; "
        "end_round_at_queue_end; roll_back_locally t=0; roll_back_escaped t=0",
    ),
    (
        ("5.3.3+reads_ops_before_escape-batches_ops", "small", "acting_slave duplicate_end slow_local"),
        "send_half t=0 immunity=-1; send_half t=1 immunity=-1; commit_locally t=1; store_real_message h=1; "
        "write_op h=1; duplicate_end h=1; store_real_message h=1; write_op h=1; act_for_dead_master; tick; "
        "begin_round; pull_more_ops_before_escape",
    ),
    (
        ("4.5.1", "small", "undecodable_op duplicate_end"),
        "send_half t=0 immunity=-1; send_half t=1 immunity=-1; commit_locally t=1; store_real_message h=1; "
        "write_op h=1; duplicate_end h=1; store_real_message h=1; write_op h=1; corrupt_op o=1; "
        "leave_it_unknown t=0; tick; tick; tick; begin_round; abort_at_next_ops",
    ),
    (
        ("4.9.7", "tiny", "power_loss"),
        "send_half t=0 immunity=3; tick; begin_round; put_back_immune_half; end_round_at_fresh_half; tick; "
        "begin_round; put_back_immune_half; discard_half; end_round_at_queue_end; persist_offsets; "
        "lose_power records=1; tick; "
        "begin_round; jump_to_queue_end; end_round_at_queue_end",
    ),
    (
        ("5.3.3", "tiny", "put_failure"),
        "send_half t=0 immunity=3; tick; begin_round; put_back_immune_half; end_round_at_fresh_half; tick; "
        "begin_round; put_back_immune_half; discard_half_unrecorded",
    ),
    (
        ("5.3.3", "tiny", "slow_dispatch"),
        "send_half t=0 immunity=3; tick; begin_round; put_back_immune_half; end_round_at_fresh_half; tick; "
        "begin_round; put_back_immune_half; end_round_before_dispatch",
    ),
    (
        ("4.9.7", "small", "power_loss"),
        "send_half t=0 immunity=-1; lose_power records=0; send_half t=1 immunity=-1; commit_another_half t=0",
    ),
    (
        ("fixed", "tiny", "null_half"),
        "send_half t=0 immunity=-1; tick; begin_round; end_round_at_missed_half",
    ),
    (
        ("fixed", "tiny", "crash"),
        "send_half t=0 immunity=3; tick; begin_round; put_back_immune_half; crash; tick; begin_round; pass_copied_half",
    ),
    (
        ("5.3.3+keeps_check_open", "tiny", ""),
        "send_half t=0 immunity=-1; tick; tick; commit_locally t=0; store_real_message h=0; buffer_op h=0; tick; "
        "begin_round; pass_half_of_waiting_op",
    ),
    (
        ("5.3.3+skips_long_immunities", "tiny", ""),
        "send_half t=0 immunity=3; tick; begin_round; pass_over_long_immunity",
    ),
    (
        ("4.9.7", "odd", "resume_discarded"),
        "send_half t=0 immunity=-1; leave_it_unknown t=0; tick; tick; tick; begin_round; put_back_and_check; "
        "answer_check h=1; discard_half; end_round_at_queue_end; resume_discarded h=1",
    ),
    (
        ("fixed", "odd", ""),
        "send_half t=0 immunity=-1; leave_it_unknown t=0; tick; tick; tick; begin_round; put_back_and_check; "
        "end_round_at_fresh_half; answer_check h=1; tick; begin_round; discard_instead_of_check",
    ),
    (
        ("5.3.3", "tiny", "offset_regression"),
        "send_half t=0 immunity=3; tick; begin_round; put_back_immune_half; end_round_at_fresh_half; "
        "set_half_offset_back h=0",
    ),
    (
        ("5.3.3", "proxied", "slow_local"),
        "send_half t=0 immunity=-1; tick; tick; tick; begin_round; put_back_and_check; "
        "answer_too_early_through_proxy k=1 h=1 p=0",
    ),
    (
        ("5.3.3", "proxied", "other_proxy"),
        "send_half t=0 immunity=-1; commit_unknown_to_proxy t=0 p=1; tick; tick; tick; begin_round; "
        "put_back_and_check; relay_through_other_proxy h=1 p=1; answer_check_through_proxy k=0 h=1 p=0",
    ),
    (
        ("5.3.3", "proxied", "shared_topic"),
        "send_half t=0 immunity=-1; leave_it_unknown t=0; tick; tick; tick; begin_round; put_back_and_check; "
        "roll_back_for_another_service k=1 h=1 p=0",
    ),
    (
        ("5.3.3", "proxied", "slow_local late_end slow_round"),
        "send_half t=0 immunity=-1; tick; tick; tick; begin_round; put_back_and_check; commit_through_proxy h=1 p=0; "
        "tick; answer_unknown_to_proxy h=1 p=0",
    ),
    (
        ("4.9.7", "tiny", "offset_regression"),
        "send_half t=0 immunity=-1; commit_locally t=0; store_real_message h=0; write_op h=0; tick; begin_round; "
        "pass_settled_half; end_round_at_queue_end; set_op_offset_back o=0",
    ),
    (
        ("fixed", "tiny", "late_end"),
        "send_half t=0 immunity=-1; commit_locally t=0; store_real_message h=0; tick; begin_round; "
        "pass_half_of_settled_transaction",
    ),
    (
        ("4.9.7", "small", "preset_original"),
        "send_half_with_original t=0 original=1; send_half t=1 immunity=-1; roll_back_locally t=1; write_op h=1; tick; "
        "begin_round; pass_half_of_settled_original",
    ),
    (
        ("5.3.3", "tiny", "retention acting_slave"),
        "send_half t=0 immunity=3; tick; begin_round; put_back_immune_half; end_round_at_fresh_half; persist_offsets; "
        "act_for_dead_master; tick; delete_oldest_files records=2; move_lower_ends; begin_round; jump_to_what_is_left; "
        "end_round_below_what_is_left",
    ),
    (
        ("5.3.3+passes_what_is_gone", "small", "retention"),
        "send_half t=0 immunity=-1; send_half t=1 immunity=-1; delete_oldest_files records=1; begin_round; "
        "pass_half_that_is_gone",
    ),
    (
        ("5.3.3", "small", "retention role_change"),
        "send_half t=0 immunity=-1; delete_oldest_files records=1; move_lower_ends; truncate_all",
    ),
    (
        ("5.3.3", "crowd", "slow_round"),
        "send_half t=0 immunity=-1; roll_back_locally t=0; buffer_op h=0; tick; tick; write_op_batch; "
        "begin_round_among_others to=1; mark_op_done_for_another o=0; pass_settled_half; list_op_once o=0",
    ),
]
"""Schedules of the actions that chance hardly finds; the third meets an original again that has an old copy."""


def schedule(world: tuple[str, str, str], steps: str) -> Sequence[Event]:
    profile, instance, faults = world
    constants = World.of(profile, faults.split(), instance).constants
    return replay(UNJUDGED, constants, read_path(UNJUDGED, constants, steps)).events


@pytest.mark.untraced
def test_each_label_is_filled_in_and_each_arrow_joins_participants_that_there_are() -> None:
    taken: Counter[str] = Counter()
    events = [event for world, faults in WORLDS for event in walked(*world, faults, taken)]
    events += [event for world, steps in RARE for event in schedule(world, steps)]
    assert {event.step.action.name for event in events} == set(wordings())
    for event in events:
        for message in drawn_step(event):
            assert message.number == event.number
            assert not set("?{") & set(message.label.replace("names {", "")), message
            assert {message.source, message.target} <= set(PARTICIPANTS)


def test_only_the_last_message_of_a_path_is_the_violation() -> None:
    messages = drawn_path(b02.replayed().events)
    assert [(m.source, m.target, m.label) for m in messages] == [
        ("Producer", "Half queue", "half 0"),
        ("Producer", "Broker", "END rollback for half 0"),
        ("Broker", "Broker", "op for half 0 waits in memory"),
        ("Broker", "Broker", "the broker's process dies and starts again"),
    ]
    assert [m.is_violation for m in messages] == [False, False, False, True]
    assert [m.kind for m in messages] == [StepKind.MESSAGE] * 3 + [StepKind.BREAK]


@pytest.mark.parametrize(("immunity", "label"), [(-1, "half 0"), (3, "half 0, immunity 3")])
def test_a_half_with_an_immunity_says_so(immunity: int, label: str) -> None:
    constants = World.of("5.3.3", (), "tiny").constants
    path = read_path(TRANSACTIONAL_MESSAGES, constants, f"send_half t=0 immunity={immunity}")
    (event,) = replay(TRANSACTIONAL_MESSAGES, constants, path).events
    assert [message.label for message in drawn_step(event)] == [label]
