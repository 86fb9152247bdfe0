"""Steps of the specification that the broker cannot take in the same way; they are left out of the lockstep, here only.

- A batch beyond its size. The specification keeps the waiting half offsets as a set, which is written as a whole. The
  broker keeps a queue, in which an offset may stand twice, and cuts an op message at `transactionOpMsgMaxSize`
  (TransactionalMessageServiceImpl#getOpMessage). So no entry joins a batch that is full by the broker's count.
- A round that ends at a half which is stored but not dispatched yet, when the broker has dispatched it since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.system_topics import HALF_QUEUE_ID, HALF_TOPIC

if TYPE_CHECKING:
    from fuzz.broker_side import BrokerSide
    from spec.constants import Constants
    from spec.language import Step
    from spec.state import State


def batch_is_full(side: BrokerSide) -> bool:
    """The broker's op batch has reached its size, repeated offsets counted."""
    context = side.broker.transactional_message_service.delete_context.get(HALF_QUEUE_ID)
    return context is not None and context.total_size >= side.broker.settings.op_msg_max_size


def cursor_is_dispatched(state: State, side: BrokerSide) -> bool:
    """The half at the cursor is in its consume queue already."""
    return side.broker.message_store.get_max_offset_in_queue(HALF_TOPIC, HALF_QUEUE_ID) > state.round.cursor


def is_left_out(step: Step, state: State, constants: Constants, side: BrokerSide) -> bool:
    """Whether a step is left out in this state."""
    name = step.action.name
    if name == "buffer_op":
        return constants.batches_ops and batch_is_full(side)
    return name == "end_round_before_dispatch" and cursor_is_dispatched(state, side)


def reads_queues(name: str, state: State, side: BrokerSide) -> bool:
    """Whether a step must see everything that is stored in the consume queues.

    A pass of the round over an earlier half need not: so the copies that the round stores stay undispatched until it
    comes to them, and `end_round_before_dispatch` is possible.
    """
    if name == "end_round_before_dispatch":
        return False
    return not state.round.running or name == "pull_more_ops" or not cursor_is_dispatched(state, side)
