"""Which events move the clock."""

from __future__ import annotations

from typing import Final

TICKS: Final = {"time_passed": 1, "clock_stepped_back": -1}
"""By how many ticks an event moves the broker's clock."""
