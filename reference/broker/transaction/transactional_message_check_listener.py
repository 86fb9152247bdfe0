"""Checking and discarding: a check round asks the producer of an open half, or gives the half up.

Written after ``AbstractTransactionalMessageCheckListener`` and ``DefaultTransactionalMessageCheckListener``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reference.errors import ThrownInCheckError
from reference.format.properties import (
    PREPARED_QUEUE_OFFSET,
    PRODUCER_GROUP,
    REAL_QUEUE_ID,
    REAL_TOPIC,
    UNIQUE_KEY,
    message_properties_to_string,
)
from reference.format.record import CommitLogOffset
from reference.format.system_topics import DISCARD_TOPIC
from reference.store.message import MessageExt, MessageExtBrokerInner

if TYPE_CHECKING:
    from reference.broker.broker_controller import BrokerController
    from reference.format.record import LogRecord, QueueOffset

DISCARD_QUEUE_ID = 0
DISCARD_QUEUES = 1


@dataclass(frozen=True, slots=True)
class CheckTransactionStateRequest:
    """A check on its way to a producer of the group (``CheckTransactionStateRequestHeader`` and its message)."""

    producer_group: str | None
    """Whom it goes to."""
    tran_state_table_offset: QueueOffset
    commit_log_offset: CommitLogOffset
    offset_msg_id: str
    """Where the copy lies that the answer must name."""
    msg_id: str | None
    transaction_id: str | None
    """Both UNIQ_KEY, None if there is none."""
    topic: str
    queue_id: int
    """The message's real ones."""
    born_timestamp: int
    store_timestamp: int
    """Those of the half that was put back, not of the copy."""
    properties: dict[str, str]
    """The message's properties as they are in memory, with WAIT false."""
    body: bytes


class TransactionalMessageCheckListener:
    """Sends check requests and gives halves up."""

    def __init__(self, broker: BrokerController) -> None:
        self._broker = broker
        self.waits_for_channels = False
        """Every thread of the pool waits for a channel that takes nothing: no check is sent by it."""
        self.waiting: list[MessageExt] = []
        """The checks that the pool holds meanwhile."""

    def can_ask(self, message: MessageExt) -> bool:
        """Whether a producer of the group is connected."""
        return self._broker.producer_manager.get_available_channel(message.properties.get(PRODUCER_GROUP)) is not None

    def can_ask_now(self, message: MessageExt) -> bool:
        """Whether a check would be sent: one is connected, and the broker does not stop."""
        return not self._broker.is_stopping and self.can_ask(message)

    def resolve_half_msg(self, message: MessageExt) -> CheckTransactionStateRequest | None:
        """Ask a producer of the group what became of a half (``#resolveHalfMsg``, ``#sendCheckMessage``).

        None if no producer of the group is connected: that is only logged ("channel is null"), and nobody asks (B19).
        None, too, if it names no real queue, as what 5.4.0 delivers into the half topic: the exception is only logged.
        And None while the broker stops: its connections are closed, and from 5.4.0 on the pool of checks is, which
        drops what it gets (``#shutdown``; B52).
        """
        if self._broker.is_stopping:
            return None
        if REAL_QUEUE_ID not in message.properties:
            return None
        if self._broker.producer_manager.get_available_channel(message.properties.get(PRODUCER_GROUP)) is None:
            return None
        if self.waits_for_channels and len(self.waiting) >= self._broker.settings.check_pool_length:
            if not self._broker.switches.checks_run_by_caller:
                rejected = "java.util.concurrent.RejectedExecutionException: the pool for checks is full"
                raise ThrownInCheckError(rejected)
        elif self.waits_for_channels:
            self.waiting.append(message)
            return None
        properties = dict(message.properties)
        unique_key = properties.get(UNIQUE_KEY)
        request = CheckTransactionStateRequest(
            producer_group=properties.get(PRODUCER_GROUP),
            tran_state_table_offset=message.queue_offset,
            commit_log_offset=message.commit_log_offset,
            offset_msg_id=message.msg_id,
            msg_id=unique_key,
            transaction_id=unique_key,
            topic=properties[REAL_TOPIC],
            queue_id=int(properties[REAL_QUEUE_ID]),
            born_timestamp=message.record.born_timestamp,
            store_timestamp=message.record.store_timestamp,
            properties=properties,
            body=message.record.body,
        )
        self._broker.check_requests.append(request)
        return request

    def resolve_undecodable(self, half: QueueOffset, place: CommitLogOffset) -> LogRecord | None:
        """Put a half aside that cannot be decoded, its bytes as the body, and say where it stood (a repair of A07)."""
        if not self._broker.switches.keeps_discarded:
            return None
        store = self._broker.message_store
        size = int.from_bytes(store.get_data(place, CommitLogOffset(place + 4)))
        self._broker.topic_config_manager.create(DISCARD_TOPIC, DISCARD_QUEUES)
        properties = {PREPARED_QUEUE_OFFSET: str(half)}
        discarded = MessageExtBrokerInner(
            topic=DISCARD_TOPIC,
            queue_id=DISCARD_QUEUE_ID,
            body=store.get_data(place, CommitLogOffset(place + size)),
            properties_text=message_properties_to_string(properties, self._broker.switches),
            born_timestamp=self._broker.clock.now,
            born_host=self._broker.settings.store_host,
            store_host=self._broker.settings.store_host,
            properties=properties,
        )
        return store.put_message(discarded).record

    def resolve_discard_msg(self, message: MessageExt) -> LogRecord | None:
        """Give a half up, and the record of it, if one is stored; that none could be written changes nothing (B31).

        ``DefaultTransactionalMessageCheckListener#resolveDiscardMsg``.
        """
        if not self._broker.switches.keeps_discarded:
            return None
        self._broker.topic_config_manager.create(DISCARD_TOPIC, DISCARD_QUEUES)
        properties = message.properties
        text = message_properties_to_string(properties, self._broker.switches)
        discarded = MessageExtBrokerInner.of(message.record, DISCARD_TOPIC, DISCARD_QUEUE_ID, text, properties)
        record = self._broker.message_store.put_message(discarded).record
        if record is not None and self._broker.switches.counts_halves and REAL_TOPIC in properties:
            self._broker.transaction_metrics.half_left(properties[REAL_TOPIC], properties.get(UNIQUE_KEY, ""))
        return record
