"""Between the transaction services and the store: the form of half, copy and op messages, and their reads."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from reference.broker.consumer_offset_manager import NO_OFFSET
from reference.errors import ThrownInCheckError
from reference.format.properties import (
    PREPARED_QUEUE_OFFSET,
    REAL_QUEUE_ID,
    REAL_TOPIC,
    TAGS,
    TRANSACTION_ID,
    UNIQUE_KEY,
    WAIT_STORE_OK,
    message_properties_to_string,
)
from reference.format.record import TRANSACTION_BITS, CommitLogOffset, LogRecord, QueueOffset
from reference.format.stored_message import decompressed
from reference.format.system_topics import HALF_QUEUE_ID, HALF_TOPIC, OP_TOPIC, REMOVE_TAG
from reference.store.get_message import GetMessageStatus
from reference.store.message import MessageExt, MessageExtBrokerInner

if TYPE_CHECKING:
    from reference.broker.broker_controller import BrokerController
    from reference.store.put_message import PutMessageResult


class PullStatus(Enum):
    """``org.apache.rocketmq.client.consumer.PullStatus``."""

    FOUND = "FOUND"
    NO_NEW_MSG = "NO_NEW_MSG"
    OFFSET_ILLEGAL = "OFFSET_ILLEGAL"


@dataclass(frozen=True, slots=True)
class PullResult:
    """The outcome of one pull."""

    status: PullStatus
    next_begin_offset: QueueOffset
    """Where the next pull begins."""
    found: tuple[LogRecord, ...] | None = None
    """The records, or None when none was found (``msgFoundList``); empty when none of those found can be decoded."""


_ILLEGAL: Final = (
    GetMessageStatus.OFFSET_OVERFLOW_BADLY,
    GetMessageStatus.OFFSET_TOO_SMALL,
    GetMessageStatus.MESSAGE_WAS_REMOVING,
)


class TransactionalMessageBridge:
    """Reads and writes the half and the op queue (``TransactionalMessageBridge``)."""

    def __init__(self, broker: BrokerController) -> None:
        self._switches = broker.switches
        self._settings = broker.settings
        self._clock = broker.clock
        self._store = broker.message_store
        self._consumer_offset_manager = broker.consumer_offset_manager
        self._op_properties = message_properties_to_string(
            {WAIT_STORE_OK: "true", TAGS: REMOVE_TAG}, broker.switches, is_own_message=True
        )

    def fetch_consume_offset(self, topic: str) -> QueueOffset:
        """The committed offset of the half or the op queue, the queue's lower end if there is none."""
        offset = self._consumer_offset_manager.query_offset(topic, HALF_QUEUE_ID)
        return self._store.cleaning.get_min_offset_in_queue(topic, HALF_QUEUE_ID) if offset == NO_OFFSET else offset

    def update_consume_offset(self, topic: str, offset: QueueOffset) -> None:
        """Commit the offset of the half or the op queue, in memory."""
        self._consumer_offset_manager.commit_offset(topic, HALF_QUEUE_ID, offset)

    def get_message(self, topic: str, offset: QueueOffset, max_msg_nums: int) -> PullResult | None:
        """Pull from the half or the op queue (``#getMessage``); None if the store answers nothing.

        Up to 4.5.2 the queue's very end is an illegal offset, later there is just no new message there.

        Raises
        ------
        ThrownInCheckError
            Up to 4.5.2, something found cannot be decoded (``#decodeMsgList`` leaves a null in its list).
        """
        result = self._store.get_message(topic, HALF_QUEUE_ID, offset, max_msg_nums)
        if result.status is GetMessageStatus.NO_ANSWER:
            return None
        if result.status is GetMessageStatus.FOUND:
            return PullResult(PullStatus.FOUND, result.next_begin_offset, self._decode_msg_list(result.records))
        if result.status in _ILLEGAL or (
            result.status is GetMessageStatus.OFFSET_OVERFLOW_ONE and self._switches.op_end_commits_offset
        ):
            return PullResult(PullStatus.OFFSET_ILLEGAL, result.next_begin_offset)
        return PullResult(PullStatus.NO_NEW_MSG, result.next_begin_offset)

    def put_half_message(self, message: MessageExtBrokerInner) -> PutMessageResult:
        """Store a producer's message as a half (``#putHalfMessage``): its topic and queue become properties."""
        properties = message.properties
        if self._switches.stores_transaction_id and properties.get(UNIQUE_KEY):
            properties[TRANSACTION_ID] = properties[UNIQUE_KEY]
        properties[REAL_TOPIC] = message.topic
        properties[REAL_QUEUE_ID] = str(message.queue_id)
        message.topic, message.queue_id = HALF_TOPIC, HALF_QUEUE_ID
        message.sys_flag &= ~TRANSACTION_BITS
        message.properties_text = message_properties_to_string(properties, self._switches)
        return self._store.put_message(message)

    def put_back(self, message: MessageExt) -> PutMessageResult:
        """Store a half once more, for a check (``#renewHalfMessageInner`` and ``#putMessageReturnResult``).

        The copy keeps neither the user's flag nor the reconsume times, unless that is repaired (B32). WAIT turns false
        behind the stored string, in the map that the check request is made from.
        """
        copy = self._renew_half_message_inner(message)
        message.properties[WAIT_STORE_OK] = "false"
        return self._store.put_message(copy)

    def put_back_for_immunity(self, message: MessageExt) -> PutMessageResult:
        """Store a half once more because its immunity lasts (``#renewImmunityHalfMessageInner``).

        ``TransactionalMessageServiceImpl#putImmunityMsgBackToHalfQueue`` does so. The copy names the first half of its
        chain. Its string is written after WAIT turned false.
        """
        message.properties[WAIT_STORE_OK] = "false"
        message.properties.setdefault(PREPARED_QUEUE_OFFSET, str(message.queue_offset))
        return self._store.put_message(self._renew_half_message_inner(message))

    def write_op(self, queue_id: int, body: str) -> PutMessageResult:
        """Store an op message (``#writeOp``, earlier ``#putOpMessage``).

        It has no unique key, because that is set after the string is built.
        """
        op = MessageExtBrokerInner(
            topic=OP_TOPIC,
            queue_id=queue_id,
            body=body.encode(),
            properties_text=self._op_properties,
            born_timestamp=self._clock.now,
            born_host=self._settings.store_host,
            store_host=self._settings.store_host,
        )
        return self._store.put_message(op)

    def look_message_by_offset(self, commit_log_offset: CommitLogOffset) -> MessageExt | None:
        """The message that begins at a commit log offset, whatever its topic (B10).

        ``TransactionalMessageServiceImpl#getHalfMessageByOffset`` asks for it.
        """
        record = self._store.look_message_by_offset(commit_log_offset)
        return None if record is None else MessageExt.of(record)

    def _decode_msg_list(self, records: tuple[LogRecord | None, ...]) -> tuple[LogRecord, ...]:
        if self._switches.decompresses_scanned:
            records = tuple(None if record is None else decompressed(record) for record in records)
        if self._switches.undecodable_throws and None in records:
            message = "java.lang.NullPointerException: a pulled message cannot be decoded"
            raise ThrownInCheckError(message)
        return tuple(record for record in records if record is not None)

    def _renew_half_message_inner(self, message: MessageExt) -> MessageExtBrokerInner:
        text = message_properties_to_string(message.properties, self._switches)
        copy = MessageExtBrokerInner.of(message.record, message.topic, message.queue_id, text, message.properties)
        if not self._switches.keeps_flag:
            copy.flag = copy.reconsume_times = 0
        return copy
