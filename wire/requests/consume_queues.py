"""QUERY_CONSUME_QUEUE (``AdminBrokerProcessor#queryConsumeQueue``): the entries of a queue, whatever its topic.

That is how the op queue is read in 4.x, where no topic config lets it be pulled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.format.properties import TAGS
from reference.format.record import QueueOffset
from reference.java.hash_map import java_string_hash
from wire.remoting.codes import ResponseCode
from wire.requests.json_bodies import body_of

if TYPE_CHECKING:
    from wire.node.broker_node import BrokerNode
    from wire.remoting.command import RemotingCommand
    from wire.requests.request import Request


def query_consume_queue(node: BrokerNode, request: Request) -> RemotingCommand:
    """Some entries of a queue from an index on; a body only where there are any."""
    topic, queue_id = request.text("topic"), request.number("queueId")
    store, index = node.broker.message_store, request.number("index")
    end = store.get_max_offset_in_queue(topic, queue_id)
    begin = store.cleaning.get_min_offset_in_queue(topic, queue_id)
    if not begin <= index < end:
        remark = f"Index {index} of {queue_id}@{topic} is not exist!"
        return request.answer(ResponseCode.SUCCESS, remark)
    found = store.get_message(topic, queue_id, QueueOffset(index), request.number("count")).records
    data = [
        {
            "eval": False,
            "physicOffset": record.physical_offset,
            "physicSize": record.total_size,
            "tagsCode": java_string_hash(tag) if (tag := record.properties.get(TAGS)) else 0,
        }
        for record in found
        if record is not None
    ]
    return request.answer(body=body_of({"maxQueueIndex": end, "minQueueIndex": begin, "queueData": data}))
