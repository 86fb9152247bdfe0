"""SendMessage (``SendMessageActivity``, ``ProducerProcessor``)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from reference.format.properties import (
    IMMUNITY_SECONDS,
    KEYS,
    PRODUCER_GROUP,
    TAGS,
    TRANSACTION_PREPARED,
    UNIQUE_KEY,
)
from reference.store.put_message import TIMER_DELIVER_MS
from wire.proxy.broker_calls import ask_broker
from wire.proxy.consistent_hash import consistent_hash
from wire.proxy.converted_message import (
    BORN_HOST,
    BORN_TIMESTAMP,
    COMPRESSED,
    SYSTEM_PROPERTIES,
    TRACE_CONTEXT,
)
from wire.proxy.limits import (
    MOST_BODY_BYTES,
    MOST_DELAY_MS,
    MOST_PROPERTIES,
    MOST_PROPERTY_BYTES,
    MOST_RECOVERY_SECONDS,
)
from wire.proxy.message_types import PRIORITY, SHARDING_KEY, require_type, type_of_message, type_of_topic
from wire.proxy.moments import milliseconds
from wire.proxy.protocol.messages import CALLS, Code, Encoding, MessageType, SendResultEntry, Status
from wire.proxy.refusal import OK, ProxyRefusal, status_of_all, status_of_broker, thrown
from wire.proxy.validation import (
    has_control_character,
    require_keys,
    require_message_group,
    require_tag,
    require_topic,
)
from wire.remoting.codes import RequestCode, ResponseCode
from wire.remoting.messages import properties_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wire.proxy.caller import Caller
    from wire.proxy.proxy import Proxy

_NO_CONTROL: Final = "the value of property cannot contain control character"
_PREPARED: Final = 4
_WRITE: Final = 2
_MESSAGE_ID_OFFSET: Final = 16
_LATE: Final = {
    ResponseCode.FLUSH_DISK_TIMEOUT: Code.MASTER_PERSISTENCE_TIMEOUT,
    ResponseCode.FLUSH_SLAVE_TIMEOUT: Code.SLAVE_PERSISTENCE_TIMEOUT,
    ResponseCode.SLAVE_NOT_AVAILABLE: Code.HA_NOT_AVAILABLE,
}
"""Stored, and answered with a code by which the client takes it for failed (``#convertToSendMessageResponse``)."""


def send_message(proxy: Proxy, caller: Caller, request: Any) -> Any:
    """Store messages of one topic, all in one queue; a half is known to this proxy from then on.

    The producer group is the topic's name. Several messages are stored one by one, as a broker of 4.x stores a batch.
    """
    if not request.messages:
        raise ProxyRefusal(Code.MESSAGE_CORRUPTED, "no message to send")
    topic = require_topic(request.messages[0].topic)
    if any(message.topic != request.messages[0].topic for message in request.messages):
        raise ProxyRefusal(Code.MESSAGE_CORRUPTED, "topic in message is not same")
    with_properties = [(each, _properties_of(proxy, caller, each, topic)) for each in request.messages]
    config = proxy.mode.topic_config(topic)
    if not topic.startswith(("%RETRY%", "%DLQ%")):
        require_type(type_of_topic(config), type_of_message(with_properties[0][1]))
    queue_id = _queue_of(proxy, topic, request.messages)
    entries = [_stored(proxy, caller, each, properties, queue_id) for each, properties in with_properties]
    codes = {Code(entry.status.code) for entry in entries}
    status = entries[0].status if len(entries) == 1 and codes != {Code.OK} else status_of_all(codes)
    return CALLS["SendMessage"].response(status=status, entries=entries)


def _queue_of(proxy: Proxy, topic: str, messages: Any) -> int:
    """The queue of a message group, else each in turn (``SendMessageQueueSelector``)."""
    config = proxy.mode.topic_config(topic)
    if config is None or not config["perm"] & _WRITE or not config["writeQueueNums"]:
        raise thrown(Code.FORBIDDEN, "no writable queue")
    queues = int(config["writeQueueNums"])
    group = messages[0].system_properties.message_group if len(messages) == 1 else ""
    if group:
        return consistent_hash(group, queues)
    queue_id = proxy.next_queue.get(topic, 0) % queues
    proxy.next_queue[topic] = queue_id + 1
    return queue_id


def _stored(proxy: Proxy, caller: Caller, message: Any, properties: dict[str, str], queue_id: int) -> Any:
    """Let the broker store a message; what is answered for it."""
    system, topic = message.system_properties, message.topic.name
    is_half = system.message_type == MessageType.TRANSACTION
    flag = (_PREPARED if is_half else 0) | (COMPRESSED if system.body_encoding == Encoding.GZIP else 0)
    fields = {
        "a": topic, "b": topic, "c": "TBW102", "d": 4, "e": queue_id, "f": flag, "g": properties[BORN_TIMESTAMP],
        "h": 0, "i": properties_text(properties), "j": 0, "k": False, "m": False,
    }  # fmt: skip
    answer = ask_broker(proxy.node, RequestCode.SEND_MESSAGE_V2, fields, message.body, address=caller.address)
    if (late := _LATE.get(ResponseCode(answer.code)) if answer.code in _LATE else None) is not None:
        name = ResponseCode(answer.code).name
        return SendResultEntry(status=Status(code=late, message=f"send message failed, sendStatus={name}"))
    if answer.code != ResponseCode.SUCCESS:
        return SendResultEntry(status=status_of_broker(answer.code, answer.remark))
    unique_key, offset = system.message_id, int(answer.fields["queueOffset"])
    if is_half:
        proxy.transactions.add(topic, unique_key, offset, int(answer.fields["msgId"][_MESSAGE_ID_OFFSET:], 16))
    return SendResultEntry(status=OK, message_id=unique_key, transaction_id=unique_key, offset=offset)


def _properties_of(proxy: Proxy, caller: Caller, message: Any, producer_group: str) -> dict[str, str]:
    """The properties that are stored (``#buildMessageProperty``); a refusal if the message may not be sent."""
    _require_body(message.body)
    system, properties = message.system_properties, dict(message.user_properties)
    _require_user_properties(properties)
    properties |= _named(system, properties)
    if system.message_type == MessageType.TRANSACTION:
        properties[TRANSACTION_PREPARED] = "true"
        if system.HasField("orphaned_transaction_recovery_duration"):
            properties[IMMUNITY_SECONDS] = str(_recovery_seconds(system))
    if system.HasField("delivery_timestamp"):
        properties[TIMER_DELIVER_MS] = str(_delivery_time(proxy, system))
    if system.HasField("priority"):
        properties[PRIORITY] = str(system.priority)
    properties |= {"RECONSUME_TIME": str(system.delivery_attempt), PRODUCER_GROUP: producer_group}
    if system.message_group:
        require_message_group(system.message_group)
        properties[SHARDING_KEY] = system.message_group
    if system.trace_context:
        properties[TRACE_CONTEXT] = system.trace_context
    born_host = system.born_host.strip() or caller.address
    if has_control_character(system.trace_context + born_host):
        raise ProxyRefusal(Code.ILLEGAL_MESSAGE_PROPERTY_KEY, _NO_CONTROL)
    born = milliseconds(system.born_timestamp) if system.HasField("born_timestamp") else None
    born = int(time.time() * 1_000) if born is None else born
    return properties | {BORN_HOST: born_host, BORN_TIMESTAMP: str(born)}


def _named(system: Any, properties: Mapping[str, str]) -> dict[str, str]:
    """Tag, keys and unique key, if they may be sent, and not too much with the user's properties."""
    require_tag(system.tag)
    require_keys(system.keys)
    texts = (*properties.keys(), *properties.values(), system.tag, *system.keys)
    if sum(len(text.encode()) for text in texts) > MOST_PROPERTY_BYTES:
        message = f"the total size of user property is too large, max is {MOST_PROPERTY_BYTES}"
        raise ProxyRefusal(Code.MESSAGE_PROPERTIES_TOO_LARGE, message)
    if not system.message_id.strip():
        raise ProxyRefusal(Code.ILLEGAL_MESSAGE_ID, "message id cannot be empty")
    if has_control_character(system.message_id):
        raise ProxyRefusal(Code.ILLEGAL_MESSAGE_ID, "message id cannot contain control character")
    named = {UNIQUE_KEY: system.message_id}
    if system.tag:
        named[TAGS] = system.tag
    if system.keys:
        named[KEYS] = " ".join(system.keys)
    return named


def _require_body(body: bytes) -> None:
    if not body:
        raise ProxyRefusal(Code.MESSAGE_BODY_EMPTY, "message body cannot be empty")
    if len(body) > MOST_BODY_BYTES:
        raise ProxyRefusal(Code.MESSAGE_BODY_TOO_LARGE, f"message body cannot exceed the max {MOST_BODY_BYTES}")


def _require_user_properties(properties: dict[str, str]) -> None:
    if len(properties) > MOST_PROPERTIES:
        raise ProxyRefusal(Code.MESSAGE_PROPERTIES_TOO_LARGE, f"too many user properties, max is {MOST_PROPERTIES}")
    for key, value in properties.items():
        wrong = ""
        if key in SYSTEM_PROPERTIES:
            wrong = f"property is used by system: {key}"
        elif has_control_character(key):
            wrong = "the key of property cannot contain control character"
        elif has_control_character(value):
            wrong = _NO_CONTROL
        if wrong:
            raise ProxyRefusal(Code.ILLEGAL_MESSAGE_PROPERTY_KEY, wrong)


def _recovery_seconds(system: Any) -> int:
    seconds = int(system.orphaned_transaction_recovery_duration.seconds)
    if seconds > MOST_RECOVERY_SECONDS:
        message = f"the max transaction recovery time of message is too large, max is {MOST_RECOVERY_SECONDS}"
        raise ProxyRefusal(Code.BAD_REQUEST, message)
    return seconds


def _delivery_time(proxy: Proxy, system: Any) -> int:
    """When to deliver it, by the broker's clock: as many milliseconds from now as the client says by its own."""
    delay = system.delivery_timestamp.ToMilliseconds() - int(time.time() * 1_000)
    if delay > MOST_DELAY_MS:
        message = f"the max delay time of message is too large, max is {MOST_DELAY_MS}"
        raise ProxyRefusal(Code.ILLEGAL_DELIVERY_TIME, message)
    return proxy.node.clock.now + int(delay)
