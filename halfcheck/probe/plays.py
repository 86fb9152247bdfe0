"""The plays of a search on one broker: each schedule once, as many as may be, with what each came to."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from wire.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Callable

    from halfcheck.probe.failures import Failure
    from halfcheck.probe.schedules import Schedule
    from halfcheck.probe.session import Played, Session
    from wire.probe.orders import Order

_NO_PLAYS: Final = "no plays were left"
_AGAIN: Final = 3
"""So often a failure may stay away before it is said that it does not come again."""


@dataclass(slots=True)
class Plays:
    """Plays schedules until there is no time left, or no broker.

    What a schedule came to is kept, so that a search sees the same answer even of a broker that gives different ones.

    Attributes
    ----------
    until
        When the last one may begin, by the machine's steady clock in seconds.
    report
        Called with each play, and what it was played for.
    left
        How many may still come.
    ended
        Why no more may; empty as long as they may.
    """

    session: Session
    until: float
    report: Callable[[Played, str], None]
    left: int = 0
    count: int = 0
    ended: str = ""
    _known: dict[tuple[Order, ...], Played] = field(default_factory=dict)

    def allow(self, plays: int) -> None:
        """Let so many plays come from now on."""
        self.left = plays
        if self.ended == _NO_PLAYS:
            self.ended = ""

    def know(self, played: Played) -> None:
        """Take in what was played elsewhere."""
        self._known[played.schedule.plan.orders] = played

    def of(self, schedule: Schedule, why: str) -> Played | None:
        """What a schedule came to when it was played; it is, if it was not; None where it can't be any more."""
        known = self._known.get(schedule.plan.orders)
        if known is not None:
            return known
        played = self.afresh(schedule, why)
        if played is not None:
            self.know(played)
        return played

    def afresh(self, schedule: Schedule, why: str) -> Played | None:
        """Play a schedule, though it was played before; None where it can't be."""
        if self.ended:
            return None
        if self.left <= 0:
            self.ended = _NO_PLAYS
        elif time.monotonic() >= self.until:
            self.ended = "no time was left"
        else:
            try:
                played = self.session.play(schedule, asks_others=False)
            except WireError as error:
                self.ended = f"the broker was not played on any more: {error}"
            else:
                self.left, self.count = self.left - 1, self.count + 1
                self.report(played, why)
                return played
        return None

    def comes_again(self, played: Played, failure: Failure) -> tuple[int, int]:
        """How often a failure came, and how often its schedule was played again: until it came, a few times at most."""
        self.allow(_AGAIN)
        for times in range(_AGAIN):
            again = self.afresh(played.schedule, "again")
            if again is None:
                return 0, times
            if failure.is_in(again):
                return 1, times + 1
        return 0, _AGAIN
