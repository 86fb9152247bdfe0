"""The small check service as a machine: its actions in the order in which they are tried, and one property."""

from __future__ import annotations

from benchmarks.machines.small_check_service import broker, check_round
from benchmarks.machines.small_check_service.state import Constants, Phase, State
from spec.language import Machine, always, declared_action, declared_always, declared_sometimes, each, sometimes


@always("S1", clause="commit_only", t=each("transactions"))
def only_committed_messages_are_delivered(s: State, c: Constants, t: int) -> bool:
    """A message is delivered only when its local transaction has committed."""
    return s.transaction[t].delivered == 0 or s.transaction[t].phase == Phase.COMMITTED


@sometimes("S1", t=each("transactions"))
def a_message_is_delivered_twice(s: State, c: Constants, t: int) -> bool:
    """A message is delivered a second time."""
    return s.transaction[t].delivered == 2


SMALL_CHECK_SERVICE = Machine(
    name="small_check_service",
    state=State,
    actions=tuple(
        declared_action(f)
        for f in (
            broker.send_half,
            broker.stay_unknown,
            broker.commit,
            broker.roll_back,
            broker.commit_late,
            broker.roll_back_late,
            broker.receive_end,
            broker.lose_end,
            broker.receive_check,
            broker.lose_check,
            broker.receive_answer,
            broker.write_op_batch,
            broker.tick,
            broker.save_offsets,
            broker.crash,
            check_round.begin_round,
            check_round.pass_settled_half,
            check_round.discard_half,
            check_round.pass_half_of_settled_original,
            check_round.put_back_immune_half,
            check_round.put_back_and_check,
            check_round.pull_more_ops,
            check_round.end_round_at_time_limit,
            check_round.end_round_at_queue_end,
            check_round.end_round_at_fresh_half,
            check_round.end_round_at_young_half,
        )
    ),
    clauses=(declared_always(only_committed_messages_are_delivered),),
    witnesses=(declared_sometimes(a_message_is_delivered_twice),),
)
"""The machine; it has no switches, since there are no versions of it."""
