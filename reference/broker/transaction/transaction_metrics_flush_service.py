"""The thread that saves the counts of open halves (``TransactionMetricsFlushService``, 5.2.0 and later)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reference.broker.broker_controller import BrokerController


class TransactionMetricsFlushService:
    """Its loop, and what a pass of it does."""

    def __init__(self, broker: BrokerController) -> None:
        self._broker = broker
        self._start = broker.clock.peek()

    def run(self) -> Iterator[int]:
        """The loop of ``#run``; gives for each pass how many milliseconds it waits.

        Up to 5.5.0 a pass waits only behind a save. Until the next one is due all others wait for nothing (A18).
        """
        while True:
            wait = self._broker.settings.transaction_metric_flush_interval_ms
            if self._broker.switches.waits_before_saving_counts:
                yield wait
                self.save_if_due()
            else:
                yield wait if self.save_if_due() else 0

    @property
    def pause_ms(self) -> int:
        """How long after a save the next one may be."""
        wait = self._broker.settings.transaction_metric_flush_interval_ms
        return wait if self._broker.switches.waits_before_saving_counts else wait + 1

    def save_if_due(self) -> bool:
        """Save the counts if the interval is over; False if it is not."""
        now = self._broker.clock.peek()
        if not self._broker.switches.counts_halves or now - self._start < self.pause_ms:
            return False
        self._start = now
        self._broker.transaction_metrics.persist()
        return True
