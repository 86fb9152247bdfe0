"""The pace of the broker's clock: that of the real one, so many times as fast, or only when a test pushes it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from reference.simulation.virtual_clock import VirtualClock

MOST_SPEED: Final = 100_000
"""The highest speed: a day takes a second, of which a broker without clients needs a fifth."""

MOST_STEPS = 500
"""Steps of the broker's threads in one go, before clients get their turn."""


class Pace:
    """The time at which the broker's clock ought to stand.

    It is so many times as fast as the real one; without a speed, only :meth:`push` moves it.
    """

    def __init__(self, clock: VirtualClock, speed: float | None) -> None:
        self.speed = speed
        self._clock = clock
        self._pushed_to = clock.elapsed
        self._began = clock.elapsed, time.monotonic()

    @property
    def target(self) -> int:
        """Up to which elapsed time the broker's threads may run now."""
        if self.speed is None:
            return self._pushed_to
        began, real = self._began
        return began + int((time.monotonic() - real) * 1_000 * self.speed)

    def push(self, by_ms: int) -> None:
        """Let time pass at once from where the clock stands, also where it goes by itself, and lags behind."""
        if self.speed is None:
            self._pushed_to = max(self._pushed_to, self._clock.elapsed) + by_ms
        else:
            self._began = self._clock.elapsed + by_ms, time.monotonic()

    def seconds_until(self, instant: int | None) -> float | None:
        """Real seconds until the clock stands there; None where nobody can say."""
        if self.speed is None or instant is None:
            return None
        return max(0.0, (instant - self.target) / 1_000 / self.speed)

    def of_client(self, timestamp: int) -> int:
        """A client's timestamp by the broker's clock: as many milliseconds ago as it is here, however fast that goes.

        A client whose clock is wrong stays as wrong as it is, and one that cuts off parts of a second (as Python's for
        gRPC does) makes a half no older than that. Where time stands still, it is now.
        """
        if self.speed is None:
            return self._clock.now
        return self._clock.now + int(timestamp - time.time() * 1_000)
