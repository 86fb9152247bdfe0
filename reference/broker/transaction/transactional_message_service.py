"""Settling of halves by END_TRANSACTION: a half is found and marked as removed, at once or by the batch."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from reference.broker.broker_controller import BrokerController
    from reference.broker.processor.end_transaction_processor import EndTransaction
    from reference.format.record import LogRecord
    from reference.store.put_message import PutMessageResult


@dataclass(slots=True)
class MessageQueueOpContext:
    """``MessageQueueOpContext``: lives in memory only (B02)."""

    last_write_timestamp: int
    """When a batch was last taken from it; at first, when it was made."""
    context_queue: deque[str] = field(default_factory=deque)
    """Half offsets as they will be written, each with its comma."""
    total_size: int = 0
    """Their length together, in characters."""

    def put_back(self, body: str, last_write_timestamp: int) -> None:
        """Let the entries of an op message that was not stored wait as before (a repair of B04)."""
        entries = [f"{entry}{OFFSET_SEPARATOR}" for entry in body.split(OFFSET_SEPARATOR) if entry]
        self.context_queue.extendleft(reversed(entries))
        self.total_size += len(body)
        self.last_write_timestamp = last_write_timestamp


OFFSET_SEPARATOR = ","


@dataclass(frozen=True, slots=True)
class OpBatch:
    """The result of one run of the batch service."""

    written: tuple[LogRecord, ...]
    """The op messages that were stored, at most one an op queue."""
    lost: tuple[str, ...]
    """Bodies that were taken from memory and that the store refused (B04)."""
    wakeup_timestamp: int
    """When the service's thread runs next by itself; 0 means at once."""


