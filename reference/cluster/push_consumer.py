"""The Java client's push consumer, as far as it delivers, gives back and goes on (``DefaultMQPushConsumerImpl``).

It is not held to byte identity: one thread reads the queues of its topic and of its group's retry topic in turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reference.broker.consumer_offset_manager import NO_OFFSET
from reference.broker.processor.send_back_processor import consumer_send_msg_back
from reference.client.producer_messages import RemotingError
from reference.format.properties import RETRY_TOPIC, UNIQUE_KEY
from reference.format.record import QueueOffset
from reference.format.system_topics import retry_topic
from reference.simulation.scheduler import Sleep, Steps, Until
from reference.store.get_message import GetMessageResult, GetMessageStatus
from reference.store.message import MessageExt

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.broker.broker_controller import BrokerController
    from reference.cluster.cluster import Cluster

PULL_BATCH_SIZE = 32
PERSIST_INTERVAL_MS = 5_000
"""``persistConsumerOffsetInterval``: how often the consumer commits its offsets at the broker."""

_Queue = tuple[str, int]


@dataclass(frozen=True)
class Consumption:
    """One call of the application."""

    unique_key: str
    topic: str
    """The topic that it was delivered to first, also where it comes from the retry topic."""
    queue_id: int
    queue_offset: int
    reconsume_times: int
    """How often it was given back before."""
    time: int
    is_success: bool
    """The application's answer: CONSUME_SUCCESS, or RECONSUME_LATER."""


class PushConsumer:
    """One consumer of a group; its listener says whether it consumed a message (``MessageListenerConcurrently``)."""

    def __init__(
        self, cluster: Cluster, group: str, topic: str, listener: Callable[[MessageExt], bool] = lambda _: True
    ) -> None:
        self.group = group
        self.topic = topic
        self.consumed: list[Consumption] = []
        """Every call of the application, in order."""
        self._cluster = cluster
        self._listener = listener
        self._offsets: dict[_Queue, QueueOffset] = {}
        cluster.scheduler.start(f"{group} pull", self._pull())
        cluster.scheduler.start(f"{group} persist", self._persist())

    def _pull(self) -> Steps[None]:
        while True:
            broker = yield from self._cluster.connected()
            try:
                yield from self._register()
                while self._cluster.broker is broker:
                    yield Until(lambda broker=broker: self._cluster.broker is not broker or self._has_more(broker))  # type: ignore[misc]
                    yield from self._pull_each_queue(broker)
            except RemotingError:
                yield Sleep(1_000)

    def _register(self) -> Steps[None]:
        """A heartbeat: the broker learns of the group (``ClientManageProcessor#heartBeat``)."""
        yield from self._cluster.call(lambda broker: broker.subscription_group_manager.create(self.group))

    def _queues(self, broker: BrokerController) -> list[_Queue]:
        topics = broker.topic_config_manager.table
        names = [name for name in (self.topic, retry_topic(self.group)) if name in topics]
        return [(name, queue_id) for name in names for queue_id in range(topics[name]["readQueueNums"])]

    def _offset(self, broker: BrokerController, queue: _Queue) -> QueueOffset:
        if queue not in self._offsets:
            saved = broker.consumer_offset_manager.query_offset(*queue, self.group)
            self._offsets[queue] = QueueOffset(0) if saved == NO_OFFSET else saved
        return self._offsets[queue]

    def _has_more(self, broker: BrokerController) -> bool:
        """Whether a pull would come back at once; the broker holds the others (``PullRequestHoldService``)."""
        store = broker.message_store
        return any(
            self._offset(broker, queue) != store.get_max_offset_in_queue(*queue) for queue in self._queues(broker)
        )

    def _pull_each_queue(self, broker: BrokerController) -> Steps[None]:
        for queue in self._queues(broker):
            offset = self._offset(broker, queue)
            if offset == broker.message_store.get_max_offset_in_queue(*queue):
                continue
            result = yield from self._cluster.call(_pull_message(queue, offset))
            if result.status is not GetMessageStatus.FOUND:
                self._offsets[queue] = result.next_begin_offset  # OFFSET_ILLEGAL
                continue
            for place, record in enumerate(result.records, start=offset + 1):
                if record is not None:
                    yield from self._consume(MessageExt.of(record))
                self._offsets[queue] = QueueOffset(place)

    def _consume(self, message: MessageExt) -> Steps[None]:
        """Let the application have it; what it can't consume goes back to the broker.

        ``ConsumeMessageConcurrentlyService#processConsumeResult``.
        """
        properties = message.properties
        is_success = self._listener(message)
        self.consumed.append(
            Consumption(
                properties.get(UNIQUE_KEY, ""),
                properties.get(RETRY_TOPIC, message.topic),
                message.queue_id,
                message.queue_offset,
                message.record.reconsume_times,
                self._cluster.clock.now,
                is_success,
            )
        )
        if not is_success:
            offset = message.commit_log_offset
            yield from self._cluster.call(lambda broker: consumer_send_msg_back(broker, self.group, offset))
        yield None

    def _persist(self) -> Steps[None]:
        """Tell the broker now and then how far each queue was read (``RemoteBrokerOffsetStore#persistAll``)."""
        persisted: dict[_Queue, QueueOffset] = {}
        while True:
            yield Until.changed(persisted, lambda: self._offsets)
            yield Sleep(PERSIST_INTERVAL_MS)
            broker = yield from self._cluster.connected()
            persisted = dict(self._offsets)
            for (topic, queue_id), offset in persisted.items():
                broker.consumer_offset_manager.commit_offset(topic, queue_id, offset, self.group)


def _pull_message(queue: _Queue, offset: QueueOffset) -> Callable[[BrokerController], GetMessageResult]:
    return lambda broker: broker.message_store.get_message(*queue, offset, PULL_BATCH_SIZE)
