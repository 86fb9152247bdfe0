"""From where on retention keeps the commit log for the check service. No release asks that (repairs of B44, B55)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.format.properties import UNIQUE_KEY
from reference.format.record import CommitLogOffset, QueueOffset
from reference.format.system_topics import HALF_QUEUE_ID, HALF_TOPIC, OP_TOPIC

if TYPE_CHECKING:
    from reference.broker.broker_controller import BrokerController
    from reference.format.record import LogRecord


class PendingFiles:
    """What a round may still ask for, and the halves that an END_TRANSACTION may name as a later one is open."""

    def __init__(self, broker: BrokerController) -> None:
        self._broker = broker
        self._bridge = broker.transactional_message_bridge

    def begin(self) -> CommitLogOffset:
        """The first byte of the log that is kept."""
        running = self._broker.check_service.round
        open_from = self._least_offset(HALF_TOPIC)
        half = open_from if running is None else min(open_from, running.new_offset)
        op = self._least_offset(OP_TOPIC)
        op = op if running is None else min(op, running.op_offset)
        return min(self._place(HALF_TOPIC, half), self._place(OP_TOPIC, op), self._first_half_of_open(open_from))

    def _least_offset(self, topic: str) -> QueueOffset:
        """The offset in memory or in the file, whichever is less; a start may go back to the latter."""
        offsets = self._broker.consumer_offset_manager
        saved = offsets.saved.get(topic, HALF_QUEUE_ID)
        return QueueOffset(max(0, min(offsets.query_offset(topic, HALF_QUEUE_ID), 0 if saved is None else saved)))

    def _place(self, topic: str, offset: QueueOffset) -> CommitLogOffset:
        is_there = offset < self._bridge.max_offset(topic)
        return self._bridge.place_of(topic, offset) if is_there else self._broker.message_store.max_phy_offset

    def _first_half_of_open(self, open_from: QueueOffset) -> CommitLogOffset:
        """Where the first half of a transaction begins of which another stands where rounds may still come."""
        halves = self._halves()
        are_open = {_key(half) for half in halves if half.queue_offset >= open_from}
        pending = [half.physical_offset for half in halves if _key(half) in are_open]
        return min(pending, default=self._broker.message_store.max_phy_offset)

    def _halves(self) -> list[LogRecord]:
        store = self._broker.message_store
        at, found = store.cleaning.get_min_offset_in_queue(HALF_TOPIC, HALF_QUEUE_ID), []
        while at < self._bridge.max_offset(HALF_TOPIC):
            read = store.get_message(HALF_TOPIC, HALF_QUEUE_ID, at, 32)
            if not read.records:
                break
            found += [half for half in read.records if half is not None]
            at = read.next_begin_offset
        return found


def _key(half: LogRecord) -> str:
    return half.properties.get(UNIQUE_KEY, "")
