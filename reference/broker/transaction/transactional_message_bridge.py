"""Between the transaction services and the store: the form of half, copy and op messages, and their reads."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from reference.broker.consumer_offset_manager import NO_OFFSET
from reference.broker.transaction.half_index import HalfIndex
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
from reference.store.get_message import GetMessageResult, GetMessageStatus
from reference.store.message import MessageExt, MessageExtBrokerInner

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    skipped: tuple[QueueOffset, ...] = ()
    """Where op messages stand that cannot be decoded, for a round that skips them (a repair of B17)."""


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
        switches = broker.switches
        asks_for_copies = switches.heeds_settled_originals or switches.copies_once
        asks_for_escapes = switches.leaves_escaped or switches.escapes_once
        self.half_index = HalfIndex(broker.message_store) if asks_for_copies or asks_for_escapes else None
        """What is known of the halves from the half offset on, where a repair asks for it."""
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
            skipped = self._skipped(topic, result) if self._switches.skips_undecodable_ops else ()
            found = self._decode_msg_list(topic, result.records)
            return PullResult(PullStatus.FOUND, result.next_begin_offset, found, skipped)
        if result.status in _ILLEGAL or (
            result.status is GetMessageStatus.OFFSET_OVERFLOW_ONE and self._switches.op_end_commits_offset
        ):
            return PullResult(PullStatus.OFFSET_ILLEGAL, result.next_begin_offset)
        return PullResult(PullStatus.NO_NEW_MSG, result.next_begin_offset)

    def max_offset(self, topic: str) -> QueueOffset:
        """The end of the half or the op queue."""
        return self._store.get_max_offset_in_queue(topic, HALF_QUEUE_ID)

    def has_half_from(self, half: QueueOffset) -> bool:
        """Whether the half queue has an entry at an offset, and the log a record for it or for a later one."""
        min_offset = self._store.cleaning.get_min_offset_in_queue(HALF_TOPIC, HALF_QUEUE_ID)
        end = self.max_offset(HALF_TOPIC)
        if not min_offset <= half < end:
            return False
        last = self._store.get_commit_log_offset_in_queue(HALF_TOPIC, HALF_QUEUE_ID, QueueOffset(end - 1))
        return last >= self._store.cleaning.min_phy_offset

    def place_of(self, topic: str, offset: QueueOffset) -> CommitLogOffset:
        """Where the message of an entry begins in the commit log, kept or not."""
        return self._store.get_commit_log_offset_in_queue(topic, HALF_QUEUE_ID, offset)

    def read_ops(self, first: QueueOffset) -> Iterator[tuple[QueueOffset, LogRecord | None]]:
        """The op messages from an offset on to the end of their queue, None for one that cannot be decoded.

        No release reads ahead like that. What retention has deleted is left out.
        """
        offset = max(first, self._store.cleaning.get_min_offset_in_queue(OP_TOPIC, HALF_QUEUE_ID))
        while offset < self.max_offset(OP_TOPIC):
            result = self._store.get_message(OP_TOPIC, HALF_QUEUE_ID, offset, 1)
            if not result.records:
                return
            offset = result.next_begin_offset
            yield QueueOffset(offset - 1), result.records[0]

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
        if self._switches.ages_from_arrival:
            message.born_timestamp = self._clock.now
        return self._flushed(self.put_message(message))

    def put_back(self, message: MessageExt) -> PutMessageResult:
        """Store a half once more, for a check (``#renewHalfMessageInner`` and ``#putMessageReturnResult``).

        The copy keeps neither the user's flag nor the reconsume times, unless that is repaired (B32). WAIT turns false
        behind the stored string, in the map that the check request is made from.
        """
        if self._switches.links_every_copy:
            self._link_to_original(message)
        copy = self._renew_half_message_inner(message)
        message.properties[WAIT_STORE_OK] = "false"
        return self.put_message(copy)

    def put_back_for_immunity(self, message: MessageExt) -> PutMessageResult:
        """Store a half once more because its immunity lasts (``#renewImmunityHalfMessageInner``).

        ``TransactionalMessageServiceImpl#putImmunityMsgBackToHalfQueue`` does so. The copy names the first half of its
        chain. Its string is written after WAIT turned false.
        """
        message.properties[WAIT_STORE_OK] = "false"
        self._link_to_original(message)
        return self.put_message(self._renew_half_message_inner(message))

    def put_message(self, half: MessageExtBrokerInner) -> PutMessageResult:
        """Store what becomes a half (``#putMessageReturnResult``)."""
        stored = self._store.put_message(half)
        if self.half_index is not None and stored.record is not None:
            self.half_index.enter(stored.record)
        return stored

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
        return self._flushed(self._store.put_message(op))

    def look_message_by_offset(self, commit_log_offset: CommitLogOffset) -> MessageExt | None:
        """The message that begins at a commit log offset, whatever its topic (B10).

        ``TransactionalMessageServiceImpl#getHalfMessageByOffset`` asks for it.
        """
        record = self._store.look_message_by_offset(commit_log_offset)
        return None if record is None else MessageExt.of(record)

    def _skipped(self, topic: str, result: GetMessageResult) -> tuple[QueueOffset, ...]:
        """Where the op messages stand that cannot be decoded; what retention has deleted stands before all records."""
        first = result.next_begin_offset - len(result.records)
        if topic != OP_TOPIC:
            return ()
        return tuple(QueueOffset(first + place) for place, op in enumerate(result.records) if op is None)

    def _decode_msg_list(self, topic: str, records: tuple[LogRecord | None, ...]) -> tuple[LogRecord, ...]:
        """The messages that can be decoded; up to 4.5.2 the others are nulls in the list, unless a repair minds."""
        is_passed = self._switches.skips_undecodable_ops if topic == OP_TOPIC else self._switches.parks_poison
        if self._switches.decompresses_scanned:
            records = tuple(None if record is None else decompressed(record) for record in records)
        if self._switches.undecodable_throws and None in records and not is_passed:
            message = "java.lang.NullPointerException: a pulled message cannot be decoded"
            raise ThrownInCheckError(message)
        return tuple(record for record in records if record is not None)

    def _flushed(self, stored: PutMessageResult) -> PutMessageResult:
        """Repaired, a broker answers for what it has stored when it is on the disk (``CommitLog#handleDiskFlush``)."""
        if self._switches.flushes_before_answering and stored.physical_offset is not None:
            self._store.flush()
        return stored

    def _link_to_original(self, message: MessageExt) -> None:
        """The copy names the first half of its chain."""
        message.properties.setdefault(PREPARED_QUEUE_OFFSET, str(message.queue_offset))

    def _renew_half_message_inner(self, message: MessageExt) -> MessageExtBrokerInner:
        text = message_properties_to_string(message.properties, self._switches)
        copy = MessageExtBrokerInner.of(message.record, message.topic, message.queue_id, text, message.properties)
        if not self._switches.keeps_flag:
            copy.flag = copy.reconsume_times = 0
        if self._switches.ages_from_storing:
            copy.born_timestamp = self._clock.now
        return copy
