"""Clocks that say what a schedule tells them to."""

from __future__ import annotations

from reference.simulation.virtual_clock import VirtualClock


class NoReadingError(Exception):
    """A thread asked for a store timestamp that the schedule has not got yet: it is paused here."""


class ThreadClock(VirtualClock):
    """The clock of the thread that runs, set by each act; several readings are given one after the other."""

    def __init__(self) -> None:
        super().__init__(0)
        self._following: list[int] = []

    def set(self, first: int, *following: int) -> None:
        """Let the next readings be these; the last of them lasts."""
        self.step(first - self._now)
        self._elapsed = first
        self._following = list(following)

    @property
    def now(self) -> int:
        """The next reading."""
        reading = self._now
        if self._following:
            self._now = self._elapsed = self._following.pop(0)
        return reading


class StoreClock(VirtualClock):
    """The clock under the commit log's lock: each message takes one reading, and there are only those given."""

    def __init__(self) -> None:
        super().__init__(0)
        self.readings: list[int] = []
        self.latest = 0

    @property
    def now(self) -> int:
        """The next reading.

        Raises
        ------
        NoReadingError
            There is none.
        """
        if not self.readings:
            raise NoReadingError
        self.latest = self.readings.pop(0)
        return self.latest


class RecorderClock(VirtualClock):
    """What the clocks read last; to ask it uses no reading up."""

    def __init__(self, thread: ThreadClock, store: StoreClock) -> None:
        super().__init__(0)
        self._thread, self._store = thread, store

    @property
    def now(self) -> int:
        """The later one of the two clocks' latest readings."""
        return max(self._thread.elapsed, self._store.latest)
