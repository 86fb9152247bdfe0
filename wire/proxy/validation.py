"""The proxy's questions to names, tags, keys and times before anything is done (``GrpcValidator``, ``Validators``)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from reference.format.system_topics import DISCARD_TOPIC, HALF_TOPIC, OP_TOPIC, SCHEDULE_TOPIC
from wire.proxy.limits import MESSAGE_GROUP_BYTES, MOST_INVISIBLE_MS
from wire.proxy.protocol.messages import Code
from wire.proxy.refusal import ProxyRefusal

if TYPE_CHECKING:
    from collections.abc import Iterable

_LEGAL: Final = re.compile("[%|a-zA-Z0-9_-]+")
_LONGEST_TOPIC: Final = 127
_LONGEST_RETRY_TOPIC: Final = 255
_LONGEST_GROUP: Final = 120
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f]")
_SYSTEM_TOPICS: Final = frozenset({
    "TBW102", SCHEDULE_TOPIC, "BenchmarkTest", HALF_TOPIC, "RMQ_SYS_TRACE_TOPIC", OP_TOPIC, DISCARD_TOPIC,
    "SELF_TEST_TOPIC", "OFFSET_MOVED_EVENT", "CHECKPOINT_TOPIC",
})  # fmt: skip
_SYSTEM_PREFIX: Final = "rmq_sys_"
_SYSTEM_GROUPS: Final = "CID_RMQ_SYS_"


def require_topic(topic: Any) -> str:
    """The name of a topic that a client may use, else ILLEGAL_TOPIC."""
    name: str = topic.name
    wrong = ""
    if not name.strip():
        wrong = "The specified topic is blank"
    elif not _LEGAL.fullmatch(name):
        wrong = f"The specified topic[{name[:255]}] contains illegal characters, allowing only ^{_LEGAL.pattern}$"
    elif len(name) > (_LONGEST_RETRY_TOPIC if name.startswith(("%RETRY%", "%DLQ%")) else _LONGEST_TOPIC):
        wrong = f"The specified topic is longer than topic max length {_LONGEST_TOPIC}."
    elif name in _SYSTEM_TOPICS or name.startswith(_SYSTEM_PREFIX):
        wrong = "cannot access system topic"
    if wrong:
        raise ProxyRefusal(Code.ILLEGAL_TOPIC, wrong)
    return name


def require_group(group: Any) -> str:
    """The name of a consumer group that a client may use, else ILLEGAL_CONSUMER_GROUP."""
    name: str = group.name
    wrong = ""
    if not name.strip():
        wrong = "the specified group is blank"
    elif len(name) > _LONGEST_GROUP:
        wrong = f"the specified group[{name[:255]}] is longer than group max length: {_LONGEST_GROUP}."
    elif not _LEGAL.fullmatch(name):
        wrong = f"the specified group[{name[:255]}] contains illegal characters, allowing only ^{_LEGAL.pattern}$"
    elif name.startswith(_SYSTEM_GROUPS):
        wrong = "cannot use system consumer group"
    if wrong:
        raise ProxyRefusal(Code.ILLEGAL_CONSUMER_GROUP, wrong)
    return name


def require_invisible(milliseconds: int, least: int = 0) -> int:
    """A time for which a message may be hidden, else ILLEGAL_INVISIBLE_TIME."""
    if milliseconds < least:
        raise ProxyRefusal(Code.ILLEGAL_INVISIBLE_TIME, f"the invisibleTime is too small. min is {least}")
    if milliseconds > MOST_INVISIBLE_MS:
        raise ProxyRefusal(Code.ILLEGAL_INVISIBLE_TIME, f"the invisibleTime is too large. max is {MOST_INVISIBLE_MS}")
    return milliseconds


def require_tag(tag: str) -> None:
    """Refuse a tag with ILLEGAL_MESSAGE_TAG."""
    if tag and not tag.strip():
        raise ProxyRefusal(Code.ILLEGAL_MESSAGE_TAG, "tag cannot be the char sequence of whitespace")
    if "|" in tag:
        raise ProxyRefusal(Code.ILLEGAL_MESSAGE_TAG, "tag cannot contain '|'")
    if has_control_character(tag):
        raise ProxyRefusal(Code.ILLEGAL_MESSAGE_TAG, "tag cannot contain control character")


def require_keys(keys: Iterable[str]) -> None:
    """Refuse keys with ILLEGAL_MESSAGE_KEY."""
    for key in keys:
        if key and not key.strip():
            raise ProxyRefusal(Code.ILLEGAL_MESSAGE_KEY, "key cannot be the char sequence of whitespace")
        if has_control_character(key):
            raise ProxyRefusal(Code.ILLEGAL_MESSAGE_KEY, "key cannot contain control character")


def require_message_group(group: str) -> None:
    """Refuse a message group with ILLEGAL_MESSAGE_GROUP (``SendMessageActivity#validateMessageGroup``)."""
    wrong = ""
    if not group.strip():
        wrong = "message group cannot be the char sequence of whitespace"
    elif len(group.encode()) >= MESSAGE_GROUP_BYTES:
        wrong = f"message group exceed the max size {MESSAGE_GROUP_BYTES}"
    elif has_control_character(group):
        wrong = "message group cannot contain control character"
    if wrong:
        raise ProxyRefusal(Code.ILLEGAL_MESSAGE_GROUP, wrong)


def has_control_character(text: str) -> bool:
    """Whether one of Java's ISO control characters is in it."""
    return _CONTROL.search(text) is not None
