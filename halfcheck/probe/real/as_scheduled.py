"""Whether a broker wrote what a schedule has, in its order: then the schedule was played to the letter, as records go.

What a producer has decided for itself is in no record, so that no path through the records alone can tell a commit that
was sent by mistake from one that was decided. The probe knows, as it has played that producer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from halfcheck.probe.schedules import constants_of
from model_check.counterexample.steps import read_path
from model_check.instances import switches_of
from model_check.trace_validation.observed import EventKind
from spec.chapters import discarding, end_transaction
from spec.language import take
from spec.transactional_messages import TRANSACTIONAL_MESSAGES
from wire.client.transactions import ROLLBACK
from wire.probe.orders import SendEnd

if TYPE_CHECKING:
    from model_check.trace_validation.observed import Trace
    from model_check.verdicts.counterexamples import MinimalCounterexample
    from spec.state import State
    from wire.probe.orders import ProbePlan

_OF_PRODUCERS: Final = frozenset(
    {
        "wrong_end",
        "slow_local",
        "late_end",
        "lose_end",
        "duplicate_end",
        "reorder",
        "offline_producer",
        "restarted_producer",
        "clock_skew",
    }
)
"""Faults of which a broker writes down no more than what an END_TRANSACTION leads to."""
_OF_ITS_PROCESS: Final = frozenset({"crash", "graceful_stop"})


def depends_on_producers(profile: str, one: MinimalCounterexample, plan: ProbePlan) -> bool:
    """Whether a counterexample turns on what only its producers know, and else on nothing that a probe does not see.

    That is a fault of theirs; or when a rollback arrived, which no record tells where its op message comes later.
    """
    own = _OF_PRODUCERS.intersection(one.faults)
    rolls_back = any(isinstance(order, SendEnd) and order.outcome == ROLLBACK for order in plan.orders)
    is_known = bool(own) or (rolls_back and switches_of(profile).batches_ops)
    return is_known and (_OF_PRODUCERS | _OF_ITS_PROCESS).issuperset(one.faults)


@dataclass(frozen=True, slots=True)
class Written:
    """Halves by transaction, deliveries by half and discards, in the order of the log; and what op messages name."""

    records: tuple[tuple[str, int], ...]
    names: frozenset[int]

    def begins_with(self, other: Written) -> bool:
        """Whether all of another one is there first, in its order."""
        return self.records[: len(other.records)] == other.records and other.names <= self.names


def written_by_schedule(profile: str, one: MinimalCounterexample) -> Written:
    """What the steps of a counterexample write."""
    machine = TRANSACTIONAL_MESSAGES
    constants = constants_of(profile, one.faults, one.instance, one.steps)
    state = cast("State", machine.initial(constants))
    records: list[tuple[str, int]] = []
    names: set[int] = set()
    for step in read_path(machine, constants, one.steps):
        halves, ops, cursor = state.half_length, state.op_length, state.round.cursor
        take(state, constants, step)
        records += [("half", state.half[half].transaction) for half in range(halves, state.half_length)]
        if step.action.function is end_transaction.store_real_message:
            records.append(("delivered", step.arguments[0]))
        if step.action.function is discarding.discard_half and constants.keeps_discarded:
            records.append(("discarded", state.half[cursor].transaction))
        for op in range(ops, state.op_length):
            names |= {half for half in range(constants.half_slots) if state.op[op].names.has(half)}
    return Written(tuple(records), frozenset(names))


def written_in(trace: Trace) -> Written:
    """What a trace has of it."""
    records: list[tuple[str, int]] = []
    names: set[int] = set()
    for event in trace.events:
        if event.kind in (EventKind.HALF_STORED, EventKind.PUT_BACK):
            records.append(("half", event.transaction))
        elif event.kind is EventKind.DELIVERED:
            records.append(("delivered", event.half))
        elif event.kind is EventKind.DISCARDED:
            records.append(("discarded", event.transaction))
        elif event.kind is EventKind.OP_STORED:
            names |= set(event.names)
    return Written(tuple(records), frozenset(names))
