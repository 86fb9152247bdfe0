"""Is each step that is excluded from the lockstep one that specification and broker would really differ on?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from fuzz.lockstep.pairing import Mismatch, Pair, Pairing
from fuzz.lockstep.script import Script, run, run_text
from model_check.counterexample.steps import read_path
from reference.store.message_store import MessageStore
from reference.store.writable_consume_queue import WritableConsumeQueue
from spec.constants import FAULTS

FULL_BATCH = """
send_half t=0 immunity=-1; send_half t=1 immunity=-1; send_half t=2 immunity=-1;
send_wrong_rollback h=0; buffer_op h=0; send_wrong_rollback h=1; buffer_op h=1; send_wrong_rollback h=2; buffer_op h=2;
write_op_batch
"""
OP_DONE_TWICE = """
send_half t=0 immunity=3; send_half t=1 immunity=3; send_half t=2 immunity=1; send_half t=3 immunity=1; tick;
begin_round; put_back_immune_half; put_back_immune_half; put_back_immune_half; put_back_immune_half;
end_round_at_fresh_half; send_wrong_commit h=6; store_real_message h=6; buffer_op h=6; crash;
send_wrong_commit h=6; store_real_message h=6; buffer_op h=6; tick; write_op_batch; begin_round;
put_back_immune_half; put_back_immune_half; answer_with_wrong_commit h=0; store_real_message h=0; buffer_op h=0;
answer_with_wrong_commit h=1; store_real_message h=1; buffer_op h=1; write_op_batch; send_wrong_commit h=7;
store_real_message h=7; buffer_op h=7; tick; write_op_batch; pull_more_ops; pull_more_ops; put_back_and_check;
put_back_and_check; pass_half_of_settled_original; pass_half_of_settled_original; pass_settled_half;
pass_settled_half; end_round_at_fresh_half
"""
DISPATCHED = """
send_half t=0 immunity=1; tick; tick; begin_round; put_back_and_check; tick; end_round_at_fresh_half; tick; begin_round;
put_back_and_check; tick; end_round_before_dispatch
"""


def pair_for(profile: str) -> Pair:
    others = tuple(fault for fault in FAULTS if fault != "retention")  # which gives each record a file of its own
    sound = Pairing.of(profile, others)
    return Pair(replace(sound, given=replace(sound.constants, transactions=4)))


DUE_BATCH = """
send_half t=0 immunity=-1; send_wrong_rollback h=0; buffer_op h=0; send_wrong_rollback h=0; buffer_op h=0; begin_stop
"""
THREAD_STARTED_ANEW = "tick; become_slave; become_master; begin_round"
NOTHING_AFTER_A_JUMP = """
send_half t=0 immunity=1; send_half t=1 immunity=1; tick; tick; begin_round; jump_over_half; abort_at_null_result
"""
UNREAD_OP = """
send_half t=0 immunity=3; send_half t=1 immunity=-1; send_wrong_rollback h=1; write_op h=1;
tick; begin_round; spin_at_failed_immunity
"""
ACTING_BEYOND_THE_END = """
send_half t=0 immunity=1; send_half t=1 immunity=1; tick; tick; begin_round; put_back_and_check; put_back_and_check;
end_round_at_fresh_half; persist_offsets; lose_power records=1; act_for_dead_master; tick; begin_round;
jump_to_queue_end
"""
LATE_AND_UNREADABLE = """
send_undecodable_half t=0 immunity=3; roll_back_locally t=0; tick; tick; tick; tick; refuse_late_end h=0
"""
COUNTED_AND_SENT_AGAIN = "send_half_with_checks t=0 immunity=-1 checks=1; send_half_again t=0"
OF_AN_ORIGINAL_AND_SENT_AGAIN = "send_half_with_original t=0 original=1; send_half_again t=0"
ANOTHER_IN_ITS_PLACE = """
send_half t=0 immunity=1; lose_power records=0; send_half t=1 immunity=1; commit_what_is_gone t=0
"""
NONE_IN_ITS_PLACE = """
send_half t=0 immunity=1; send_half t=1 immunity=1; lose_power records=0; send_half t=2 immunity=-1;
send_half t=3 immunity=1; commit_another_half t=1; store_real_message h=1
"""
TWO_POWER_LOSSES = """
send_half t=0 immunity=-1; tick; send_half t=1 immunity=-1; send_half t=2 immunity=-1; lose_power records=2;
send_wrong_commit h=0; store_real_message h=0; tick; write_op h=0; lose_power records=2; tick; begin_round;
put_back_and_check
"""

_BRANCH = "the round's branch"
CASES = [
    pytest.param("5.3.3", FULL_BATCH, "buffer_op h=2", "op[0].names", id="a batch beyond its size"),
    pytest.param("5.3.3", DISPATCHED, "end_round_before_dispatch", _BRANCH, id="a half dispatched since"),
    pytest.param("5.3.3", DUE_BATCH, "begin_stop", "op[0].names", id="a shutdown with a batch that is due"),
    pytest.param("4.9.7", THREAD_STARTED_ANEW, "begin_round", "whether a round begins", id="a thread started anew"),
    pytest.param("5.3.3", NOTHING_AFTER_A_JUMP, "abort_at_null_result", _BRANCH, id="nothing after a jump"),
    pytest.param("4.5.1", UNREAD_OP, "spin_at_failed_immunity", "offsets.op", id="an op unread"),
    pytest.param(
        "5.3.3", LATE_AND_UNREADABLE, "refuse_late_end h=0", "the answer to END_TRANSACTION", id="late and unreadable"
    ),
    pytest.param("5.3.3", COUNTED_AND_SENT_AGAIN, "send_half_again t=0", "half[1].check_times", id="counted, twice"),
    pytest.param(
        "5.3.3", OF_AN_ORIGINAL_AND_SENT_AGAIN, "send_half_again t=0", "half[1].original", id="of an original, twice"
    ),
    pytest.param(
        "5.3.3", ANOTHER_IN_ITS_PLACE, "commit_what_is_gone t=0", "the answer to END_TRANSACTION", id="another half"
    ),
    pytest.param(
        "5.3.3", NONE_IN_ITS_PLACE, "commit_another_half t=1", "the answer to END_TRANSACTION", id="no other half"
    ),
    pytest.param("5.3.3", ACTING_BEYOND_THE_END, "jump_to_queue_end", "round.cursor", id="an acting slave beyond"),
]


@pytest.mark.parametrize(("profile", "schedule", "excluded", "variable"), CASES)
def test_the_step_is_excluded(profile: str, schedule: str, excluded: str, variable: str) -> None:
    pair = pair_for(profile)
    refused = [
        str(step)
        for step in read_path(pair.pairing.machine, pair.constants, schedule)
        if (conjunct := pair.take(step)) is not None and conjunct.rule == "the broker can take the same step"
    ]
    assert refused == [excluded]


@pytest.mark.parametrize(("profile", "schedule", "excluded", "variable"), CASES)
def test_without_that_the_pair_would_differ(
    profile: str, schedule: str, excluded: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fuzz.lockstep.pairing.is_excluded", lambda *state: False)
    monkeypatch.setattr("fuzz.lockstep.pairing.must_dispatch", lambda *state: True)
    pair = pair_for(profile)
    steps = read_path(pair.pairing.machine, pair.constants, schedule)
    with pytest.raises(Mismatch) as found:
        run(pair.pairing, Script(tuple(steps)))
    assert found.value.variable == variable


def test_a_round_ends_before_dispatch_where_nothing_has_dispatched() -> None:
    pair = pair_for("5.3.3")
    schedule = DISPATCHED.replace("put_back_and_check; tick; end_round_before", "put_back_and_check; end_round_before")
    assert [pair.take(step) for step in read_path(pair.pairing.machine, pair.constants, schedule)] == [None] * 11


def test_an_op_message_that_is_done_twice_stops_the_op_offset_in_both() -> None:
    pair = pair_for("5.4.0")
    steps = read_path(pair.pairing.machine, pair.constants, OP_DONE_TWICE)
    assert [pair.take(step) for step in steps] == [None] * len(steps)
    assert pair.state.offsets.op == 2


def test_queue_entries_that_outlive_their_records_would_be_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    pairing = Pairing.of("4.9.7", FAULTS)
    assert run_text(pairing, TWO_POWER_LOSSES).state.half_length == 3
    monkeypatch.setattr(WritableConsumeQueue, "erase_from", lambda *place: None)
    with pytest.raises(Mismatch) as found:
        run_text(pairing, TWO_POWER_LOSSES)
    assert found.value.variable == "half[2].check_in_flight"


def test_no_power_loss_takes_what_a_shutdown_has_flushed(monkeypatch: pytest.MonkeyPatch) -> None:
    pairing = Pairing.of("4.9.7", FAULTS)
    began, stopped, power_lost = read_path(pairing.machine, pairing.constants, "begin_stop; stop; lose_power records=0")
    pair = run_text(pairing, "send_half t=0 immunity=-1")
    assert (pair.take(began), pair.take(stopped)) == (None, None)
    assert pair.state.flushed.halves == 1
    refused = pair.take(power_lost)
    assert refused is not None
    assert refused.rule == "what was flushed stays"

    monkeypatch.setattr(MessageStore, "flush", lambda store: store.dispatch())
    with pytest.raises(Mismatch) as found:
        run_text(pairing, "send_half t=0 immunity=-1; begin_stop; stop")
    assert found.value.variable == "flushed.halves"
