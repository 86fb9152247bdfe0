"""Differences of two points, out of replications in pairs: those of one place have the same seed in both.

Both meet the same arrivals, local transactions and mishaps, so that most of what makes one replication unlike another
falls out of the difference. Its interval is Student's of the differences of the pairs. Where few events differ, the
pairs vary less than chance would have them: the interval of a count is never narrower than `UNSEEN` to each side.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import sqrt
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Final

from scipy.special import stdtrit

if TYPE_CHECKING:
    from collections.abc import Sequence

UNSEEN: Final = 3.0
"""Events that may have been missed, with 95 %, where nothing was seen."""
_TAIL: Final = 0.975


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """How much more the second of two has than the first, and the bounds between which that lies with 95 %."""

    value: float
    low: float
    high: float

    @property
    def is_sure(self) -> bool:
        """Whether the interval lies on one side of 0."""
        return self.low > 0 or self.high < 0


def paired(first: Sequence[float], second: Sequence[float], least: float = 0.0) -> PairedDifference:
    """The mean difference of pairs, its interval at least so wide to each side.

    Examples
    --------
    >>> found = paired([10, 20, 30, 40], [12, 22, 31, 43])
    >>> found.value, round(found.low, 2), round(found.high, 2), found.is_sure
    (2.0, 0.7, 3.3, True)
    >>> paired([0, 0], [0, 0], least=3.0)
    PairedDifference(value=0.0, low=-3.0, high=3.0)
    """
    gaps = [its - mine for mine, its in zip(first, second, strict=True)]
    value = fmean(gaps)
    student = _student(len(gaps)) * stdev(gaps) / sqrt(len(gaps)) if len(gaps) > 1 else 0.0
    half = max(student, least)
    return PairedDifference(value, value - half, value + half)


@cache
def _student(pairs: int) -> float:
    return float(stdtrit(pairs - 1, _TAIL))
