"""A15 closely: one half marks an op message as done that names another one, which no round has met yet.

The search takes minutes and is left to `make defects`; here its schedule is taken, with the repair and without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from model_check.clauses import name_of
from model_check.counterexample.steps import Replay, read_path, replay
from model_check.defects.catalogue import catalogue
from model_check.defects.findings import SEARCH_FINDINGS
from model_check.defects.resemblance import first_step_missing
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from model_check.world import World

SEARCH = catalogue()["A15"].search
assert SEARCH is not None

SCHEDULE = """
send_half t=0 immunity=3; send_half t=1 immunity=-1; tick; begin_round; put_back_immune_half; crash;
roll_back_locally t=0; roll_back_locally t=1; tick; buffer_op h=0; buffer_op h=1; begin_round; put_back_immune_half;
send_half t=2 immunity=-1; roll_back_locally t=2; buffer_op h=4; write_op_batch; pull_more_ops; pass_settled_half;
pass_half_of_settled_original; end_round_at_fresh_half
"""


def taken(world: World | None, steps: int | None = None) -> Replay:
    assert world is not None
    constants = world.constants
    path = read_path(TRANSACTIONAL_MESSAGES, constants, " ".join(SCHEDULE.split()))
    assert len(path) == SEARCH_FINDINGS.read()["A15"].depth
    return replay(TRANSACTIONAL_MESSAGES, constants, path[:steps])


def violated(answer: Replay) -> set[str]:
    return {name_of(clause) for clause in answer.violated}


def test_the_op_offset_passes_an_op_message_that_names_a_half_ahead() -> None:
    assert SEARCH is not None
    whole = taken(SEARCH.world)
    assert "S7.in_memory" in violated(whole)
    assert "S7.in_memory" not in violated(taken(SEARCH.world, -1))
    assert first_step_missing([event.step for event in whole.events], SEARCH.shows) is None
    last = {change.field: change.after for change in whole.events[-1].changes}
    assert (last["offsets.half"], last["offsets.op"]) == ("3", "1"), "half 4, which op message 0 names, is still ahead"


def test_the_repair_leaves_the_op_offset_where_it_was() -> None:
    assert SEARCH is not None
    repaired = taken(SEARCH.other_world)
    assert "S7.in_memory" not in violated(repaired)
    last = {change.field: change.after for change in repaired.events[-1].changes}
    assert last["offsets.half"] == "3"
    assert "offsets.op" not in last
