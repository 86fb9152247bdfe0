"""The threads that bring what is in memory to the disk, and that delete old files: what a crash shows of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reference.cluster.broker_threads import FLUSH_INTERVAL_MS
from reference.cluster.cluster import WRITE_BACK_MS
from reference.format.record import CommitLogOffset
from reference.format.system_topics import HALF_QUEUE_ID, HALF_TOPIC, OP_TOPIC

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.broker.broker_controller import BrokerController
    from traffic.simulation.broker_host import BrokerHost

_CLEANING_MS: Final = 10_000
"""How often files of the log that nothing will read any more are deleted (``cleanResourceInterval``)."""


class StorageThreads:
    """``CommitLog.FlushRealTimeService``, the timer that saves offsets, and ``CleanCommitLogService``.

    Attributes
    ----------
    unread_from
        Gives from where on in the log the consumer has yet to read.
    """

    def __init__(self, host: BrokerHost) -> None:
        self.unread_from: Callable[[], int] = lambda: 1 << 62
        self._host = host
        self._simulation = host.run
        self._flushed = self._saved_changes = -1
        self._saved: list[tuple[float, int]] = []
        """When each half offset was saved that is not yet sure to survive all crashes."""

    def start(self, broker: BrokerController) -> None:
        """See :class:`traffic.simulation.broker_host.HostedThread`."""
        self._flushed = self._saved_changes = -1
        if not self._simulation.keeps_store:
            self._host.put(_CLEANING_MS, self._clean)
        if self._simulation.may_stop:
            self._host.put(FLUSH_INTERVAL_MS, self._flush)
            self._host.put(broker.settings.flush_consumer_offset_delay_ms, self._save_offsets)
        if self._host.disk.loses_power and self._host.epoch == 1:
            self._write_back()

    def _flush(self) -> None:
        """``CommitLog.FlushRealTimeService#run``, where there is something to flush."""
        broker = self._host.broker
        if broker is None:
            return
        end = int(broker.message_store.max_phy_offset)
        if end != self._flushed:
            broker.message_store.flush()
            self._flushed = end
        self._host.put(FLUSH_INTERVAL_MS, self._flush)

    def _save_offsets(self) -> None:
        """The timer of ``BrokerController#initialize``; halves before what no crash takes back come no more."""
        broker, now = self._host.broker, self._simulation.events.now
        if broker is None:
            return
        offsets = broker.consumer_offset_manager
        if offsets.changes != self._saved_changes:
            self._saved_changes = offsets.changes
            broker.persist_consumer_offsets()
            self._saved.append((now, offsets.query_offset(HALF_TOPIC, HALF_QUEUE_ID)))
        safe = now - (WRITE_BACK_MS if self._host.disk.loses_power else 0)
        while self._saved and self._saved[0][0] <= safe:
            self._simulation.ledger.forget_passed(self._saved.pop(0)[1])
        self._host.put(max(1, self._host.settings.flush_consumer_offset_interval_ms), self._save_offsets)

    def _write_back(self, _: object = None) -> None:
        """The operating system brings small files to the disk."""
        self._host.disk.flush()
        self._simulation.events.put(self._simulation.events.now + WRITE_BACK_MS, self._write_back, None)

    def _clean(self) -> None:
        """Delete the files of the log that nobody will read any more, and what queues hold of them.

        ``DefaultMessageStore.CleanCommitLogService`` does so by age; what is pending is never deleted here (B55).
        """
        broker = self._host.broker
        if broker is None:
            return
        store, offsets = broker.message_store, broker.consumer_offset_manager
        needed = min(int(store.max_phy_offset), self.unread_from())
        oldest = next(iter(self._simulation.ledger.halves.values()), None)
        if oldest is not None:
            needed = min(needed, oldest.place)
        for topic in (HALF_TOPIC, OP_TOPIC):
            offset = offsets.query_offset(topic, HALF_QUEUE_ID)
            if offset < 0:
                needed = 0
            elif offset < store.get_max_offset_in_queue(topic, HALF_QUEUE_ID):
                needed = min(needed, store.get_commit_log_offset_in_queue(topic, HALF_QUEUE_ID, offset))
        store.cleaning.clean_commit_log(CommitLogOffset(needed))
        store.cleaning.clean_consume_queues()
        self._host.put(_CLEANING_MS, self._clean)
