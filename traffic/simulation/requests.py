"""The requests of producers, as the broker carries them out, and what each of them means to a transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reference.broker.processor.end_transaction_processor import EndTransactionOutcome
from reference.format.record import TRANSACTION_COMMIT
from reference.format.system_topics import HALF_TOPIC
from traffic.simulation.ledger import OpState, TrackedHalf, TrackedTransaction

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.broker.processor.end_transaction_processor import EndTransactionRequestHeader
    from reference.broker.processor.send_message_processor import SendMessageRequest
    from traffic.simulation.broker_host import BrokerHost
    from traffic.simulation.op_batch_thread import OpBatchThread

_NOT_CARRIED_OUT: Final = (
    EndTransactionOutcome.REFUSED,
    EndTransactionOutcome.DROPPED,
    EndTransactionOutcome.IGNORED,
)


class BrokerRequests:
    """Sends and END_TRANSACTIONs.

    Attributes
    ----------
    on_message
        Called when a real message can be read, with its transaction.
    """

    def __init__(self, host: BrokerHost, op_batch: OpBatchThread) -> None:
        self.on_message: Callable[[TrackedTransaction], None] = lambda _: None
        self._host = host
        self._op_batch = op_batch
        self._run = host.run
        self._most_held_bytes = host.run.most_held_bytes

    def store_half(self, transaction: TrackedTransaction, request: SendMessageRequest) -> TrackedHalf | None:
        """Store a half; None where it is refused."""
        broker = self._host.broker
        if broker is None:
            return None
        stored = broker.take_escaped(request).result  # who has sent it is known by heartbeats alone
        if stored is None or stored.physical_offset is None or stored.queue_offset is None:
            return None
        offset = stored.queue_offset
        half = TrackedHalf(transaction, offset, stored.physical_offset)
        self._run.ledger.store(half)
        transaction.halves += 1
        if transaction.halves > 1:
            self._run.counts.twin_halves += 1
        if self._host.lost_power and offset < broker.transactional_message_bridge.fetch_consume_offset(HALF_TOPIC):
            transaction.lost_by = transaction.lost_by or "B14"
            self._run.ledger.passed(half)
        self.count_record(transaction)
        if self._run.broker.flushes_each_message:
            broker.message_store.flush()
        return half

    def end_transaction(self, half: TrackedHalf, header: EndTransactionRequestHeader) -> None:
        """Carry an END_TRANSACTION out, from its first step to its last."""
        broker = self._host.broker
        if broker is None:
            return
        ending = broker.end_transaction(header)
        while not ending.is_over:
            step = ending.step()
            outcome = step.outcome
            if outcome is EndTransactionOutcome.MESSAGE_STORED:
                place = None if step.stored is None else step.stored.physical_offset
                self._committed(half, place or 0)
            elif outcome in _NOT_CARRIED_OUT:
                self._run.counts.ends_refused += outcome is EndTransactionOutcome.REFUSED
            else:
                self._marked(half, header, outcome)
        if self._run.broker.flushes_each_message:
            broker.message_store.flush()

    def count_record(self, transaction: TrackedTransaction) -> None:
        """A record of a transaction's message is in the log: count the part of its body that is not held."""
        if transaction.body_bytes > self._most_held_bytes:
            self._run.counts.log_bytes += transaction.body_bytes - self._most_held_bytes

    def settled(self, transaction: TrackedTransaction) -> None:
        """A transaction is settled, or given up."""
        if transaction.settled_at >= 0:
            return
        transaction.settled_at = now = self._run.events.now
        if transaction.crashed_at >= 0:
            self._run.counts.crash_to_settlement_ms.add(now - transaction.crashed_at)
            transaction.crashed_at = -1.0

    def _committed(self, half: TrackedHalf, place: int) -> None:
        transaction, counts = half.transaction, self._run.counts
        if transaction.committed:
            first = transaction.committed[0][0]
            transaction.doubled_by = transaction.doubled_by or self._host.causes.of_second_delivery(first, half)
        else:
            if transaction.is_rolled_back:
                counts.befell("delivered_after_rollback", "A12")
            if transaction.is_discarded:
                counts.befell("delivered_after_discard", "A14")
        transaction.committed.append((half, place))
        self.settled(transaction)
        self.count_record(transaction)
        self.on_message(transaction)

    def _marked(self, half: TrackedHalf, header: EndTransactionRequestHeader, outcome: EndTransactionOutcome) -> None:
        """Its op message is stored, buffered or lost."""
        half.is_named = True
        if outcome is EndTransactionOutcome.OP_BUFFERED:
            half.op, half.buffered_at = OpState.BUFFERED, self._run.events.now
            self._host.buffered[half.offset] = half
            self._op_batch.wake()
        elif outcome is EndTransactionOutcome.OP_STORED:
            self._op_batch.stored((half.offset,))
        elif outcome is EndTransactionOutcome.OP_LOST:
            half.op = OpState.NOT_STORED
        if header.commit_or_rollback != TRANSACTION_COMMIT:
            half.transaction.is_rolled_back = True
            self.settled(half.transaction)
