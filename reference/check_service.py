"""When check rounds begin: one at a time, an interval after the last ended (``TransactionalMessageCheckService``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.check_round import CheckRound

if TYPE_CHECKING:
    from reference.broker_controller import BrokerController


class TransactionalMessageCheckService:
    """The thread that runs the rounds.

    Attributes
    ----------
    round
        The round that runs, or None.
    waits_since
        When the thread began to wait, in elapsed time: at the broker's start, or when the last round ended.
    """

    def __init__(self, broker: BrokerController) -> None:
        self.round: CheckRound | None = None
        self.waits_since = broker.clock.elapsed
        self._broker = broker

    @property
    def is_due(self) -> bool:
        """Whether a round may begin now."""
        waited = self._broker.clock.elapsed - self.waits_since
        return self.round is None and waited >= self._broker.settings.transaction_check_interval_ms

    def begin_round(self) -> CheckRound | None:
        """Begin a round, or give None because one runs or ``transactionCheckInterval`` is not over."""
        if not self.is_due:
            return None
        self.round = CheckRound(self._broker)
        return self.round

    def round_ended(self) -> None:
        """The round is over: wait again."""
        self.round = None
        self.waits_since = self._broker.clock.elapsed
