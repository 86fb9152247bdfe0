"""The consumer: long pulls of each queue, one batch after the other, and what it has got of which transaction.

After ``PullMessageProcessor``, ``PullRequestHoldService`` and ``DefaultMQPushConsumerImpl#pullMessage``: a pull that
finds nothing is held, and answered when a message can be read, a moment after it was stored. No pull is lost, as its
loss would show that of a connection.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reference.format.properties import NAME_VALUE_SEPARATOR, UNIQUE_KEY
from reference.format.record import QueueOffset
from reference.store.get_message import GetMessageStatus
from traffic.simulation.ledger import FORGOTTEN, LocalDecision
from traffic.simulation.producers import KEY_DIGITS, TOPIC
from traffic.workload.defaults import client_figure

if TYPE_CHECKING:
    from reference.store.get_message import MessageBuffer
    from traffic.simulation.broker_host import BrokerHost
    from traffic.simulation.ledger import TrackedTransaction
    from traffic.simulation.requests import BrokerRequests
    from traffic.simulation.running import RunningSimulation
    from traffic.simulation.storage_threads import StorageThreads

_KEY: Final = f"{UNIQUE_KEY}{NAME_VALUE_SEPARATOR}".encode()


@dataclass(slots=True)
class PulledQueue:
    """One queue, as the consumer knows it."""

    number: int
    offset: int = 0
    """The next message that it will get."""
    held_from: float = 0.0
    """From then on a pull waits at the broker."""
    is_waking: bool = False
    """The pull that waits is about to be answered."""


class SimulatedConsumer:
    """One consumer of all queues."""

    def __init__(
        self, run: RunningSimulation, host: BrokerHost, requests: BrokerRequests, storage: StorageThreads
    ) -> None:
        self._workload = run.workload
        self._events = run.events
        self._random = run.streams.of("consumer")
        self._ledger = run.ledger
        self._counts = run.counts
        self._host = host
        self._batch = client_figure("pull_batch_size")
        self._delay_ms = client_figure("pull_delay_when_exception")
        self._reput_ms = client_figure("reput_wait")
        self._queues = [PulledQueue(number) for number in range(client_figure("topic_queues"))]
        requests.on_message = self._wake
        host.on_boot.append(self._pull_again)
        storage.unread_from = self._unread_from

    def _wake(self, transaction: TrackedTransaction) -> None:
        """A message was stored: the pull that waits for it is answered when the message can be read."""
        queue = self._queues[transaction.number % len(self._queues)]
        if queue.is_waking:
            return
        queue.is_waking = True
        readable = self._events.now + self._random.random() * self._reput_ms
        self._events.put(max(readable, queue.held_from), self._answer, queue)

    def _answer(self, queue: PulledQueue) -> None:
        """The broker answers a pull with what there is."""
        broker, events, network = self._host.broker, self._events, self._workload.network
        now = events.now
        if now < self._host.stands_until:
            events.put(self._host.stands_until, self._answer, queue)
            return
        queue.is_waking = False
        if broker is None:
            return
        found = broker.message_store.get_message(TOPIC, queue.number, QueueOffset(queue.offset), self._batch)
        if found.status is not GetMessageStatus.FOUND:
            queue.offset = broker.message_store.get_max_offset_in_queue(TOPIC, queue.number)
            return
        arrives = now + network.from_broker_ms.draw(self._random)
        queue.offset = found.next_begin_offset
        queue.held_from = arrives + network.to_broker_ms.draw(self._random)
        for message in found.message_buffers:
            if message is not None:
                self._consume(_number_in(message), arrives)
        if queue.offset < found.max_offset:
            queue.is_waking = True
            events.put(queue.held_from, self._answer, queue)

    def _consume(self, number: int, at: float) -> None:
        transaction = self._ledger.transactions.get(number)
        if transaction is None:
            self._counts.befell("doubled", FORGOTTEN)
            return
        transaction.delivered += 1
        if transaction.delivered == 1:
            self._counts.delivered += 1
            if transaction.decision is LocalDecision.COMMIT and transaction.has_run:
                self._counts.commit_to_delivery_ms.add(max(0.0, at - transaction.runs_until))
        elif transaction.delivered == 2:
            self._counts.befell("doubled", transaction.doubled_by or "unexplained")
        self._ledger.may_be_over(transaction)

    def _pull_again(self) -> None:
        """The connections are new: each queue is pulled a while later (``pullTimeDelayMillsWhenException``)."""
        now = self._events.now
        for queue in self._queues:
            wait = self._random.random() * self._delay_ms if self._host.epoch > 1 else 0.0
            queue.held_from = now + wait
            queue.is_waking = True
            self._events.put(queue.held_from, self._answer, queue)

    def _unread_from(self) -> int:
        """The place in the log of the first message that the consumer has yet to get."""
        broker, place = self._host.broker, 1 << 62
        if broker is None:
            return 0
        store = broker.message_store
        for queue in self._queues:
            if queue.offset < store.get_max_offset_in_queue(TOPIC, queue.number):
                offset = QueueOffset(queue.offset)
                place = min(place, store.get_commit_log_offset_in_queue(TOPIC, queue.number, offset))
        return place


def _number_in(message: MessageBuffer) -> int:
    """The transaction whose message was pulled, by its UNIQ_KEY."""
    file, at, _, size = message
    held = bytes(file.buffer[at : at + size])
    begins = held.index(_KEY) + len(_KEY)
    return int(held[begins : begins + KEY_DIGITS], 16)
