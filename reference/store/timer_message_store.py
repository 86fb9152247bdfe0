"""Brings messages with a timer to their topics when they are due (``TimerMessageStore``, 5.0.0 and later)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.format.properties import REAL_QUEUE_ID, REAL_TOPIC, WAIT_STORE_OK, message_properties_to_string
from reference.format.record import LogRecord, QueueOffset
from reference.format.system_topics import TIMER_TOPIC
from reference.store.message import MessageExtBrokerInner
from reference.store.put_message import TIMER_OUT_MS

if TYPE_CHECKING:
    from reference.simulation.virtual_clock import VirtualClock
    from reference.store.message_store import MessageStore
    from reference.versions.switches import ReleaseSwitches

_ENQUEUE_MS, _DEQUEUE_MS = "TIMER_ENQUEUE_MS", "TIMER_DEQUEUE_MS"


class TimerMessageStore:
    """The wheel, kept in memory: how far the timer topic has been read, and what waits.

    The real one keeps its wheel and log in files of their own; when each message is due is the same.
    """

    def __init__(self, switches: ReleaseSwitches, store: MessageStore, clock: VirtualClock) -> None:
        self.waiting: list[tuple[LogRecord, int]] = []
        """Messages that were read and are not due yet, with the time at which it was read."""
        self._next = QueueOffset(0)
        self._switches = switches
        self._store = store
        self._clock = clock

    def deliver_due(self) -> tuple[LogRecord, ...]:
        """Read the timer topic on, and put what is due into its real topic; gives what was stored.

        Unlike the schedule service, nobody asks whether that is the half topic (A23).
        """
        while (found := self._store.get_message(TIMER_TOPIC, 0, self._next, 1)).records:
            self.waiting += ((record, self._clock.now) for record in found.records if record is not None)
            self._next = found.next_begin_offset
        now = self._clock.now
        due = [(record, read_at) for record, read_at in self.waiting if int(record.properties[TIMER_OUT_MS]) <= now]
        self.waiting = [entry for entry in self.waiting if entry not in due]
        stored = (self._store.put_message(self._convert_message(record, read_at)).record for record, read_at in due)
        return tuple(record for record in stored if record is not None)

    def _convert_message(self, record: LogRecord, enqueued_at: int) -> MessageExtBrokerInner:
        """The message for its real topic (``#convertMessage``); REAL_TOPIC stays in the stored string."""
        properties = dict(record.properties)
        properties[_ENQUEUE_MS] = str(enqueued_at)
        properties[_DEQUEUE_MS] = str(self._clock.now)
        text = message_properties_to_string(properties, self._switches)
        properties[WAIT_STORE_OK] = "false"
        topic, queue_id = properties.pop(REAL_TOPIC), int(properties.pop(REAL_QUEUE_ID))
        return MessageExtBrokerInner.of(record, topic, queue_id, text, properties)
