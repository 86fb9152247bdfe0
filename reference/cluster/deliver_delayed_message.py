"""The thread that brings delayed messages to their topics in a cluster.

``ScheduleMessageService.DeliverDelayedMessageTimerTask``. The records are of the right kind and order, not held to byte
identity as those of :class:`~reference.broker.schedule_message_service.ScheduleMessageService` are.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from reference.broker.config_files import string_to_file
from reference.broker.processor.send_back_processor import copy_to
from reference.format.properties import REAL_QUEUE_ID, REAL_TOPIC
from reference.format.record import QueueOffset
from reference.format.system_topics import SCHEDULE_TOPIC
from reference.simulation.scheduler import Sleep, Steps, Until
from reference.store.delay_levels import DELAY_TIME_LEVEL, DELAYS_MS
from reference.store.get_message import GetMessageStatus
from reference.store.message import MessageExt

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.broker.broker_controller import BrokerController

T = TypeVar("T")

_DELAY_OFFSETS: Final = "config/delayOffset.json"


class Serve(Protocol):
    """Runs a step of a broker's thread that may write: the process dies with its disk."""

    def __call__(self, broker: BrokerController, work: Callable[[], T]) -> T:
        """Do it."""


class DeliverDelayedMessage:
    """Brings messages from the queues of the delay levels to their topics when their time has come."""

    def __init__(self, broker: BrokerController, serve: Serve) -> None:
        saved = broker.schedule_message_service.offset_table
        self.offset_table = {level - 1: offset for level, offset in saved.items()}
        """By queue, how far each level was delivered; saved in ``config/delayOffset.json``."""
        self._broker = broker
        self._serve = serve

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
        return range(len(DELAYS_MS))

    def _offset(self, queue_id: int) -> QueueOffset:
        return QueueOffset(self.offset_table.get(queue_id, 0))

    def _next(self, queue_id: int) -> MessageExt | None:
        result = self._broker.message_store.get_message(SCHEDULE_TOPIC, queue_id, self._offset(queue_id), 1)
        record = result.records[0] if result.status is GetMessageStatus.FOUND else None
        return None if record is None else MessageExt.of(record)

    def _next_due(self) -> int:
        waiting = [(q, message) for q in self._queues() if (message := self._next(q)) is not None]
        return min(message.record.store_timestamp + DELAYS_MS[q] for q, message in waiting)

    def _deliver_due(self) -> None:
        for queue_id in self._queues():
            message = self._next(queue_id)
            if message is None or message.record.store_timestamp + DELAYS_MS[queue_id] > self._broker.clock.now:
                continue
            topic, target = message.properties[REAL_TOPIC], int(message.properties[REAL_QUEUE_ID])
            del message.properties[DELAY_TIME_LEVEL]
            copy = copy_to(self._broker, message, topic, target)
            if self._broker.message_store.put_message(copy).physical_offset is None:
                return
            self.offset_table[queue_id] = self._offset(queue_id) + 1
            self._persist()

    def _persist(self) -> None:
        table = {str(queue_id + 1): offset for queue_id, offset in sorted(self.offset_table.items())}
        content = json.dumps({"offsetTable": table}, indent="\t").encode()
        string_to_file(self._broker.message_store.disk, _DELAY_OFFSETS, content, self._broker.switches)
