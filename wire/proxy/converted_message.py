"""A stored record as a gRPC client gets it (``GrpcConverter#buildMessage``)."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

from reference.format.properties import KEYS, TAGS, UNIQUE_KEY
from reference.format.stored_message import create_message_id
from reference.store.put_message import TIMER_DELIVER_MS
from wire.proxy.message_types import PRIORITY, SHARDING_KEY, type_of_message
from wire.proxy.moments import set_moment
from wire.proxy.protocol.messages import DigestType, Encoding, Message, MessageType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reference.format.record import LogRecord

COMPRESSED: Final = 1
"""``MessageSysFlag.COMPRESSED_FLAG``"""

BORN_HOST: Final = "__BORNHOST"
BORN_TIMESTAMP: Final = "BORN_TIMESTAMP"
TRACE_CONTEXT: Final = "TRACE_CONTEXT"

SYSTEM_PROPERTIES: Final = frozenset({
    "TRACE_ON", "MSG_REGION", "KEYS", "TAGS", "WAIT", "DELAY", "RETRY_TOPIC", "ORIGIN_GROUP", "REAL_TOPIC", "REAL_QID",
    "TRAN_MSG", "PGROUP", "MIN_OFFSET", "MAX_OFFSET", "BUYER_ID", "ORIGIN_MESSAGE_ID", "TRANSFER_FLAG",
    "CORRECTION_FLAG", "MQ2_FLAG", "RECONSUME_TIME", "UNIQ_KEY", "MAX_RECONSUME_TIMES", "CONSUME_START_TIME", "POP_CK",
    "POP_CK_OFFSET", "1ST_POP_TIME", "TRAN_PREPARED_QUEUE_OFFSET", "DUP_INFO", "EXTEND_UNIQ_INFO", "INSTANCE_ID",
    "CORRELATION_ID", "REPLY_TO_CLIENT", "TTL", "ARRIVE_TIME", "PUSH_REPLY_TIME", "CLUSTER", "MSG_TYPE",
    "INNER_MULTI_QUEUE_OFFSET", "TIMER_DELAY_MS", "TIMER_DELAY_SEC", "TIMER_DELIVER_MS", "TIMER_ENQUEUE_MS",
    "TIMER_DEQUEUE_MS", "TIMER_ROLL_TIMES", "TIMER_OUT_MS", "TIMER_DEL_UNIQKEY", "TIMER_DELAY_LEVEL", "__BORNHOST",
    "BORN_TIMESTAMP", "DLQ_ORIGIN_TOPIC", "DLQ_ORIGIN_MESSAGE_ID", "__CRC32#", "_SYS_MSG_PRIORITY_", "__LITE_TOPIC",
})  # fmt: skip
"""``MessageConst.STRING_HASH_SET`` of 5.5.0: no user may send these, and none gets them."""


def converted(record: LogRecord, topic: str, *, receipt: str = "", attempt: int = 1) -> Any:
    """The message of a record; `receipt` and `attempt` are those of its delivery."""
    properties = record.properties
    message = Message(body=record.body)
    message.topic.name = topic
    message.user_properties.update({key: text for key, text in properties.items() if key not in SYSTEM_PROPERTIES})
    system = message.system_properties
    if TAGS in properties:
        system.tag = properties[TAGS]
    if KEYS in properties:
        system.keys.extend(properties[KEYS].split(" "))
    system.message_id = properties.get(UNIQUE_KEY) or create_message_id(record.store_host, record.physical_offset)
    system.body_digest.type = DigestType.MD5
    system.body_digest.checksum = hashlib.md5(record.body, usedforsecurity=False).hexdigest().upper()
    system.body_encoding = Encoding.GZIP if record.sys_flag & COMPRESSED else Encoding.IDENTITY
    system.message_type = MessageType[type_of_message(properties)]
    set_moment(system.born_timestamp, record.born_timestamp)
    system.born_host = properties.get(BORN_HOST) or record.born_host.rpartition(":")[0]
    set_moment(system.store_timestamp, record.store_timestamp)
    system.store_host = record.store_host
    system.queue_id, system.queue_offset = record.queue_id, record.queue_offset
    system.delivery_attempt = attempt
    if receipt:
        system.receipt_handle = receipt
    _add_rarer(system, properties)
    return message


def _add_rarer(system: Any, properties: Mapping[str, str]) -> None:
    if (deliver_at := properties.get(TIMER_DELIVER_MS, "")).isdecimal():
        set_moment(system.delivery_timestamp, int(deliver_at))
    if (priority := properties.get(PRIORITY, "")).isdecimal():
        system.priority = int(priority)
    if SHARDING_KEY in properties:
        system.message_group = properties[SHARDING_KEY]
    if TRACE_CONTEXT in properties:
        system.trace_context = properties[TRACE_CONTEXT]
    origin = properties.get("DLQ_ORIGIN_TOPIC"), properties.get("DLQ_ORIGIN_MESSAGE_ID")
    if origin[0] is not None and origin[1] is not None:
        system.dead_letter_queue.topic, system.dead_letter_queue.message_id = origin
