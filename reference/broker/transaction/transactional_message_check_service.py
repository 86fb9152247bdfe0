"""Timing of check rounds: one at a time, an interval after the last ended (``TransactionalMessageCheckService``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.broker.broker_settings import BrokerRole
from reference.broker.transaction.check_outcome import CheckBranch, CheckStep
from reference.broker.transaction.check_round import CheckRound
from reference.format.system_topics import HALF_TOPIC

if TYPE_CHECKING:
    from reference.broker.broker_controller import BrokerController


HALF_QUEUES = 1


class TransactionalMessageCheckService:
    """The thread that runs the rounds."""

    def __init__(self, broker: BrokerController) -> None:
        self.round: CheckRound | None = None
        """The round that runs."""
        self.is_alive = True
        """False once an Error has ended the thread; it lives again in the next process."""
        self.last_ended = self.waits_since = broker.clock.elapsed
        """When the last round ended, or the process began; when the thread began to wait: then, or when the broker
        became a master again. Both in elapsed time."""
        self._broker = broker

    @property
    def is_due(self) -> bool:
        """Whether a round may begin now; the thread runs on a master, and on a slave that acts for one."""
        if self._broker.role is BrokerRole.SLAVE or self._broker.is_stopping or not self.is_alive:
            return False
        waited = self._broker.clock.elapsed - self.waits_since
        return self.round is None and waited >= self._broker.settings.transaction_check_interval_ms

    def begin_round(self) -> CheckRound | None:
        """Begin a round (``#onWaitEnd``), or give None because one runs or ``transactionCheckInterval`` is not over.

        A round whose first pull of op messages throws is over when it comes back.
        """
        return self._begin() if self.is_due else None

    def _begin(self) -> CheckRound:
        self._broker.topic_config_manager.create(HALF_TOPIC, HALF_QUEUES)
        began = CheckRound(self._broker)
        if began.is_over:
            self.round_ended()
        else:
            self.round = began
        return began

    def wake_up(self) -> None:
        """Run once more, whatever the time, as a thread does when it is stopped (``ServiceThread#shutdown``)."""
        if self.round is None and self.is_alive and self._broker.role is not BrokerRole.SLAVE:
            self._begin()

    def interrupt(self) -> CheckStep | None:
        """Interrupt the thread, as a slave does that no longer acts for its master (``ServiceThread#shutdown``).

        The sleep after an escape that failed throws, and the round ends with nothing committed (B54); the one after a
        pull of no op message only ends.
        """
        return None if self.round is None else self.round.interrupt()

    def join(self) -> None:
        """Let the round that runs come to its end (``ServiceThread#shutdown``).

        No time passes in it but what it sleeps, and what a pass takes that gets no further.
        """
        clock = self._broker.clock
        while self.round is not None:
            running, before = self.round, self.round.new_offset
            step = running.step()
            if step.branch is CheckBranch.ASLEEP:
                clock.advance(running.wakes_at - clock.elapsed)
            elif running.new_offset == before and not running.is_over:
                clock.advance(1)

    def round_ended(self) -> None:
        """The round is over: wait again."""
        self.round = None
        self.last_ended = self.waits_since = self._broker.clock.elapsed

    def start(self) -> None:
        """The thread is started anew: it waits a whole interval before its first round (``ServiceThread#start``)."""
        self.waits_since = self._broker.clock.elapsed

    def oversleep(self, by: int) -> None:
        """The thread wakes up later than it asked for, as any thread may."""
        self.last_ended += by
        self.waits_since += by
