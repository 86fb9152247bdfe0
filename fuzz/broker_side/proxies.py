"""The proxies of the lockstep, between producers and broker: what each of them knows of transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzz.broker_side.broker_records import TICK_MS
from fuzz.broker_side.producers import GROUP, unique_key
from reference.proxy.transaction_data import TransactionData, TransactionDataManager

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reference.format.record import CommitLogOffset, QueueOffset
    from reference.simulation.virtual_clock import VirtualClock
    from spec.constants import Constants


class Proxies:
    """All of them, counted from 0; none where producers speak to the broker itself."""

    def __init__(self, constants: Constants, clock: VirtualClock) -> None:
        life = constants.data_life * TICK_MS
        self._data = [TransactionDataManager(clock, life) for _ in range(constants.proxies)]

    def __bool__(self) -> bool:
        return bool(self._data)

    def note(self, transaction: int, half: QueueOffset, place: CommitLogOffset, proxy: int = 0) -> None:
        """A half was sent through a proxy, or is checked through it; nothing where there is none."""
        if self._data:
            self._data[proxy].add(GROUP, unique_key(transaction), half, place)

    def take(self, transaction: int, proxy: int) -> TransactionData | None:
        """What a proxy takes out for an END_TRANSACTION."""
        return self._data[proxy].take(GROUP, unique_key(transaction))

    def forget(self, transaction: int, half: QueueOffset, proxy: int) -> None:
        """A proxy forgets one half."""
        self._data[proxy].remove(GROUP, unique_key(transaction), half)

    def clear(self, proxy: int) -> None:
        """A proxy forgets all."""
        self._data[proxy].clear()

    def halves_of(self, proxy: int) -> set[int]:
        """The halves that a proxy knows."""
        return {entry.queue_offset for entry in self._data[proxy]}

    def known(self) -> Iterator[tuple[int, int]]:
        """Each half that is known, and the proxy that knows it, counted from 1."""
        for number, data in enumerate(self._data, start=1):
            for entry in data:
                yield entry.queue_offset, number
