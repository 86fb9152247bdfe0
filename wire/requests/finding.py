"""Messages by their place and by their keys (``QueryMessageProcessor``).

RocketMQ asks its index files; this broker keeps none, and reads the topic's queues instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reference.format.properties import KEYS, UNIQUE_KEY
from reference.format.record import CommitLogOffset, LogRecord, QueueOffset
from wire.remoting.codes import ResponseCode
from wire.remoting.messages import encode_record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wire.node.broker_node import BrokerNode
    from wire.remoting.command import RemotingCommand
    from wire.requests.request import Request

_PAGE: Final = 32
_BY_UNIQUE_KEY: Final = "_UNIQUE_KEY_QUERY"
_MOST_MESSAGES: Final = 64
"""``defaultQueryMaxNum`` is 32; a client asks for up to 64."""


def view_message(node: BrokerNode, request: Request) -> RemotingCommand:
    """VIEW_MESSAGE_BY_ID: the record at a commit log offset."""
    offset = request.number("offset")
    record = node.broker.message_store.look_message_by_offset(CommitLogOffset(offset))
    if record is None:
        return request.answer(ResponseCode.SYSTEM_ERROR, f"can not find message by the offset, {offset}")
    return request.answer(body=encode_record(record))


def query_message(node: BrokerNode, request: Request) -> RemotingCommand:
    """QUERY_MESSAGE: the messages of a topic with a key, or with a unique key, the newest first."""
    topic, key = request.text("topic"), request.text("key")
    is_unique = request.flag(_BY_UNIQUE_KEY)
    most = min(request.number("maxNum"), _MOST_MESSAGES)
    begin, end = request.number("beginTimestamp", 0), request.number("endTimestamp", (1 << 63) - 1)
    found = [
        record
        for record in _records(node, topic)
        if begin <= record.store_timestamp <= end and _has_key(record, key, is_unique=is_unique)
    ]
    if not found:
        remark = "can not find message, maybe time range not correct"
        return request.answer(ResponseCode.QUERY_NOT_FOUND, remark)
    newest = sorted(found, key=lambda record: -record.physical_offset)[:most]
    fields = {
        "indexLastUpdateTimestamp": newest[0].store_timestamp,
        "indexLastUpdatePhyoffset": newest[0].physical_offset,
    }
    return request.answer(fields=fields, body=b"".join(map(encode_record, newest)))


def _records(node: BrokerNode, topic: str) -> Iterator[LogRecord]:
    """Every record of a topic that is still there, queue by queue."""
    store = node.broker.message_store
    for queue_id in range(node.broker.topic_config_manager.read_queues(topic)):
        offset = store.cleaning.get_min_offset_in_queue(topic, queue_id)
        while (found := store.get_message(topic, queue_id, QueueOffset(offset), _PAGE)).records:
            yield from (record for record in found.records if record is not None)
            offset = found.next_begin_offset


def _has_key(record: LogRecord, key: str, *, is_unique: bool) -> bool:
    properties = record.properties
    return properties.get(UNIQUE_KEY) == key or (not is_unique and key in properties.get(KEYS, "").split(" "))
