"""The unique keys that the Java client gives its messages, which are their transaction ids, too."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reference.simulation.virtual_clock import VirtualClock


class MessageClientIDSetter:
    """Makes unique keys (``MessageClientIDSetter#createUniqID``).

    Address (4 bytes), process id (2), class loader hash (4), milliseconds since the month began (4) and a counter (2),
    in hexadecimal digits. The month is that of UTC.

    Examples
    --------
    >>> from reference.simulation.virtual_clock import VirtualClock
    >>> MessageClientIDSetter(VirtualClock(1795253018724), "192.0.2.2", 0x2271, 0x4E0E2F2A).create_uniq_id()
    'C000020222714E0E2F2A690338640000'
    """

    def __init__(self, clock: VirtualClock, address: str = "127.0.0.1", pid: int = 1, loader_hash: int = 0) -> None:
        self._clock = clock
        parts = bytes(int(part) for part in address.split("."))
        self._fix_string = parts + (pid & 0xFFFF).to_bytes(2) + loader_hash.to_bytes(4)
        self._counter = 0

    def create_uniq_id(self) -> str:
        """The next key."""
        now = self._clock.now
        month = datetime.fromtimestamp(now // 1000, UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        since = now - int(month.timestamp()) * 1000
        count, self._counter = self._counter, (self._counter + 1) & 0xFFFF
        return (self._fix_string + (since & 0xFFFFFFFF).to_bytes(4) + count.to_bytes(2)).hex().upper()
