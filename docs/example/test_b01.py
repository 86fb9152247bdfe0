"""S1.immune_half is violated in 5.3.3 in the quiet world.

A commit inside the immunity of a half that was put back for it is the last word: its copy is not delivered.
"""

from model_check.counterexample.steps import read_path, replay
from model_check.world import World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

STEPS = """
send_half t=0 immunity=3;
commit_locally t=0;
tick;
begin_round;
put_back_immune_half;
end_round_at_fresh_half;
tick;
store_real_message h=0;
buffer_op h=0;
tick;
tick;
begin_round;
put_back_and_check;
answer_check h=2;
store_real_message h=2;
"""


def test_s1_immune_half_is_violated_in_5_3_3_in_the_quiet_world() -> None:
    constants = World.of("5.3.3", [], "tiny").constants
    replayed = replay(TRANSACTIONAL_MESSAGES, constants, read_path(TRANSACTIONAL_MESSAGES, constants, STEPS))
    assert [f"{clause.identifier}.{clause.clause}" for clause in replayed.violated] == ["S9.immune_half", "S1.immune_half", "S6.flag_of_a_copy"]
    assert len(replayed.events) == 15
