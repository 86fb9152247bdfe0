"""What a check round asks of a half itself: its checks, its age, its immunity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.broker.transaction.immunity_time import check_immunity_time, end_transaction_immunity_time
from reference.format.properties import CHECK_TIMES, IMMUNITY_SECONDS
from reference.java import get_int

if TYPE_CHECKING:
    from reference.broker.broker_controller import BrokerController
    from reference.store.message import MessageExt


class HalfJudge:
    """Asks of halves, for a round that began at `start_time`, in milliseconds."""

    def __init__(self, broker: BrokerController, start_time: int) -> None:
        self._switches = broker.switches
        self._settings = broker.settings
        self._clock = broker.clock
        self._check_listener = broker.check_listener
        self.start_time = start_time

    def need_discard(self, half: MessageExt) -> bool:
        """Count the half's checks up in memory, unless they have reached the maximum.

        ``TransactionalMessageServiceImpl#needDiscard``
        """
        text = half.properties.get(CHECK_TIMES)
        check_times = 0 if text is None else get_int(text)
        if text is not None and check_times >= self._settings.transaction_check_max:
            return not self._switches.discards_instead_of_checking
        half.properties[CHECK_TIMES] = str(check_times + 1)
        return False

    def has_no_checks_left(self, half: MessageExt) -> bool:
        """Whether the half is to be discarded where it would be checked (a repair of A10)."""
        if not self._switches.discards_instead_of_checking:
            return False
        return get_int(half.record.properties.get(CHECK_TIMES, "0")) >= self._settings.transaction_check_max

    def need_skip(self, half: MessageExt, now: int) -> bool:
        """Whether the half was born too long ago; repaired, only while nobody can be asked (B45).

        ``TransactionalMessageServiceImpl#needSkip``
        """
        is_old = now - half.record.born_timestamp > self._settings.file_reserved_time_ms
        return is_old and not (self._switches.asks_the_old and self._check_listener.can_ask(half))

    def is_fresh(self, half: MessageExt, now: int) -> bool:
        """Whether the half was stored within this round, as far as its time says (B28)."""
        if self._switches.distrusts_future and half.record.store_timestamp > now:
            return False
        if now - self.start_time > self._settings.max_process_time_limit_ms:
            return False
        return half.record.store_timestamp >= self.start_time

    def immunity_time(self, text: str) -> int:
        """For how many milliseconds a half is left alone; repaired, as END_TRANSACTION has it (B25).

        ``TransactionalMessageServiceImpl#getImmunityTime``
        """
        of = end_transaction_immunity_time if self._switches.one_immunity else check_immunity_time
        return of(text, self._settings.transaction_timeout_ms)

    def is_too_immune(self, half: MessageExt) -> bool:
        """Whether its immunity is longer than all its checks take (PR #9321)."""
        settings = self._settings
        immunity = check_immunity_time(half.properties.get(IMMUNITY_SECONDS, ""), settings.transaction_timeout_ms)
        return immunity > settings.transaction_check_max * settings.transaction_check_interval_ms

    def has_become_old(self, half: MessageExt) -> bool:
        """Whether its immunity has ended since the pass began, by a second look at the clock (up to 4.3.2, A01)."""
        timeout = self._settings.transaction_timeout_ms
        immunity = check_immunity_time(half.properties.get(IMMUNITY_SECONDS, ""), timeout)
        return self._clock.now - half.record.born_timestamp >= immunity

    def is_young(self, age: int, immunity: int) -> bool:
        """Whether an age in milliseconds is below an immunity, or equal to it where that counts (A19)."""
        return age <= immunity if self._switches.equal_age_is_young else age < immunity
