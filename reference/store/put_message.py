"""Checks before a message is put (``HookUtils``), and the result of a put.

Is it too long, shall it wait in another topic?
A half may come here as well as any other message, because its transaction bits were cleared before: then it is not in
the half topic that it is stored (A22, A23).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final

from reference.format.properties import REAL_QUEUE_ID, REAL_TOPIC, message_properties_to_string
from reference.format.system_topics import SCHEDULE_TOPIC, TIMER_TOPIC
from reference.store.delay_levels import DELAY_TIME_LEVEL, delay_level, queue_id_of_level
from reference.store.light_queues import wrap_lmq_dispatch

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.format.record import CommitLogOffset, LogRecord, QueueOffset
    from reference.store.message import MessageExtBrokerInner
    from reference.versions.switches import ReleaseSwitches

TIMER_DELAY_SECONDS: Final = "TIMER_DELAY_SEC"
TIMER_DELAY_MS: Final = "TIMER_DELAY_MS"
TIMER_DELIVER_MS: Final = "TIMER_DELIVER_MS"
TIMER_OUT_MS: Final = "TIMER_OUT_MS"
"""When a message that waits in the timer topic is due, set by the broker."""

TIMER_PROPERTIES: Final = (TIMER_DELIVER_MS, TIMER_DELAY_SECONDS, TIMER_DELAY_MS)
WAITING: Final = (DELAY_TIME_LEVEL, *TIMER_PROPERTIES)
"""A message with none of these properties is stored as it is."""

_TIMER_PRECISION_MS = 1_000
_TIMER_MAX_DELAY_MS = 3 * 24 * 3_600_000

MOST_PROPERTIES: Final = 32_767
"""Bytes of properties that a record can hold (``Short.MAX_VALUE``)."""

_MOST_TOPIC_BYTES = 0x7F


class PutMessageStatus(Enum):
    """Whether a message was stored (``org.apache.rocketmq.store.PutMessageStatus``)."""

    PUT_OK = "PUT_OK"
    SERVICE_NOT_AVAILABLE = "SERVICE_NOT_AVAILABLE"
    """The store is not writable: the disk is full, the broker is a slave, or it is shutting down."""
    MESSAGE_ILLEGAL = "MESSAGE_ILLEGAL"
    """The topic or the message is too long."""
    PROPERTIES_SIZE_EXCEEDED = "PROPERTIES_SIZE_EXCEEDED"
    """The properties have more than 32,767 bytes."""
    WHEEL_TIMER_MSG_ILLEGAL = "WHEEL_TIMER_MSG_ILLEGAL"
    """Its timer is no number, or further ahead than three days."""
    CREATE_MAPPED_FILE_FAILED = "CREATE_MAPPED_FILE_FAILED"
    """There is no room for the next file of the commit log."""

    @property
    def is_of_the_message(self) -> bool:
        """Whether it is the message that can't be stored, however often that is tried."""
        return self in (PutMessageStatus.MESSAGE_ILLEGAL, PutMessageStatus.PROPERTIES_SIZE_EXCEEDED)


@dataclass(slots=True, eq=False)
class PutMessageResult:
    """The store's answer when a message is put (``PutMessageResult``).

    Attributes
    ----------
    record
        The record, read back from the store when it is asked for; None if there is none.
    """

    status: PutMessageStatus
    look_up: Callable[[CommitLogOffset], LogRecord | None] | None = field(default=None, repr=False)
    physical_offset: CommitLogOffset | None = None
    """Where it stands, None if it was not stored."""
    queue_offset: QueueOffset | None = None
    """Its offset in its queue; None if it was not stored."""
    _record: LogRecord | None = field(default=None, init=False)

    @property
    def record(self) -> LogRecord | None:
        """See the class."""
        if self._record is None and self.look_up is not None and self.physical_offset is not None:
            self._record = self.look_up(self.physical_offset)
        return self._record


