"""Offsets of consumers, and begins and ends of queues (``ConsumerManageProcessor``, ``AdminBrokerProcessor``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.format.record import QueueOffset
from reference.format.system_topics import CHECK_GROUP
from wire.remoting.codes import ResponseCode
from wire.requests.request import Request, body_of

if TYPE_CHECKING:
    from reference.store.message_store import MessageStore
    from wire.node.broker_node import BrokerNode
    from wire.remoting.command import RemotingCommand


def query_consumer_offset(node: BrokerNode, request: Request) -> RemotingCommand:
    """``#queryConsumerOffset``: without one a queue's begin, where the first message of all is still to be had."""
    broker, group, topic = node.broker, request.text("consumerGroup"), request.text("topic")
    queue_id = request.number("queueId")
    offset = broker.consumer_offset_manager.query_offset(topic, queue_id, group)
    if offset >= 0:
        return request.answer(fields={"offset": offset})
    if request.text("setZeroIfNotFound", "true").lower() == "false":
        remark = "Not found, do not set to zero, maybe this group boot first"
        return request.answer(ResponseCode.QUERY_NOT_FOUND, remark)
    store = broker.message_store
    begins = store.cleaning.get_min_offset_in_queue(topic, queue_id) <= 0
    if begins and store.get_max_offset_in_queue(topic, queue_id) > 0:
        return request.answer(fields={"offset": 0})
    remark = "Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first"
    return request.answer(ResponseCode.QUERY_NOT_FOUND, remark)


def update_consumer_offset(node: BrokerNode, request: Request) -> RemotingCommand:
    """``#updateConsumerOffset``: anybody's, for any group (B57).

    An offset below 0 is none, and stored as -1, which the Go client sends for a queue that it has not read. For the
    check service none is stored, since readers of a store take that for damage.
    """
    group, offset = request.text("consumerGroup"), max(-1, request.number("commitOffset"))
    if offset < 0 and group == CHECK_GROUP:
        return request.answer()
    response = node.broker.consumer_manage_processor.update_consumer_offset(
        group, request.text("topic"), request.number("queueId"), QueueOffset(offset)
    )
    return request.answer(response.code, response.remark)


def get_all_consumer_offsets(node: BrokerNode, request: Request) -> RemotingCommand:
    """GET_ALL_CONSUMER_OFFSET: what was saved, after it is saved now."""
    node.broker.save_consumer_offsets()
    table = {
        str(key): {str(queue_id): int(offset) for queue_id, offset in sorted(queues.items())}
        for key, queues in node.broker.consumer_offset_manager.saved.table.items()
    }
    return request.answer(body=body_of({"offsetTable": table}))


def get_max_offset(node: BrokerNode, request: Request) -> RemotingCommand:
    """GET_MAX_OFFSET."""
    store = node.broker.message_store
    end = store.get_max_offset_in_queue(request.text("topic"), request.number("queueId"))
    return request.answer(fields={"offset": end})


def get_min_offset(node: BrokerNode, request: Request) -> RemotingCommand:
    """GET_MIN_OFFSET."""
    cleaning = node.broker.message_store.cleaning
    begin = cleaning.get_min_offset_in_queue(request.text("topic"), request.number("queueId"))
    return request.answer(fields={"offset": begin})


def search_offset(node: BrokerNode, request: Request) -> RemotingCommand:
    """SEARCH_OFFSET_BY_TIMESTAMP: the first message that is not older (``ConsumeQueue#getOffsetInQueueByTime``)."""
    store, topic, queue_id = node.broker.message_store, request.text("topic"), request.number("queueId")
    wanted = request.number("timestamp")
    low = int(store.cleaning.get_min_offset_in_queue(topic, queue_id))
    high = int(store.get_max_offset_in_queue(topic, queue_id))
    while low < high:
        middle = (low + high) // 2
        stored = store_timestamp_at(store, topic, queue_id, middle)
        if stored is not None and stored < wanted:
            low = middle + 1
        else:
            high = middle
    return request.answer(fields={"offset": low})


def get_earliest_store_time(node: BrokerNode, request: Request) -> RemotingCommand:
    """GET_EARLIEST_MSG_STORETIME; -1 for an empty queue."""
    store, topic, queue_id = node.broker.message_store, request.text("topic"), request.number("queueId")
    begin = int(store.cleaning.get_min_offset_in_queue(topic, queue_id))
    stored = store_timestamp_at(store, topic, queue_id, begin)
    return request.answer(fields={"timestamp": -1 if stored is None else stored})


def store_timestamp_at(store: MessageStore, topic: str, queue_id: int, offset: int) -> int | None:
    """When the message at a queue offset was stored; None where none can be read."""
    found = store.get_message(topic, queue_id, QueueOffset(offset), 1).records
    return found[0].store_timestamp if found and found[0] is not None else None
