"""The threads of a broker's process, as steps of a scheduler."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.broker.transaction.check_outcome import CheckBranch
from reference.cluster.deliver_delayed_message import DeliverDelayedMessage, Serve
from reference.simulation.scheduler import Sleep, Steps, Until

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.broker.broker_controller import BrokerController

FLUSH_INTERVAL_MS = 500
"""``flushIntervalCommitLog``"""


class BrokerThreads:
    """The threads of one process.

    Parameters
    ----------
    moment
        Gives how long it is until a record is dispatched.
    rests
        Whether timers rest while they would change nothing: those that save offsets and write op batches. They wake up
        at the moments at which they would have, so that a day without clients costs its check rounds alone.
    """

    def __init__(
        self, broker: BrokerController, serve: Serve, moment: Callable[[], Sleep], *, rests: bool = False
    ) -> None:
        self._broker = broker
        self._serve = serve
        self._moment = moment
        self._rests = rests

    def by_name(self) -> dict[str, Steps[None]]:
        """The steps of each thread."""
        threads = {
            "check service": self._run_check_service(),
            "dispatch": self._run_dispatch(),
            "flush": self._run_flush(),
            "save offsets": self._save_offsets(),
            **({"save metrics": self._save_metrics()} if self._broker.switches.counts_halves else {}),
            "schedule service": DeliverDelayedMessage(self._broker, self._serve).run(),
        }
        if self._broker.switches.batches_ops:
            threads["op batch service"] = self._run_op_batch_service()
        return threads

    def _run_check_service(self) -> Steps[None]:
        """``TransactionalMessageCheckService#run``."""
        broker = self._broker
        service = broker.check_service
        while True:
            interval = broker.settings.transaction_check_interval_ms
            yield Sleep(max(0, interval - (broker.clock.elapsed - service.waits_since)))
            check_round = self._serve(broker, broker.begin_check_round)
            while check_round is not None and not check_round.is_over:
                step = self._serve(broker, check_round.step)
                asleep = step.branch is CheckBranch.ASLEEP
                yield Sleep(check_round.wakes_at - broker.clock.elapsed) if asleep else None

    def _run_op_batch_service(self) -> Steps[None]:
        """``TransactionalOpBatchService#run``; a batch that has grown large wakes it.

        Passes that do nothing, with nothing to wait for behind them, are left out (A17).
        """
        broker = self._broker
        service = broker.transactional_message_service
        most = broker.settings.op_msg_max_size
        wait = broker.settings.op_batch_interval_ms
        while True:
            if self._rests and wait and not service.has_waiting_entries:
                due = broker.clock.elapsed + wait
                yield Until(lambda: service.has_waiting_entries)
                wait = _until_next(due, broker.settings.op_batch_interval_ms, broker.clock.elapsed)
            yield Until(lambda: any(context.total_size > most for context in service.delete_context.values()), wait)
            batch = self._serve(broker, broker.run_op_batch_service)
            wait = max(0, batch.wakeup_timestamp - broker.clock.now)
            if not (wait or batch.written or batch.lost):
                yield Until(lambda: service.has_batch_that_is_due)

    def _run_dispatch(self) -> Steps[None]:
        """``DefaultMessageStore.ReputMessageService#run``: within a millisecond or so.

        Not any more once a queue found no room, which makes the store refuse what comes.
        """
        broker = self._broker
        store = broker.message_store
        while True:
            yield Until(lambda: store.is_behind and store.is_writeable)
            yield self._moment()
            self._serve(broker, store.dispatch)

    def _run_flush(self) -> Steps[None]:
        """``CommitLog.FlushRealTimeService#run``, where there is something to flush."""
        broker = self._broker
        store = broker.message_store
        while True:
            flushed = store.max_phy_offset
            self._serve(broker, store.flush)
            yield Until.changed(flushed, lambda: store.max_phy_offset)
            yield Sleep(FLUSH_INTERVAL_MS)

    def _save_metrics(self) -> Steps[None]:
        """``TransactionMetricsFlushService#run``, where a count has changed; it begins an interval after the start.

        Its passes that neither save nor wait are left out (A18).
        """
        broker = self._broker
        metrics = broker.transaction_metrics
        while True:
            yield Sleep(broker.transaction_metrics_flush_service.pause_ms)
            saved = metrics.changes
            self._serve(broker, broker.persist_transaction_metrics)
            yield Until.changed(saved, lambda: metrics.changes)

    def _save_offsets(self) -> Steps[None]:
        """The timer of ``BrokerController#initialize``; it rests when file and backup hold the same."""
        broker = self._broker
        offsets = broker.consumer_offset_manager
        saved = -1
        yield Sleep(broker.settings.flush_consumer_offset_delay_ms)
        while True:
            before, saved = saved, offsets.changes
            self._serve(broker, broker.persist_consumer_offsets)
            interval = max(1, broker.settings.flush_consumer_offset_interval_ms)
            due = broker.clock.elapsed + interval
            if self._rests and before == saved:
                yield Until.changed(saved, lambda: offsets.changes)
            yield Sleep(_until_next(due, interval, broker.clock.elapsed))


def _until_next(due: int, interval: int, now: int) -> int:
    """Until the next beat of a timer that is due at a moment and every interval from then on; one of now is over."""
    return due - now if due > now else interval - (now - due) % max(1, interval)
