"""What the proxy knows of transactions: where the half lies, for half a minute (``TransactionDataManager``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reference.simulation.virtual_clock import VirtualClock

TRANSACTION_DATA_EXPIRE_MS: Final = 30_000
TRANSACTION_DATA_MAX_NUM: Final = 15
"""``transactionDataExpireMillis`` and ``transactionDataMaxNum``, as nobody sets another (``ProxyConfig``)."""


class TransactionData(NamedTuple):
    """Where a half, or its copy that was checked, lies; and until when that is known, by the broker's wall clock."""

    expires_at: int
    queue_offset: int
    commit_log_offset: int


class TransactionDataManager:
    """The entries by producer group, which is the topic's name, and transaction id.

    A send adds one, and so does each check that is relayed; an END takes the newest, whatever becomes of it then.
    """

    def __init__(self, clock: VirtualClock, expire_ms: int = TRANSACTION_DATA_EXPIRE_MS) -> None:
        self._clock = clock
        self._expire_ms = expire_ms
        self._entries: dict[tuple[str, str], list[TransactionData]] = {}
        self._sweep_at = 0

    def __len__(self) -> int:
        self._sweep()
        return sum(map(len, self._entries.values()))

    def __iter__(self) -> Iterator[TransactionData]:
        """What it knows, transaction by transaction."""
        self._sweep()
        return (entry for entries in self._entries.values() for entry in entries)

    def add(self, group: str, transaction_id: str, queue_offset: int, commit_log_offset: int) -> None:
        """An END may come for it from now on (``#addTransactionData``); of one transaction the newest few are kept."""
        entries = self._entries.setdefault((group, transaction_id), [])
        entries.append(TransactionData(self._clock.now + self._expire_ms, queue_offset, commit_log_offset))
        entries.sort()
        del entries[:-TRANSACTION_DATA_MAX_NUM]
        if self._clock.now >= self._sweep_at:
            self._sweep()

    def take(self, group: str, transaction_id: str) -> TransactionData | None:
        """Take the newest entry out; None if there is none, or none that lives (``#pollNoExpireTransactionData``)."""
        entries = self._entries.get((group, transaction_id), [])
        found = None
        while entries and found is None:
            newest = entries.pop()
            found = newest if newest.expires_at >= self._clock.now else None
        if not entries:
            self._entries.pop((group, transaction_id), None)
        return found

    def remove(self, group: str, transaction_id: str, queue_offset: int) -> None:
        """Forget one half of a transaction: the check of it did not arrive (``#removeTransactionData``)."""
        entries = self._entries.get((group, transaction_id), [])
        entries[:] = [entry for entry in entries if entry.queue_offset != queue_offset]

    def clear(self) -> int:
        """Forget all; gives how many entries there were."""
        left = len(self)
        self._entries.clear()
        return left

    def _sweep(self) -> None:
        """Forget what lives no more (``#cleanExpireTransactionData``)."""
        now = self._clock.now
        self._sweep_at = now + self._expire_ms
        left = {key: [each for each in entries if each.expires_at >= now] for key, entries in self._entries.items()}
        self._entries = {key: entries for key, entries in left.items() if entries}
