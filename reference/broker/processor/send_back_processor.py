"""What a broker does with messages that a consumer could not consume: later once more, in the end a dead letter.

``AbstractSendMessageProcessor#consumerSendMsgBack`` and ``ScheduleMessageService``. The records are of the right kind
and order; they are not held to byte identity.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from reference.broker.config_files import string_to_file
from reference.broker.response import SERVICE_NOT_AVAILABLE, SUCCESS, SYSTEM_ERROR, Response
from reference.format.message_decoder import message_properties_to_string
from reference.format.offsets import QueueOffset
from reference.format.properties import REAL_QUEUE_ID, REAL_TOPIC, WAIT_STORE_OK
from reference.simulation.scheduler import Sleep, Steps, Until
from reference.store.get_message_result import GetMessageStatus
from reference.store.message import MessageExt, MessageExtBrokerInner

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.broker.broker_controller import BrokerController
    from reference.format.offsets import CommitLogOffset

T = TypeVar("T")

SCHEDULE_TOPIC: Final = "SCHEDULE_TOPIC_XXXX"
RETRY_TOPIC: Final = "RETRY_TOPIC"
"""The property that keeps the topic in which a message was first delivered."""

ORIGIN_MESSAGE_ID: Final = "ORIGIN_MESSAGE_ID"
DELAY: Final = "DELAY"
MAX_RECONSUME_TIMES: Final = 16
_S, _M, _H = 1_000, 60_000, 3_600_000
DELAY_LEVELS_MS: Final = (
    1 * _S, 5 * _S, 10 * _S, 30 * _S, 1 * _M, 2 * _M, 3 * _M, 4 * _M, 5 * _M, 6 * _M, 7 * _M, 8 * _M, 9 * _M, 10 * _M,
    20 * _M, 30 * _M, 1 * _H, 2 * _H,
)  # fmt: skip
"""``messageDelayLevel``, from level 1 on."""

_DELAY_OFFSETS = "config/delayOffset.json"


def retry_topic(group: str) -> str:
    """``MixAll#getRetryTopic``."""
    return f"%RETRY%{group}"


def dead_letter_topic(group: str) -> str:
    """``MixAll#getDLQTopic``."""
    return f"%DLQ%{group}"


def consumer_send_msg_back(broker: BrokerController, group: str, offset: CommitLogOffset) -> Response:
    """Store a message once more that a consumer of a group gave back (``#consumerSendMsgBack``).

    Up to the 16th time it waits in the queue of a delay level, each time of the next one, and goes to the group's retry
    topic then; after that it goes to the group's dead letter topic, and nobody delivers it again.
    """
    record = broker.message_store.look_message_by_offset(offset)
    if record is None:
        return Response(SYSTEM_ERROR, f"look message by offset failed, {offset}")
    message = MessageExt.of(record)
    properties = message.properties
    properties.setdefault(RETRY_TOPIC, message.topic)
    properties[WAIT_STORE_OK] = "false"
    properties.setdefault(ORIGIN_MESSAGE_ID, message.msg_id)
    if record.reconsume_times >= MAX_RECONSUME_TIMES:
        topic, queue_id = dead_letter_topic(group), 0
        broker.topic_config_manager.create(topic, 1)
    else:
        broker.topic_config_manager.create(retry_topic(group), 1)
        level = min(3 + record.reconsume_times, len(DELAY_LEVELS_MS))
        properties |= {DELAY: str(level), REAL_TOPIC: retry_topic(group), REAL_QUEUE_ID: "0"}
        topic, queue_id = SCHEDULE_TOPIC, level - 1
    stored = broker.message_store.put_message(
        _copy(broker, message, topic, queue_id, record.reconsume_times + 1, record.flag)
    )
    return Response(SUCCESS if stored.physical_offset is not None else SERVICE_NOT_AVAILABLE)


class Serve(Protocol):
    """How a thread of a broker does what may write: its process dies with its disk."""

    def __call__(self, broker: BrokerController, work: Callable[[], T]) -> T:
        """Do it."""


class ScheduleMessageService:
    """Brings messages from the queues of the delay levels to their topics when their time has come.

    Parameters
    ----------
    serve
        Does what may write, and lets the process die with its disk.

    Attributes
    ----------
    offset_table
        By queue, how far each level was delivered; saved in ``config/delayOffset.json``.
    """

    def __init__(self, broker: BrokerController, serve: Serve) -> None:
        self.offset_table: dict[int, int] = {}
        self._broker = broker
        self._serve = serve
        for name in (_DELAY_OFFSETS, f"{_DELAY_OFFSETS}.bak"):
            raw = broker.message_store.disk.read(name)
            with suppress(ValueError):
                saved = json.loads(raw or b"")["offsetTable"]
                self.offset_table = {int(level) - 1: offset for level, offset in saved.items()}
                break

    def run(self) -> Steps[None]:
        """The thread of the service."""
        while True:
            yield Until(self._has_work)
            while self._has_work():
                due = self._next_due()
                if due > self._broker.clock.now:
                    yield Sleep(due - self._broker.clock.now)
                self._serve(self._broker, self._deliver_due)
                yield None

    def _has_work(self) -> bool:
        store = self._broker.message_store
        return any(self._offset(q) < store.get_max_offset_in_queue(SCHEDULE_TOPIC, q) for q in self._queues())

    def _queues(self) -> range:
        return range(len(DELAY_LEVELS_MS))

    def _offset(self, queue_id: int) -> QueueOffset:
        return QueueOffset(self.offset_table.get(queue_id, 0))

    def _next(self, queue_id: int) -> MessageExt | None:
        result = self._broker.message_store.get_message(SCHEDULE_TOPIC, queue_id, self._offset(queue_id), 1)
        record = result.records[0] if result.status is GetMessageStatus.FOUND else None
        return None if record is None else MessageExt.of(record)

    def _next_due(self) -> int:
        waiting = [(q, message) for q in self._queues() if (message := self._next(q)) is not None]
        return min(message.record.store_timestamp + DELAY_LEVELS_MS[q] for q, message in waiting)

    def _deliver_due(self) -> None:
        for queue_id in self._queues():
            message = self._next(queue_id)
            if message is None or message.record.store_timestamp + DELAY_LEVELS_MS[queue_id] > self._broker.clock.now:
                continue
            topic, target = message.properties[REAL_TOPIC], int(message.properties[REAL_QUEUE_ID])
            del message.properties[DELAY]
            times = message.record.reconsume_times
            copy = _copy(self._broker, message, topic, target, times, message.record.flag)
            if self._broker.message_store.put_message(copy).physical_offset is None:
                return
            self.offset_table[queue_id] = self._offset(queue_id) + 1
            self._persist()

    def _persist(self) -> None:
        table = {str(queue_id + 1): offset for queue_id, offset in sorted(self.offset_table.items())}
        content = json.dumps({"offsetTable": table}, indent="\t").encode()
        string_to_file(self._broker.message_store.disk, _DELAY_OFFSETS, content, self._broker.switches)


def _copy(
    broker: BrokerController, message: MessageExt, topic: str, queue_id: int, reconsume_times: int, flag: int
) -> MessageExtBrokerInner:
    return MessageExtBrokerInner(
        topic=topic,
        queue_id=queue_id,
        body=message.record.body,
        properties_text=message_properties_to_string(message.properties, broker.switches),
        born_timestamp=message.record.born_timestamp,
        born_host=message.record.born_host,
        store_host=broker.settings.store_host,
        flag=flag,
        sys_flag=message.record.sys_flag,
        reconsume_times=reconsume_times,
    )
