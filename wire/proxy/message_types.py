"""The types of messages and of topics (``TopicMessageType``, ``DefaultTopicMessageTypeValidator``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reference.format.properties import TRANSACTION_PREPARED
from reference.store.put_message import WAITING
from wire.proxy.protocol.messages import Code, MessageType
from wire.proxy.refusal import thrown
from wire.requests.topic_types import MESSAGE_TYPE_ATTRIBUTE, MIXED

if TYPE_CHECKING:
    from collections.abc import Mapping

SHARDING_KEY: Final = "__SHARDINGKEY"
PRIORITY: Final = "_SYS_MSG_PRIORITY_"

_ACCEPTED: Final = {
    MIXED: [MessageType.NORMAL, MessageType.FIFO, MessageType.DELAY, MessageType.TRANSACTION],
}
_UNSPECIFIED: Final = "UNSPECIFIED"


def type_of_message(properties: Mapping[str, str]) -> str:
    """The type that a message's properties give it (``TopicMessageType#parseFromMessageProperty``)."""
    if properties.get(TRANSACTION_PREPARED, "").lower() == "true":
        return "TRANSACTION"
    if any(name in properties for name in WAITING):
        return "DELAY"
    if SHARDING_KEY in properties:
        return "FIFO"
    return "PRIORITY" if PRIORITY in properties else "NORMAL"


def type_of_topic(config: Mapping[str, Any] | None) -> str:
    """What a topic is for: NORMAL, unless its attribute ``message.type`` says something else."""
    if config is None:
        return _UNSPECIFIED
    return str((config.get("attributes") or {}).get(MESSAGE_TYPE_ATTRIBUTE, "NORMAL"))


def accepted_types(topic_type: str) -> list[Any]:
    """The types of messages that a topic takes (``RouteActivity#parseTopicMessageType``)."""
    known = MessageType.__members__.get(topic_type, MessageType.MESSAGE_TYPE_UNSPECIFIED)
    return _ACCEPTED.get(topic_type, [known])


def require_type(topic_type: str, message_type: str) -> None:
    """Refuse a message that is none of the topic's type with MESSAGE_PROPERTY_CONFLICT_WITH_TYPE."""
    if topic_type not in (message_type, MIXED):
        raise thrown(
            Code.MESSAGE_PROPERTY_CONFLICT_WITH_TYPE,
            f"TopicMessageType validate failed, the expected type is {topic_type}, but actual type is {message_type}",
        )