def check_before_put_message(
    topic: str, properties_bytes: int, max_topic_length: int, switches: ReleaseSwitches
) -> PutMessageStatus | None:
    """Why a message is refused for its lengths, if it is (``HookUtils``; up to 5.0 ``CommitLog``)."""
    if len(topic.encode()) > (max_topic_length if switches.stores_long_topics else _MOST_TOPIC_BYTES):
        return PutMessageStatus.MESSAGE_ILLEGAL
    if properties_bytes > MOST_PROPERTIES:
        has_own_status = switches.stores_long_topics
        return PutMessageStatus.PROPERTIES_SIZE_EXCEEDED if has_own_status else PutMessageStatus.MESSAGE_ILLEGAL
    return None


def run_put_message_hooks(
    message: MessageExtBrokerInner,
    switches: ReleaseSwitches,
    now: int,
    next_light_offset: Callable[[str], int] | None,
) -> PutMessageStatus | None:
    """Run the hooks before a put, which refuse a message, let it wait elsewhere, or enter it in light queues, too."""
    if not message.properties:
        return None
    if not message.properties.keys().isdisjoint(WAITING):
        refused = handle_schedule_message(message, switches, now)
        if refused is not None:
            return refused
    if next_light_offset is not None:
        wrap_lmq_dispatch(message, switches, next_light_offset)
    return None


def handle_schedule_message(
    message: MessageExtBrokerInner, switches: ReleaseSwitches, now: int
) -> PutMessageStatus | None:
    """Send a message with a timer to the timer topic, one with a delay level to the schedule topic.

    Its own topic and queue become REAL_TOPIC and REAL_QID, over those that a half may have, and its string is made
    anew (``HookUtils#handleScheduleMessage``; in 4.x the delay level only, ``CommitLog#putMessage``).
    """
    properties = message.properties
    level = delay_level(properties.get(DELAY_TIME_LEVEL))
    if level > 0:
        if switches.has_timer_wheel:
            for name in TIMER_PROPERTIES:
                properties.pop(name, None)
        _redirect(message, properties, switches, SCHEDULE_TOPIC, queue_id_of_level(level))
    elif switches.has_timer_wheel and _is_timer_message(message, properties):
        return _transform_timer_message(message, properties, switches, now)
    return None


def _is_timer_message(message: MessageExtBrokerInner, properties: dict[str, str]) -> bool:
    if message.topic == TIMER_TOPIC or TIMER_OUT_MS in properties:
        return False
    return any(name in properties for name in TIMER_PROPERTIES)


def _transform_timer_message(
    message: MessageExtBrokerInner, properties: dict[str, str], switches: ReleaseSwitches, now: int
) -> PutMessageStatus | None:
    try:
        if TIMER_DELAY_SECONDS in properties:
            deliver_at = now + int(properties[TIMER_DELAY_SECONDS]) * 1_000
        elif TIMER_DELAY_MS in properties:
            deliver_at = now + int(properties[TIMER_DELAY_MS])
        else:
            deliver_at = int(properties[TIMER_DELIVER_MS])
    except ValueError:
        return PutMessageStatus.WHEEL_TIMER_MSG_ILLEGAL
    if deliver_at <= now:
        return None
    if deliver_at - now > _TIMER_MAX_DELAY_MS:
        return PutMessageStatus.WHEEL_TIMER_MSG_ILLEGAL
    beyond = deliver_at % _TIMER_PRECISION_MS
    properties[TIMER_OUT_MS] = str(deliver_at - (beyond or _TIMER_PRECISION_MS))
    _redirect(message, properties, switches, TIMER_TOPIC, 0)
    return None


def _redirect(
    message: MessageExtBrokerInner, properties: dict[str, str], switches: ReleaseSwitches, topic: str, queue_id: int
) -> None:
    properties[REAL_TOPIC] = message.topic
    properties[REAL_QUEUE_ID] = str(message.queue_id)
    message.properties_text = message_properties_to_string(properties, switches)
    message.topic = topic
    message.queue_id = queue_id
