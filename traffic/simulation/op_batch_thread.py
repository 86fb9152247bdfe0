"""The thread that writes op batches (``TransactionalOpBatchService``, 5.1.0 and later), and which halves they name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.format.system_topics import HALF_QUEUE_ID, OP_TOPIC
from traffic.simulation.ledger import OpState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reference.broker.broker_controller import BrokerController
    from traffic.simulation.broker_host import BrokerHost


class OpBatchThread:
    """The thread; it rests while nothing waits, and wakes at a moment at which it would have run (A16, A17).

    It starts with ``TransactionalMessageServiceImpl``, some time before the check service; how long is the machine's.
    A round that looks at the op queue just before a batch is written checks what the batch settles (B05, B06): three
    times as many as one that looks just behind it.
    """

    def __init__(self, host: BrokerHost) -> None:
        self._host = host
        self._interval = host.settings.op_batch_interval_ms
        self._chance = host.run.streams.of("op batch thread")
        self._number = 0
        self._rests = False
        self._due = 0.0
        """When it would have run while it rests; again an interval later, and so on."""

    def start(self, _broker: BrokerController) -> None:
        """See :class:`traffic.simulation.broker_host.HostedThread`."""
        self._rests = False
        if self._host.switches.batches_ops:
            self._put(self._interval - self._lead_ms() % self._interval)

    def _lead_ms(self) -> float:
        leads, epoch = self._host.run.leads_ms, self._host.epoch
        if leads is None:
            return self._chance.random() * self._interval
        return leads[min(epoch, len(leads)) - 1]

    def wake(self) -> None:
        """An entry waits: the thread runs at once if the batch is large, and in its time if it rested."""
        broker = self._host.broker
        if broker is None:
            return
        most = self._host.settings.op_msg_max_size
        for context in broker.transactional_message_service.delete_context.values():
            if context.total_size > most:
                self._rests = False
                self._put(0.0)
                return
        if self._rests:
            self._rests = False
            late = self._host.run.events.now - self._due
            self._put(-late if late <= 0 else self._interval - late % self._interval)

    def stored(self, offsets: Iterable[int], op_offset: int | None = None) -> None:
        """An op message that names halves is stored, the last one where no offset is given."""
        broker = self._host.broker
        if broker is None:
            return
        if op_offset is None:
            op_offset = broker.message_store.get_max_offset_in_queue(OP_TOPIC, HALF_QUEUE_ID) - 1
        halves, buffered = self._host.run.ledger.halves, self._host.buffered
        for offset in offsets:
            buffered.pop(offset, None)
            half = halves.get(offset)
            if half is not None:
                half.op, half.op_offset = OpState.STORED, op_offset

    def _put(self, after_ms: float) -> None:
        self._number += 1
        number = self._number
        self._host.put(after_ms, lambda: self._run(number))

    def _run(self, number: int) -> None:
        """``TransactionalOpBatchService#run``."""
        broker = self._host.broker
        if broker is None or number != self._number or self._host.is_stopping:
            return
        batch = broker.run_op_batch_service()
        for record in batch.written:
            self.stored((int(text) for text in record.body.split(b",") if text), record.queue_offset)
        service = broker.transactional_message_service
        wait = max(0, batch.wakeup_timestamp - broker.clock.now)
        if not service.has_waiting_entries:
            self._rests, self._due = True, self._host.run.events.now + (wait or self._interval)
        elif wait or batch.written:
            self._put(wait)
        else:  # it spins until the batch is due (A17)
            began = min(context.last_write_timestamp for context in service.delete_context.values())
            self._put(max(1, began + self._interval - broker.clock.now))
