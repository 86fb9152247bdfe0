"""Each repair of the specification in the reference broker: what both do alike differs where the broker lacks it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Final

import pytest

from fuzz.lockstep.broker_versions import NO_SWITCH_OF_THE_BROKER, version_of
from fuzz.lockstep.pairing import Mismatch, Pairing
from fuzz.lockstep.script import run_text
from fuzz.search.examples import fuzz
from model_check.world import Profile
from reference.versions.switches import ReleaseSwitches
from reference.versions.versions import switches_of
from spec.constants import FAULTS
from spec.switches import RepairSwitches, Switches, WrongRepairSwitches

RELEASE: Final = "5.5.1"
REPAIRS: Final = tuple(field.name for kind in (RepairSwitches, WrongRepairSwitches) for field in fields(kind))


@dataclass(frozen=True)
class Schedule:
    """Steps that the repair is needed for, or after which a step is asked for that it forbids."""

    steps: str
    asked: str = ""
    instance: str = "fuzzed"


PUT_BACK: Final = "send_half t=0 immunity=1; tick; begin_round; put_back_immune_half"
PUT_BACK_FOR_CHECK: Final = "send_half t=0 immunity=-1; tick; tick; tick; begin_round; put_back_and_check"
COMMITTED_WITH_AN_OP: Final = """
send_half t=0 immunity=-1; send_half t=1 immunity=-1; commit_locally t=1; store_real_message h=1; buffer_op h=1; tick;
write_op_batch
"""
ACTING: Final = "send_half t=0 immunity=-1; send_half t=1 immunity=-1; act_for_dead_master; tick; begin_round"

SCHEDULES: Final = {
    "heeds_settled_originals": Schedule(
        f"{PUT_BACK}; end_round_at_fresh_half; send_wrong_commit h=0; store_real_message h=0; buffer_op h=0; tick;"
        "write_op_batch; begin_round"
    ),
    "links_every_copy": Schedule(PUT_BACK_FOR_CHECK),
    "settles_once": Schedule(
        "send_half t=0 immunity=1; commit_locally t=0; store_real_message h=0; begin_round;"
        "pass_half_of_settled_transaction"
    ),
    "keeps_check_open": Schedule(
        f"{PUT_BACK}; end_round_at_fresh_half; send_wrong_commit h=1; tick; store_real_message h=1; begin_round;"
        "pass_half_of_waiting_op"
    ),
    "counts_sent_checks": Schedule(PUT_BACK),
    "discards_instead_of_checking": Schedule(
        "send_half_with_checks t=0 immunity=1 checks=2; tick; begin_round; put_back_immune_half;"
        "end_round_at_fresh_half; tick; tick; begin_round; discard_instead_of_check"
    ),
    "keeps_progress": Schedule("send_half t=0 immunity=-1; begin_round; end_round_at_missed_half"),
    "flushes_before_saving": Schedule(f"{PUT_BACK}; end_round_at_fresh_half; persist_offsets"),
    "clamps_offsets": Schedule(f"{PUT_BACK_FOR_CHECK}; end_round_at_fresh_half; persist_offsets; lose_power records=0"),
    "skips_undecodable_ops": Schedule(f"{COMMITTED_WITH_AN_OP}; corrupt_op o=0; begin_round"),
    "parks_poison": Schedule("send_undecodable_half t=0 immunity=-1; begin_round; discard_what_cannot_be_copied"),
    "ends_at_failed_put": Schedule(PUT_BACK_FOR_CHECK.replace("put_back_and_check", "spin_at_failed_check")),
    "retries_discards": Schedule(
        "send_half_with_checks t=0 immunity=-1 checks=2; tick; begin_round", "discard_half_unrecorded"
    ),
    "keeps_failed_ops": Schedule(
        "send_half t=0 immunity=-1; commit_locally t=0; store_real_message h=0; buffer_op h=0; tick",
        "fail_to_write_op_batch",
    ),
    "flushes_on_stop": Schedule(
        "send_half t=0 immunity=-1; commit_locally t=0; store_real_message h=0; buffer_op h=0; begin_stop"
    ),
    "awaits_ends_on_stop": Schedule(
        "send_half t=0 immunity=3; begin_stop; commit_locally t=0", "store_real_message h=0"
    ),
    "reads_ops_before_escape": Schedule(
        "send_half t=0 immunity=-1; send_half t=1 immunity=-1; roll_back_locally t=1;"
        + "buffer_op h=1; tick; write_op_batch; duplicate_end h=1;" * 3
        + "act_for_dead_master; tick; begin_round; pull_more_ops_before_escape; let_half_escape"
    ),
    "insists_on_escape": Schedule(ACTING, "give_half_up"),
    "escapes_once": Schedule(f"{ACTING}; let_half_escape_unclearly; let_half_escape"),
    "one_immunity": Schedule(
        "send_half t=0 immunity=3; send_half t=1 immunity=1; tick; begin_round; tick; put_back_immune_half;"
        "put_back_immune_half"
    ),
    "owns_check_times": Schedule("send_half_with_checks t=0 immunity=-1 checks=2"),
    "owns_prepared_offset": Schedule("send_half_with_original t=0 original=1"),
    "ages_from_arrival": Schedule("send_half_by_another_clock t=0 immunity=-1 skew=-2"),
    "distrusts_future": Schedule(
        "tick; tick; send_half t=0 immunity=-1; step_clock_back; begin_round; put_back_and_check"
    ),
    "copies_once": Schedule(
        "send_half t=0 immunity=3; tick; begin_round; put_back_immune_half; crash; tick; begin_round; pass_copied_half"
    ),
    "leaves_escaped": Schedule(
        "send_half t=0 immunity=-1; act_for_dead_master; tick; begin_round; let_half_escape; end_round_at_queue_end;"
        "bring_master_back; send_wrong_commit h=0; ignore_repeated_end h=0"
    ),
    "flushes_before_answering": Schedule("send_half t=0 immunity=1"),
    "retries_commits": Schedule("send_half t=0 immunity=-1; commit_locally t=0", "refuse_commit_unstored h=0"),
    "asks_the_old": Schedule(
        "send_half t=0 immunity=-1; tick; tick; tick; tick; tick; begin_round; put_back_and_check", instance="odd"
    ),
    "finishes_reading": Schedule(f"{COMMITTED_WITH_AN_OP}; begin_round; tick; tick; tick; tick; tick; pull_more_ops"),
    "passes_what_is_gone": Schedule(
        "send_half t=0 immunity=3; tick; begin_round; put_back_immune_half; send_half t=1 immunity=-1;"
        "delete_oldest_files records=3; send_half t=2 immunity=-1; pass_half_that_is_gone"
    ),
    "keeps_pending_files": Schedule("send_half t=0 immunity=-1", "delete_oldest_files records=1"),
    "corrects_offsets_on_slave": Schedule(
        "send_half t=0 immunity=3; tick; begin_round; put_back_immune_half; end_round_at_fresh_half; persist_offsets;"
        "act_for_dead_master; tick; delete_oldest_files records=2; move_lower_ends; begin_round; jump_to_what_is_left"
    ),
    "skips_when_ops_are_drained": Schedule(PUT_BACK_FOR_CHECK.replace("put_back_and_check", "pull_more_ops")),
    "ages_from_storing": Schedule(PUT_BACK),
    "skips_long_immunities": Schedule("send_half t=0 immunity=3; tick; begin_round; pass_over_long_immunity"),
    "commits_after_exception": Schedule(
        f"{COMMITTED_WITH_AN_OP}; corrupt_op o=0; tick; tick; begin_round; jump_over_half; abort_at_unreadable_pull"
    ),
}
"""For each repair a schedule on which a broker without it differs."""

NOT_IN_THE_STATE: Final = {"keeps_flag"}
"""Repairs of what the specification has no field for: what they keep is shown of the broker alone."""


def test_each_repair_is_a_switch_of_the_broker_or_has_a_reason_not_to_be() -> None:
    switches = {field.name for field in fields(ReleaseSwitches)}
    of_the_spec = {field.name for field in fields(Switches)}
    assert of_the_spec - switches == NO_SWITCH_OF_THE_BROKER.keys(), (
        "give the switch to BrokerRepairs (reference/versions/switches.py), read it where its Java is modelled, and "
        "show it in tests/fuzz/lockstep/test_repairs.py; or say in fuzz/lockstep/broker_versions.py why there is none"
    )
    assert all(reason.strip() for reason in NO_SWITCH_OF_THE_BROKER.values())


def test_each_repair_of_the_broker_has_a_schedule_that_needs_it() -> None:
    assert SCHEDULES.keys() | NOT_IN_THE_STATE == set(REPAIRS) - NO_SWITCH_OF_THE_BROKER.keys()


@pytest.mark.parametrize("repair", SCHEDULES)
def test_with_the_repair_both_take_the_schedule(repair: str) -> None:
    schedule = SCHEDULES[repair]
    pairing = Pairing.of(f"{RELEASE}+{repair}", FAULTS, schedule.instance)
    pair = run_text(pairing, schedule.steps, schedule.asked)
    assert len(pair.taken) == len([step for step in schedule.steps.split(";") if step.strip()])


@pytest.mark.parametrize("repair", SCHEDULES)
def test_a_broker_without_the_repair_differs(repair: str) -> None:
    schedule = SCHEDULES[repair]
    pairing = replace(Pairing.of(f"{RELEASE}+{repair}", FAULTS, schedule.instance), release=RELEASE)
    with pytest.raises(Mismatch):
        run_text(pairing, schedule.steps, schedule.asked)


@pytest.mark.untraced
@pytest.mark.parametrize("faults", [(), FAULTS], ids=["quiet", "all"])
def test_specification_and_broker_agree_on_what_is_repaired_altogether(faults: tuple[str, ...]) -> None:
    done = fuzz(Pairing.of("fixed", faults), examples=30, steps=80, random_seed=7)
    assert done.failure is None
    assert done.examples == 30


def test_the_broker_beside_a_profile_has_its_switches() -> None:
    assert switches_of(version_of(Profile.of("4.9.7+keeps_flag"))).keeps_flag
    assert not switches_of(version_of(Profile.of("fixed"))).batches_ops
    assert version_of(Profile.of("5.5.0-orders_sends")) == "5.5.0"
