"""Schedules in which files of the commit log are deleted, taken by both: no step is refused, and nothing differs."""

from __future__ import annotations

import pytest

from fuzz.lockstep.pairing import Pair, Pairing
from model_check.counterexample.steps import read_path

READ_FOR_ANOTHER = """
send_half t=0 immunity=-1; send_half t=1 immunity=-1; commit_locally t=1; leave_it_unknown t=0; store_real_message h=1;
{op}; tick; {batch}tick; tick; begin_round; pull_more_ops; delete_oldest_files records=1; put_back_and_check;
answer_check h=2; store_real_message h=2
"""
BELOW_THE_LOWER_END = """
send_half t=0 immunity=3; tick; begin_round; put_back_immune_half; end_round_at_fresh_half; persist_offsets;
act_for_dead_master; tick; delete_oldest_files records=2; move_lower_ends; begin_round; jump_to_what_is_left;
end_round_below_what_is_left; tick; begin_round; jump_to_what_is_left; end_round_below_what_is_left
"""
NOTHING_LEFT = """
send_half t=0 immunity=3; tick; begin_round; put_back_immune_half; delete_oldest_files records=2; jump_to_what_is_left;
end_round_at_queue_end
"""
OP_QUEUE_JUMPS = """
send_half t=0 immunity=-1; roll_back_locally t=0; write_op h=0; tick; tick; begin_round; pass_settled_half;
end_round_at_queue_end; delete_oldest_files records=2; tick; begin_round; end_round_at_queue_end
"""


@pytest.mark.parametrize(
    ("profile", "faults", "schedule"),
    [
        ("4.5.1", ("retention",), READ_FOR_ANOTHER.format(op="write_op h=1", batch="")),
        ("4.9.7", ("retention",), READ_FOR_ANOTHER.format(op="write_op h=1", batch="")),
        ("5.3.3", ("retention",), READ_FOR_ANOTHER.format(op="buffer_op h=1", batch="write_op_batch; ")),
        ("5.3.3", ("retention", "acting_slave"), BELOW_THE_LOWER_END),
        ("4.9.7", ("retention",), NOTHING_LEFT),
        ("5.3.3", ("retention",), NOTHING_LEFT),
        ("4.9.7", ("retention",), OP_QUEUE_JUMPS),
    ],
)
def test_both_take_the_schedule(profile: str, faults: tuple[str, ...], schedule: str) -> None:
    pair = Pair(Pairing.of(profile, faults))
    for step in read_path(pair.pairing.machine, pair.constants, schedule):
        refused = pair.take(step)
        assert refused is None, f"{step}: {refused}"


@pytest.mark.parametrize("profile", ["4.5.1", "4.9.7", "5.3.3"])
def test_the_later_half_is_delivered_twice_by_the_broker(profile: str) -> None:
    op, batch = ("buffer_op h=1", "write_op_batch; ") if profile == "5.3.3" else ("write_op h=1", "")
    pair = Pair(Pairing.of(profile, ("retention",)))
    for step in read_path(pair.pairing.machine, pair.constants, READ_FOR_ANOTHER.format(op=op, batch=batch)):
        pair.take(step)
    assert pair.side.records.deliveries == {1: 2}
