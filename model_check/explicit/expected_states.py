"""An estimate of the states that a breadth-first search will find, from the sizes of its levels.

The sizes grow at first by a factor that falls from level to level, until it is below one. The logarithm of this factor
falls about linearly; a line is fitted to the last levels and followed until a level would be empty. Where the levels
shrink but the line rises, they are taken to shrink by the last factor from then on.
"""

from __future__ import annotations

from math import exp, log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST_LEVELS = 12
"""Levels before which nothing is said."""

FITTED = 6
"""Growth factors to which the line is fitted."""

MOST_GROWTH = 1.2
"""While levels grow by more than this factor, the end is not in sight."""

MOST_LEVELS = 1000


def expected_states(sizes: Sequence[int]) -> int | None:
    """States in all, from the sizes of the finished levels; None when it is too early to say.

    Examples
    --------
    >>> binomial = [1]
    >>> for i in range(20):
    ...     binomial.append(binomial[-1] * (20 - i) // (i + 1))
    >>> expected_states(binomial[:8]) is None
    True
    >>> [round((expected_states(binomial[:n]) or 0) / 2**20, 2) for n in (12, 16, 21)]
    [0.99, 1.0, 1.0]
    """
    if len(sizes) < LEAST_LEVELS or min(sizes[-FITTED - 1 :]) < 1:
        return None
    growth = [log(b / a) for a, b in zip(sizes[-FITTED - 1 :], sizes[-FITTED:], strict=False)]
    slope, last = _line(growth)
    if last > log(MOST_GROWTH) or (slope >= 0 and last >= 0):
        return None
    slope = min(slope, 0.0)
    states, size = float(sum(sizes)), float(sizes[-1])
    for _ in range(MOST_LEVELS):
        last += slope
        size *= exp(last)
        if size < 1:
            break
        states += size
    return round(states)


def _line(values: Sequence[float]) -> tuple[float, float]:
    """The least squares line through values at 0, 1, …: its slope, and its value at the last."""
    n = len(values)
    mean = sum(values) / n
    middle = (n - 1) / 2
    slope = sum((i - middle) * value for i, value in enumerate(values)) / sum((i - middle) ** 2 for i in range(n))
    return slope, mean + slope * (n - 1 - middle)
