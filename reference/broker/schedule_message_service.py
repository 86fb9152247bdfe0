"""Brings delayed messages to their topics when they are due (``ScheduleMessageService``)."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from files.content import parse_json
from reference.broker.config_files import config_json, load_or_backup, string_to_file
from reference.format.errors import NoSpaceLeftError
from reference.format.properties import REAL_QUEUE_ID, REAL_TOPIC, WAIT_STORE_OK, message_properties_to_string
from reference.format.record import LogRecord, QueueOffset
from reference.format.system_topics import HALF_TOPIC, SCHEDULE_TOPIC
from reference.store.delay_levels import DELAY_TIME_LEVEL, DELAYS_MS, queue_id_of_level
from reference.store.message import MessageExtBrokerInner
from reference.store.put_message import TIMER_DELAY_SECONDS, TIMER_DELIVER_MS

if TYPE_CHECKING:
    from reference.simulation.virtual_clock import VirtualClock
    from reference.store.message_store import MessageStore
    from reference.versions.switches import ReleaseSwitches

_FILE = "config/delayOffset.json"
_BARE_KEY = re.compile(rb"([{,]\s*)(\d+)\s*:")
"""RocketMQ writes the levels without quotes."""


class ScheduleMessageService:
    """Reads the queue of each delay level, and puts what is due into its real topic."""

    def __init__(self, switches: ReleaseSwitches, store: MessageStore, clock: VirtualClock) -> None:
        self.dropped: list[LogRecord] = []
        """What was due and not brought to the half topic (4.6.1 and later: "[BUG] the real topic of schedule msg is
        …")."""
        self._switches = switches
        self._store = store
        self._clock = clock
        self.offset_table = load_or_backup(store.disk, _FILE, _parse) or {}
        """For each level how far its queue has been read."""

    def deliver_due(self) -> tuple[LogRecord, ...]:
        """Bring each message that is due, and give what was stored.

        ``ScheduleMessageService.DeliverDelayedMessageTimerTask``.
        """
        delivered = []
        for level in range(1, len(DELAYS_MS) + 1):
            while (record := self._next_due(level)) is not None:
                message = self._message_time_up(record)
                if self._switches.drops_scheduled_halves and message.topic == HALF_TOPIC:
                    self.dropped.append(record)
                else:
                    stored = self._store.put_message(message).record
                    if stored is None:
                        break
                    delivered.append(stored)
                self.offset_table[level] = record.queue_offset + 1
        return tuple(delivered)

    def persist(self) -> None:
        """Save how far the queues have been read; nothing is saved before anything was."""
        if not self.offset_table:
            return
        version = {"dataVersion": {"counter": 0, "stateVersion": 0, "timestamp": self._clock.now}}
        table = {"offsetTable": dict(sorted(self.offset_table.items()))}
        content = {**(version if self._switches.versions_consumer_offsets else {}), **table}
        text = config_json(content, self._switches)
        with suppress(NoSpaceLeftError):
            string_to_file(self._store.disk, _FILE, text.encode(), self._switches)

    def _next_due(self, level: int) -> LogRecord | None:
        """The next message of a level if it is due; what cannot be decoded is passed over."""
        queue_id = queue_id_of_level(level)
        offset = self.offset_table.get(level, 0)
        if offset >= self._store.get_max_offset_in_queue(SCHEDULE_TOPIC, queue_id):
            return None
        while found := self._store.get_message(SCHEDULE_TOPIC, queue_id, QueueOffset(offset), 1).records:
            (record,) = found
            if record is not None:
                return record if self._clock.now >= record.store_timestamp + DELAYS_MS[level - 1] else None
            offset += 1
        return None

    def _message_time_up(self, record: LogRecord) -> MessageExtBrokerInner:
        """The message for its real topic (``#messageTimeup``): the level leaves its map, behind the stored string."""
        properties = dict(record.properties)
        text = message_properties_to_string(properties, self._switches)
        properties[WAIT_STORE_OK] = "false"
        timers = (TIMER_DELIVER_MS, TIMER_DELAY_SECONDS) if self._switches.has_timer_wheel else ()
        for name in (DELAY_TIME_LEVEL, *timers):
            properties.pop(name, None)
        topic, queue_id = properties[REAL_TOPIC], int(properties[REAL_QUEUE_ID])
        return MessageExtBrokerInner.of(record, topic, queue_id, text, properties)


def _parse(raw: bytes) -> dict[int, int]:
    table = parse_json(_BARE_KEY.sub(rb'\1"\2":', raw))["offsetTable"]
    return {int(level): int(offset) for level, offset in table.items()}
