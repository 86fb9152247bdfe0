"""Ticks of the specification and milliseconds of the broker."""

from __future__ import annotations

from typing import Final

TICK_MS: Final = 1_000
"""Milliseconds of the broker's clock in one tick: CHECK_IMMUNITY_TIME_IN_SECONDS counts seconds."""

NO_WHOLE_TICK: Final = -2
"""What an instant between two ticks maps to; no field of the specification ever holds it."""


def ticks(milliseconds: int) -> int:
    """The instant in ticks, exactly.

    Examples
    --------
    >>> ticks(7_000), ticks(7_001)
    (7, -2)
    """
    whole, rest = divmod(milliseconds, TICK_MS)
    return NO_WHOLE_TICK if rest else whole
