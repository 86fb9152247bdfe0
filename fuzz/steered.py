"""Steps of the specification that the broker cannot take in the same way; they are left out of the lockstep, here only.

- A batch beyond its size. The specification keeps the waiting half offsets as a set, which is written as a whole. The
  broker keeps a queue, in which an offset may stand twice, and cuts an op message at `transactionOpMsgMaxSize`
  (TransactionalMessageServiceImpl#getOpMessage). So no entry joins a batch that is full by the broker's count.
- A round that ends at a half which is stored but not dispatched yet, when the broker has dispatched it since.
- A shutdown with a batch that is due: the broker writes it as part of the shutdown, the specification before that.
- A round before the check thread is due. A thread that was started anew (BrokerController#changeToMaster) waits a whole
  interval, while the specification counts from the end of the last round.
- A store that answers nothing in a round that has missed a half before. The broker only looks at that answer the first
  time (`getMessageNullCount`); the specification lets it abort the round any time.
- An immune half whose copy cannot be stored, as long as op messages are unread. The broker reads them then, and may
  pass the half for one of them; the specification ends the round with what was read.
- Offsets beyond the end of their queue on an acting slave, whose store corrects no offset
  (DefaultMessageStore#nextOffsetCorrection); the specification corrects them for everybody.
- A late END_TRANSACTION for a half that cannot be decoded. The broker looks for the half first, and finds none; the
  specification may refuse it for either reason.
- A message with checks counted that is sent again: it carries the same count again, and the specification sends its
  second half without.
- A power loss that takes records and leaves the entries of their queue. The next start moves the queue's write position
  before them, the one after that may take them for entries again (ConsumeQueue#truncateDirtyLogicFiles, #recover), and
  the half queue holds what is no half; the specification has no such queue. So the entries are lost with the records.
- An END_TRANSACTION for a half that a power loss has taken: what stands in its place in bytes decides whether it finds
  nothing or another half, and the specification allows both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reference.broker.broker_role import BrokerRole
from reference.format.properties import CHECK_TIMES
from reference.format.system_topics import HALF_QUEUE_ID, HALF_TOPIC, OP_TOPIC

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fuzz.broker_side.broker_side import BrokerSide
    from fuzz.lockstep.pair import Lockstep
    from reference.format.record import Record
    from spec.language import Step
    from spec.state import State


def batch_is_full(side: BrokerSide) -> bool:
    """The broker's op batch has reached its size, repeated offsets counted."""
    context = side.broker.transactional_message_service.delete_context.get(HALF_QUEUE_ID)
    return context is not None and context.total_size >= side.broker.settings.op_msg_max_size


def cursor_is_dispatched(state: State, side: BrokerSide) -> bool:
    """The half at the cursor is in its consume queue already."""
    return side.broker.message_store.get_max_offset_in_queue(HALF_TOPIC, HALF_QUEUE_ID) > state.round.cursor


def is_left_out(step: Step, pair: Lockstep) -> bool:
    """Whether a step is left out in this state."""
    name = step.action.name
    if name in _LEFT_OUT:
        return _LEFT_OUT[name](pair)
    return name in _LEFT_OUT_OF_ONE and _LEFT_OUT_OF_ONE[name](pair, step.arguments[0])


def _batch_is_beyond_its_size(pair: Lockstep) -> bool:
    return pair.constants.batches_ops and batch_is_full(pair.side)


def _is_dispatched_since(pair: Lockstep) -> bool:
    return cursor_is_dispatched(pair.state, pair.side)


def _batch_is_due(pair: Lockstep) -> bool:
    return pair.side.broker.transactional_message_service.has_batch_that_is_due


def _cannot_begin_round(pair: Lockstep) -> bool:
    service = pair.side.broker.check_service
    is_started_anew = service.waits_since > service.last_ended
    return service.round is None and ((is_started_anew and not service.is_due) or _acting_reads_beyond_end(pair))


def _has_missed_a_half(pair: Lockstep) -> bool:
    running = pair.side.broker.check_service.round
    return running is not None and running.get_message_null_count > 1


def _has_ops_unread(pair: Lockstep) -> bool:
    """Whether a pull would give something, or move an offset."""
    running = pair.side.broker.check_service.round
    if running is None:
        return False
    ops = running.op_remove_map
    end = pair.side.broker.message_store.get_max_offset_in_queue(OP_TOPIC, HALF_QUEUE_ID)
    return ops.pull_result.found is not None or ops.next_op_offset != end or len(pair.records.op_places) != end


def _is_slave_beyond_end(pair: Lockstep) -> bool:
    return pair.side.broker.role is BrokerRole.ACTING_MASTER


def _acting_reads_beyond_end(pair: Lockstep) -> bool:
    broker = pair.side.broker
    offset = broker.transactional_message_bridge.fetch_consume_offset(OP_TOPIC)
    return broker.role is BrokerRole.ACTING_MASTER and offset > len(pair.records.op_places)


def _finds_something(pair: Lockstep, transaction: int) -> bool:
    record = _in_its_place(pair, transaction)
    sent = pair.side.producers.sent.get(transaction)
    return record is not None and sent is not None and record.queue_offset == sent.queue_offset


def _finds_no_half(pair: Lockstep, transaction: int) -> bool:
    record = _in_its_place(pair, transaction)
    return record is None or record.topic != HALF_TOPIC or not _finds_something(pair, transaction)


def _half_is_unreadable(pair: Lockstep, half: int) -> bool:
    return pair.side.broker.message_store.look_message_by_offset(pair.place_of_half(half)) is None


def _carries_checks(pair: Lockstep, transaction: int) -> bool:
    sent = pair.side.producers.sent.get(transaction)
    return sent is not None and CHECK_TIMES in sent.request.properties


def _in_its_place(pair: Lockstep, transaction: int) -> Record | None:
    """What lies where the transaction's send was stored."""
    sent = pair.side.producers.sent.get(transaction)
    return None if sent is None else pair.side.broker.message_store.look_message_by_offset(sent.place)


_LEFT_OUT: Final[Mapping[str, Callable[[Lockstep], bool]]] = {
    "buffer_op": _batch_is_beyond_its_size,
    "end_round_before_dispatch": _is_dispatched_since,
    "stop": _batch_is_due,
    "begin_round": _cannot_begin_round,
    "fail_to_begin_round": _cannot_begin_round,
    "abort_at_null_result": _has_missed_a_half,
    "spin_at_failed_immunity": _has_ops_unread,
    "jump_to_queue_end": _is_slave_beyond_end,
}
"""By the action's name."""

_LEFT_OUT_OF_ONE: Final[Mapping[str, Callable[[Lockstep, int], bool]]] = {
    "refuse_late_end": _half_is_unreadable,
    "send_half_again": _carries_checks,
    "commit_what_is_gone": _finds_something,
    "commit_another_half": _finds_no_half,
}
"""Those that speak of one half or transaction."""


def reads_queues(name: str, state: State, side: BrokerSide) -> bool:
    """Whether a step must see everything that is stored in the consume queues.

    A pass of the round over an earlier half need not: so the copies that the round stores stay undispatched until it
    comes to them, and `end_round_before_dispatch` is possible.
    """
    if name == "end_round_before_dispatch":
        return False
    is_pull = name in ("pull_more_ops", "abort_at_next_ops", "spin_at_failed_immunity")
    return not state.round.running or is_pull or not cursor_is_dispatched(state, side)
