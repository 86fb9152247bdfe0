"""Messages on their way into the store and on their way out of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from reference.format.properties import CHECK_TIMES, properties_map
from reference.format.stored_message import create_message_id

if TYPE_CHECKING:
    from reference.format.record import CommitLogOffset, LogRecord, QueueOffset


@dataclass(slots=True)
class MessageExtBrokerInner:
    """A message that is to be stored; the store gives it its offsets, its size and its store timestamp."""

    topic: str
    queue_id: int
    body: bytes
    properties_text: str
    """The properties as they will be stored. RocketMQ writes this string once, so that what is later put into the map
    of properties is not stored."""
    born_timestamp: int
    """By the producer's clock, in its milliseconds."""
    born_host: str
    store_host: str
    flag: int = 0
    sys_flag: int = 0
    reconsume_times: int = 0
    prepared_transaction_offset: CommitLogOffset | int = 0
    """Of a committed message: the commit log offset that END_TRANSACTION named."""
    properties: dict[str, str] = field(default_factory=dict)
    """The map, for those hooks of the store that look into it; it may differ from the stored string, and they may
    change it."""

    @classmethod
    def of(cls, record: LogRecord, topic: str, queue_id: int, properties_text: str, properties: dict[str, str]) -> Self:
        """A record that is stored once more in some queue: body, birth, hosts, flags and reconsume times stay."""
        return cls(
            topic=topic,
            queue_id=queue_id,
            body=record.body,
            properties_text=properties_text,
            born_timestamp=record.born_timestamp,
            born_host=record.born_host,
            store_host=record.store_host,
            flag=record.flag,
            sys_flag=record.sys_flag,
            reconsume_times=record.reconsume_times,
            properties=properties,
        )


@dataclass(slots=True)
class MessageExt:
    """A record as the broker holds it in memory after it has read it: what is changed here is not stored."""

    record: LogRecord
    properties: dict[str, str]
    """A copy of its properties; a round counts TRANSACTION_CHECK_TIMES up in it."""
    topic: str
    queue_id: int
    queue_offset: QueueOffset
    commit_log_offset: CommitLogOffset
    """First the record's own. After a put-back the offsets, and with them the id, are those of the copy; in a check
    request topic and queue are the real ones."""

    @property
    def msg_id(self) -> str:
        """The offset message id of where it lies now."""
        return create_message_id(self.record.store_host, self.commit_log_offset)

    @classmethod
    def of(cls, record: LogRecord) -> Self:
        """The message of a record, as ``MessageDecoder#decode`` makes it."""
        return cls(
            record,
            properties_map(record.properties_text),
            record.topic,
            record.queue_id,
            record.queue_offset,
            record.physical_offset,
        )

    def take_check_back(self) -> None:
        """Let TRANSACTION_CHECK_TIMES be as it is stored, where a round has counted it up (a repair of A09)."""
        stored = self.record.properties.get(CHECK_TIMES)
        if stored is None:
            self.properties.pop(CHECK_TIMES, None)
        else:
            self.properties[CHECK_TIMES] = stored

    def become_copy(self, copy: LogRecord) -> None:
        """Take the offsets and the id of a copy, and nothing else of it (``#putBackHalfMsgQueue``)."""
        self.queue_offset = copy.queue_offset
        self.commit_log_offset = copy.physical_offset
