"""Is each step that is left out of the lockstep one that specification and broker would really differ on?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from fuzz.left_out import DRIVEN_FAULTS
from fuzz.lockstep import Lockstep
from fuzz.mismatch import Mismatch
from fuzz.schedule import Schedule, run
from fuzz.world import World
from model_check.counterexample.steps import read_path

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


def pair_for(profile: str) -> Lockstep:
    sound = World.of(profile, DRIVEN_FAULTS)
    return Lockstep(replace(sound, constants=replace(sound.constants, transactions=4)))


CASES = [
    pytest.param("5.3.3", FULL_BATCH, "buffer_op h=2", "op[0].names", id="a batch beyond its size"),
    pytest.param("5.3.3", DISPATCHED, "end_round_before_dispatch", "the round's branch", id="a half dispatched since"),
]


@pytest.mark.parametrize(("profile", "schedule", "left_out", "variable"), CASES)
def test_the_step_is_left_out(profile: str, schedule: str, left_out: str, variable: str) -> None:
    pair = pair_for(profile)
    refused = [
        str(step)
        for step in read_path(pair.world.machine, pair.constants, schedule)
        if (conjunct := pair.take(step)) is not None and conjunct.rule == "the broker can take the same step"
    ]
    assert refused == [left_out]


@pytest.mark.parametrize(("profile", "schedule", "left_out", "variable"), CASES)
def test_without_that_the_pair_would_differ(
    profile: str, schedule: str, left_out: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fuzz.lockstep.is_left_out", lambda *state: False)
    monkeypatch.setattr("fuzz.lockstep.reads_queues", lambda *state: True)
    pair = pair_for(profile)
    steps = read_path(pair.world.machine, pair.constants, schedule)
    with pytest.raises(Mismatch) as found:
        run(pair.world, Schedule(tuple(steps)))
    assert found.value.variable == variable


def test_a_round_ends_before_dispatch_where_nothing_has_dispatched() -> None:
    pair = pair_for("5.3.3")
    schedule = DISPATCHED.replace("put_back_and_check; tick; end_round_before", "put_back_and_check; end_round_before")
    assert [pair.take(step) for step in read_path(pair.world.machine, pair.constants, schedule)] == [None] * 11


def test_an_op_message_that_is_done_twice_stops_the_op_offset_in_both() -> None:
    pair = pair_for("5.4.0")
    steps = read_path(pair.world.machine, pair.constants, OP_DONE_TWICE)
    assert [pair.take(step) for step in steps] == [None] * len(steps)
    assert pair.state.offsets.op == 2
