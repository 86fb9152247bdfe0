"""A limit of how many bytes a second are read from somebody who has other work."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

USUAL_BYTES_PER_S: Final = 20_000_000
_BURST_S: Final = 0.1


class ByteRate:
    """A token bucket that holds the bytes of a tenth of a second; `math.inf` bytes a second are no limit.

    What has come is charged when its size is known, so that the balance may be negative: no request is made then.
    """

    def __init__(
        self,
        bytes_per_s: float = USUAL_BYTES_PER_S,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._bytes_per_s = bytes_per_s
        self._clock = clock
        self._sleep = sleep
        self._paid_until = clock() - _BURST_S

    def charge(self, size: int) -> None:
        """Take the bytes that have come out of the bucket."""
        self._paid_until = max(self._paid_until, self._clock() - _BURST_S) + size / self._bytes_per_s

    def wait(self) -> None:
        """Wait until the bucket has something again."""
        seconds = self._paid_until - self._clock()
        if seconds > 0:
            self._sleep(seconds)
