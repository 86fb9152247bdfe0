"""Moments as the protocol writes them (``Timestamps``): they lie in the years 1 to 9999."""

from __future__ import annotations

from typing import Any, Final

_FIRST_MS: Final = -62_135_596_800_000
_LAST_MS: Final = 253_402_300_799_999


def milliseconds(moment: Any) -> int | None:
    """Milliseconds since the epoch; None for a moment that is none (``Timestamps#isValid``)."""
    value = int(moment.ToMilliseconds())
    return value if _FIRST_MS <= value <= _LAST_MS else None


def set_moment(moment: Any, value: int) -> None:
    """Let a moment stand at so many milliseconds since the epoch, or at the first or last that there is."""
    moment.FromMilliseconds(min(max(value, _FIRST_MS), _LAST_MS))