class TransactionalMessageService:
    """The writing side of ``TransactionalMessageServiceImpl``; the check round is :class:`CheckRound`."""

    def __init__(self, broker: BrokerController) -> None:
        self.delete_context: dict[int, MessageQueueOpContext] = {}
        """For each half queue the offsets that wait for a batch (``deleteContext``)."""
        self.ends_between_writes: list[EndTransaction] = []
        """Commits whose message is stored and whose op message is not."""
        self._switches = broker.switches
        self._settings = broker.settings
        self._clock = broker.clock
        self._bridge = broker.transactional_message_bridge
        self._recorder = broker.recorder

    def delete_prepare_message(self, half: LogRecord) -> PutMessageResult | None:
        """Mark a half as committed or rolled back (``#deletePrepareMessage``).

        4.x writes an op message and ignores whether that worked. 5.1 and later put the half's offset in memory; only
        when no more fit is an op message written here, with as much of the waiting as goes into it.

        Gives the store's answer to the op message; None where that is put off.
        """
        if not self._switches.batches_ops:
            return self._write_op(half.queue_id, str(half.queue_offset))
        context = self.delete_context.get(half.queue_id)
        if context is None:
            context = self.delete_context[half.queue_id] = MessageQueueOpContext(self._clock.now)
        entry = f"{half.queue_offset}{OFFSET_SEPARATOR}"
        if len(context.context_queue) < self._settings.op_context_queue_length:
            context.context_queue.append(entry)
            context.total_size += len(entry)
            if self._recorder.is_on:
                self._recorder.record("op_buffered", half=half.queue_offset)
            return None
        return self._write_batch(half.queue_id, context, entry)

    def has_op_to_come(self, half: LogRecord) -> bool:
        """Whether an END_TRANSACTION of a half was carried out and its op message is not stored (a repair of B05)."""
        if any(end.header.tran_state_table_offset == half.queue_offset for end in self.ends_between_writes):
            return True
        context = self.delete_context.get(half.queue_id)
        return context is not None and f"{half.queue_offset}{OFFSET_SEPARATOR}" in context.context_queue

    def write_all(self) -> None:
        """Write all that waits, whether or not it is due (a repair of B03)."""
        for queue_id, context in self.delete_context.items():
            while context.context_queue and self._write_batch(queue_id, context).record is not None:
                pass

    def batch_send_op_message(self) -> OpBatch:
        """Write the batches that are due (``#batchSendOpMessage``).

        A batch is due when its body would reach ``transactionOpMsgMaxSize``, or when the last one of its queue was
        taken ``transactionOpBatchInterval`` ago. One run writes at most one op message a queue.
        """
        start_time = self._clock.now
        due = self._due_contexts(start_time)
        before = {queue_id: context.last_write_timestamp for queue_id, context in due.items()}
        bodies = {queue_id: self._take_body(context, "") for queue_id, context in due.items()}
        is_over_size = any(context.total_size >= self._settings.op_msg_max_size for context in due.values())
        wakeup_timestamp = self._first_timestamp(start_time, due) + self._settings.op_batch_interval_ms
        written = {queue_id: self._write_op(queue_id, body).record for queue_id, body in bodies.items()}
        lost = [queue_id for queue_id, record in written.items() if record is None]
        if self._switches.keeps_failed_ops:
            for queue_id in lost:
                due[queue_id].put_back(bodies[queue_id], before[queue_id])
        return OpBatch(
            written=tuple(record for record in written.values() if record is not None),
            lost=() if self._switches.keeps_failed_ops else tuple(bodies[queue_id] for queue_id in lost),
            wakeup_timestamp=0 if is_over_size or wakeup_timestamp <= start_time else wakeup_timestamp,
        )

    def run(self) -> Iterator[int]:
        """The loop of ``TransactionalOpBatchService#run``; gives for each pass how many milliseconds it waits."""
        wakeup_timestamp = self._clock.now + self._settings.op_batch_interval_ms
        while True:
            yield max(0, wakeup_timestamp - self._clock.now)
            wakeup_timestamp = self.batch_send_op_message().wakeup_timestamp

    def _first_timestamp(self, now: int, due: Container[int]) -> int:
        """From when the interval to the next run counts: now, or when a batch was last taken from a queue.

        A queue that is passed counts as well from 5.5.0 on, so that none waits for two intervals (A16); one in which
        nothing waits does so, too, and the interval is over for ever, until something comes (A17).
        """
        if not self._switches.wakes_by_last_write:
            return now
        passed = (
            context.last_write_timestamp
            for queue_id, context in self.delete_context.items()
            if queue_id not in due and (context.context_queue or not self._switches.sleeps_while_nothing_waits)
        )
        return min((now, *passed))

    @property
    def has_waiting_entries(self) -> bool:
        """Whether a half is settled in memory only, and an op message is to come."""
        return any(context.context_queue for context in self.delete_context.values())

    @property
    def has_batch_that_is_due(self) -> bool:
        """Whether the batch service would write something now."""
        return bool(self._due_contexts(self._clock.now))

    def _due_contexts(self, now: int) -> dict[int, MessageQueueOpContext]:
        return {queue_id: context for queue_id, context in self.delete_context.items() if self._is_due(context, now)}

    def _is_due(self, context: MessageQueueOpContext, now: int) -> bool:
        if not context.context_queue:
            return False
        is_large = context.total_size >= self._settings.op_msg_max_size
        return is_large or now - context.last_write_timestamp >= self._settings.op_batch_interval_ms

    def _take_body(self, context: MessageQueueOpContext, body: str) -> str:
        """Take entries out of memory until the body is full (``#getOpMessage``); the last may lie beyond the size."""
        while context.context_queue and len(body) < self._settings.op_msg_max_size:
            entry = context.context_queue.popleft()
            context.total_size -= len(entry)
            body += entry
        context.last_write_timestamp = self._clock.now
        return body

    def _write_batch(self, queue_id: int, context: MessageQueueOpContext, entry: str = "") -> PutMessageResult:
        """Write what waits behind an entry, as much as goes into one op message; repaired, what fails waits on."""
        before = context.last_write_timestamp
        body = self._take_body(context, entry)
        stored = self._write_op(queue_id, body)
        if stored.physical_offset is None and self._switches.keeps_failed_ops:
            context.put_back(body[len(entry) :], before)
        return stored

    def _write_op(self, queue_id: int, body: str) -> PutMessageResult:
        stored = self._bridge.write_op(queue_id, body)
        if self._recorder.is_on and (record := stored.record) is not None:
            for half in dict.fromkeys(body.split(OFFSET_SEPARATOR)):
                if half:
                    self._recorder.record("op_stored", half=int(half), op=record.queue_offset)
        return stored
