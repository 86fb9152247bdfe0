"""How many of a message's deliveries a consumer group has behind it, by the offsets that it has committed or acked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.format.properties import REAL_TOPIC
from reference.format.system_topics import NOT_ALLOWED_SEND_TOPICS, SCHEDULE_TOPIC, dead_letter_topic, retry_topic
from wire.pop.pop_consumption import pop_retry_topic

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reference.format.record import LogRecord
    from wire.node.broker_node import BrokerNode


def is_real(record: LogRecord) -> bool:
    """Whether a message lies in a topic of clients: no half, none that is delayed, given back or dead."""
    return record.topic not in NOT_ALLOWED_SEND_TOPICS and not record.topic.startswith("%")


def consumed(node: BrokerNode, group: str, records: Iterable[LogRecord]) -> int:
    """How often a group has consumed a message, of all the records of it.

    One that was given back, or came again unacked, counts when its last attempt is consumed; a dead letter never does.
    """
    records = list(records)
    again = {pop_retry_topic(record.topic, group) for record in records if is_real(record)}
    behind = failed = 0
    for record in records:
        is_again = record.topic in again
        is_back = record.topic == SCHEDULE_TOPIC and record.properties.get(REAL_TOPIC) == retry_topic(group)
        failed += is_again or is_back or record.topic == dead_letter_topic(group)
        if is_real(record) or is_again or record.topic == retry_topic(group):
            behind += _is_behind(node, group, record)
    return behind - failed


def _is_behind(node: BrokerNode, group: str, record: LogRecord) -> bool:
    """Whether the group has committed an offset behind it, or has acked it by POP."""
    topic, queue_id, offset = record.topic, record.queue_id, int(record.queue_offset)
    if node.broker.consumer_offset_manager.query_offset(topic, queue_id, group) > offset:
        return True
    return node.pops is not None and node.pops.has_acked(group, topic, queue_id, offset)
