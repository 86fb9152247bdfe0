"""Whether the name server has the broker, as a proxy in cluster mode knows it (``TopicRouteService``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from reference.simulation.virtual_clock import VirtualClock

REFRESH_MS: Final = 20_000
"""``topicRouteServiceCacheRefreshSeconds``: who looks later has the name server asked anew, and gets what was known."""

EXPIRE_MS: Final = 300_000
"""``topicRouteServiceCacheExpiredSeconds``: so long behind the last look it is forgotten."""


class BrokerRoute:
    """The entry of a broker's name, or its cluster's, in the cache of routes; that there is none is kept as well.

    Parameters
    ----------
    ask
        Asks the name server, which has a broker while its process is there.

    Examples
    --------
    >>> from reference.simulation.virtual_clock import VirtualClock
    >>> clock, there = VirtualClock(), [True]
    >>> route = BrokerRoute(clock, lambda: there[0])
    >>> before, there[0] = route.is_known(), False
    >>> clock.advance(REFRESH_MS)
    >>> before, route.is_known(), route.is_known()
    (True, True, False)
    """

    def __init__(self, clock: VirtualClock, ask: Callable[[], bool]) -> None:
        self._clock = clock
        self._ask = ask
        self._known = False
        self._asked_at: int | None = None
        self._looked_at = 0

    def is_known(self) -> bool:
        """Whether an address of the broker is known."""
        now = self._clock.elapsed
        is_there = self._asked_at is not None and now - self._looked_at < EXPIRE_MS
        self._looked_at = now
        before = self._known
        if not is_there or (self._asked_at is not None and now - self._asked_at >= REFRESH_MS):
            self._known, self._asked_at = self._ask(), now
        return before if is_there else self._known

    def forget(self) -> None:
        """The proxy's process is gone."""
        self._asked_at = None
