"""Virtual time: events in the order of their times, and of two at the same time the one that was entered first."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from reference.simulation.virtual_clock import VirtualClock

if TYPE_CHECKING:
    from collections.abc import Callable

START_MS: Final = 1_700_000_000_000
"""When the broker's clock begins, in milliseconds since 1970."""
_AT_ONCE: Final = 64
"""Events that are taken without asking whether to go on."""


class EventQueue:
    """Events, and the clock that they move.

    Attributes
    ----------
    now
        Milliseconds since the beginning, with their fractions.
    clock
        The broker's clock: whole milliseconds, as Java has them.

    Examples
    --------
    >>> events, seen = EventQueue(), []
    >>> events.put(2.5, seen.append, "later")
    >>> events.put(1.0, seen.append, "first")
    >>> events.run(lambda: True)
    >>> seen, events.now, events.clock.now - START_MS
    (['first', 'later'], 2.5, 2)
    """

    __slots__ = ("_heap", "_next_number", "clock", "now")

    def __init__(self) -> None:
        self.now = 0.0
        self.clock = VirtualClock(START_MS)
        self._heap: list[tuple[float, int, Callable[[Any], object], Any]] = []
        self._next_number = count().__next__

    def put(self, time: float, action: Callable[[Any], object], subject: Any) -> None:
        """Let something happen to a subject at a time; what is past happens next."""
        heappush(self._heap, (time, self._next_number(), action, subject))

    def run(self, goes_on: Callable[[], bool]) -> None:
        """Take events until there are none, or nothing wants to go on; that is asked less often where many wait."""
        heap, advance, passed = self._heap, self.clock.advance, int(self.now)
        while heap and goes_on():
            for _ in range(_AT_ONCE if len(heap) > _AT_ONCE else 1):
                time, _, action, subject = heappop(heap)
                if time > self.now:
                    self.now = time
                    whole = int(time)
                    if whole > passed:
                        advance(whole - passed)
                        passed = whole
                action(subject)
