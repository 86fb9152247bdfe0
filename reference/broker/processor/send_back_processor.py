"""Messages that a consumer could not consume and gave back: later once more, in the end a dead letter.

``AbstractSendMessageProcessor#consumerSendMsgBack``. The records are of the right kind and order; they are not held to
byte identity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reference.broker.response import SERVICE_NOT_AVAILABLE, SUCCESS, SYSTEM_ERROR, RemotingResponse
from reference.format.properties import (
    REAL_QUEUE_ID,
    REAL_TOPIC,
    RETRY_TOPIC,
    WAIT_STORE_OK,
    message_properties_to_string,
)
from reference.format.system_topics import SCHEDULE_TOPIC, dead_letter_topic, retry_topic
from reference.store.delay_levels import DELAY_TIME_LEVEL, DELAYS_MS, queue_id_of_level
from reference.store.message import MessageExt, MessageExtBrokerInner

if TYPE_CHECKING:
    from reference.broker.broker_controller import BrokerController
    from reference.format.record import CommitLogOffset

ORIGIN_MESSAGE_ID: Final = "ORIGIN_MESSAGE_ID"
MAX_RECONSUME_TIMES: Final = 16


def consumer_send_msg_back(
    broker: BrokerController,
    group: str,
    offset: CommitLogOffset,
    delay_level: int = 0,
    max_reconsume_times: int = MAX_RECONSUME_TIMES,
) -> RemotingResponse:
    """Store a message once more that a consumer of a group gave back (``#consumerSendMsgBack``).

    Up to the last time it waits in the queue of a delay level, each time of the next one unless the consumer names one,
    and goes to the group's retry topic then; after that, and where the consumer names a negative level, it goes to the
    group's dead letter topic, and nobody delivers it again.
    """
    record = broker.message_store.look_message_by_offset(offset)
    if record is None:
        return RemotingResponse(SYSTEM_ERROR, f"look message by offset failed, {offset}")
    message = MessageExt.of(record)
    properties = message.properties
    properties.setdefault(RETRY_TOPIC, message.topic)
    properties[WAIT_STORE_OK] = "false"
    properties.setdefault(ORIGIN_MESSAGE_ID, message.msg_id)
    if record.reconsume_times >= max_reconsume_times or delay_level < 0:
        topic, queue_id = dead_letter_topic(group), 0
        broker.topic_config_manager.create(topic, 1)
    else:
        broker.topic_config_manager.create(retry_topic(group), 1)
        level = min(delay_level or 3 + record.reconsume_times, len(DELAYS_MS))
        properties |= {DELAY_TIME_LEVEL: str(level), REAL_TOPIC: retry_topic(group), REAL_QUEUE_ID: "0"}
        topic, queue_id = SCHEDULE_TOPIC, queue_id_of_level(level)
    copy = copy_to(broker, message, topic, queue_id)
    copy.reconsume_times += 1
    stored = broker.message_store.put_message(copy)
    return RemotingResponse(SUCCESS if stored.physical_offset is not None else SERVICE_NOT_AVAILABLE)


def copy_to(broker: BrokerController, message: MessageExt, topic: str, queue_id: int) -> MessageExtBrokerInner:
    """The same message on its way to another queue, from this broker."""
    text = message_properties_to_string(message.properties, broker.switches)
    copy = MessageExtBrokerInner.of(message.record, topic, queue_id, text, {})
    copy.store_host = broker.settings.store_host
    return copy
