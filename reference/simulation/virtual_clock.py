"""The broker's clocks, which only move when somebody outside moves them."""

from __future__ import annotations


class VirtualClock:
    """Wall clock and elapsed time of one broker; a producer whose clock differs has its own.

    Timestamps and ages are read off the wall clock (``System.currentTimeMillis``), which an administrator may set. A
    thread that sleeps or waits does so by elapsed time (``System.nanoTime``), which nobody can set.

    Both begin at the same number, in milliseconds or whatever unit the settings are in.

    Examples
    --------
    >>> clock = VirtualClock(1_000)
    >>> clock.advance(5)
    >>> clock.step(-500)
    >>> clock.now, clock.elapsed
    (505, 1005)
    """

    def __init__(self, now: int = 0) -> None:
        self._now = now
        self._elapsed = now

    @property
    def now(self) -> int:
        """The wall clock."""
        return self._now

    def peek(self) -> int:
        """The wall clock where it decides nothing; clocks that count their calls do not count this one."""
        return self._now

    @property
    def elapsed(self) -> int:
        """The time by which threads wait."""
        return self._elapsed

    def advance(self, by: int) -> None:
        """Let time pass; `ValueError` for a negative time, as :meth:`step` sets the wall clock back."""
        if by < 0:
            message = f"time can't pass by {by}; step() sets the wall clock back"
            raise ValueError(message)
        self._now += by
        self._elapsed += by

    def step(self, by: int) -> None:
        """Set the wall clock forward or back, while no time passes."""
        self._now += by
