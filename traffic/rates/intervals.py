"""Shares, rates, means and quantiles with 95 % intervals, out of the counts of independent replications.

Replications are independent, as each has a seed of its own. Transactions within one are not: a crash, a pause or a
check round befalls many at once. So no interval rests on the number of transactions alone. A share's is the exact one
of Clopper and Pearson (Biometrika 1934) for an effective number of transactions, as Korn and Graubard have it for
samples in clusters (Survey Methodology 24, 1998): as many times fewer as the shares of the replications differ more
than those of independent transactions would, and fewer once more by Student's t, as that factor is estimated itself.
What may befall a transaction more than once, such as checks, gets Garwood's exact interval of Poisson counts
(Biometrika 1936) in the same way. Means and quantiles are batch means: the replications' own values with Student's t.

Where nothing was seen, nothing tells how events cluster: the bound, about `3 / n`, is that of independent transactions.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import stdev
from typing import TYPE_CHECKING, Final

from scipy.special import gammaincinv, stdtrit

from model_check.probabilities.exact_interval import exact_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

_TAIL: Final = 0.025
_ONE_SIDED: Final = 0.05
_Z: Final = 1.959963984540054


@dataclass(frozen=True, slots=True)
class RateEstimate:
    """A figure and the bounds between which it lies with 95 %.

    Attributes
    ----------
    is_bound
        Nothing was seen: `high` is the value below which it lies with 95 %, and `low` is 0.
    """

    value: float
    low: float
    high: float
    is_bound: bool = False

    def times(self, factor: float) -> RateEstimate:
        """The same in another unit.

        Examples
        --------
        >>> RateEstimate(0.5, 0.25, 1.0).times(2)
        RateEstimate(value=1.0, low=0.5, high=2.0, is_bound=False)
        """
        return RateEstimate(self.value * factor, self.low * factor, self.high * factor, self.is_bound)


def share_of(counted: Sequence[int], of: Sequence[int]) -> RateEstimate | None:
    """The share of transactions that something befell, by replications; None where there were none.

    Examples
    --------
    >>> never = share_of([0, 0], [500_000, 500_000])
    >>> never.is_bound, round(never.high * 1e6, 2)
    (True, 3.0)
    >>> even, uneven = share_of([10] * 20, [1000] * 20), share_of([200] + [0] * 19, [1000] * 20)
    >>> round(even.low, 4), round(even.high, 4), round(uneven.low, 4), round(uneven.high, 4)
    (0.0086, 0.0116, 0.0002, 0.06)
    """
    seen, trials = sum(counted), sum(of)
    if not trials:
        return None
    if not seen:
        return RateEstimate(0.0, 0.0, 1 - float(_ONE_SIDED ** (1 / trials)), is_bound=True)
    share = seen / trials
    number = trials / _design_effect(counted, of, share * (1 - share) / trials)
    return RateEstimate(share, *exact_interval(share * number, number))


def rate_of(counted: Sequence[int], of: Sequence[int]) -> RateEstimate | None:
    """How many of something there are for each transaction, also where that is more than one.

    Examples
    --------
    >>> found = rate_of([95, 105, 100, 100], [100] * 4)
    >>> round(found.value, 2), round(found.low, 2), round(found.high, 2)
    (1.0, 0.85, 1.17)
    """
    seen, trials = sum(counted), sum(of)
    if not trials:
        return None
    if not seen:
        return RateEstimate(0.0, 0.0, 3.0 / trials, is_bound=True)
    rate = seen / trials
    number = trials / _design_effect(counted, of, rate / trials)
    x = rate * number
    return RateEstimate(rate, float(gammaincinv(x, _TAIL)) / number, float(gammaincinv(x + 1, 1 - _TAIL)) / number)


def batch_mean(values: Sequence[float], value: float) -> RateEstimate | None:
    """A figure of all replications together, with the interval that the replications' own figures give it.

    None of fewer than two replications, which say nothing of how much it varies.

    Examples
    --------
    >>> found = batch_mean([1.0, 2.0, 3.0], 2.0)
    >>> round(found.low, 2), round(found.high, 2)
    (0.0, 4.48)
    """
    if len(values) < 2:
        return None
    half = _student(len(values)) * stdev(values) / sqrt(len(values))
    return RateEstimate(value, max(0.0, value - half), value + half)


def _design_effect(counted: Sequence[int], of: Sequence[int], independent: float) -> float:
    """By how much fewer independent transactions would say as much (at least 1), Student's t included."""
    number, trials = len(counted), sum(of)
    if number < 2 or independent <= 0:
        return 1.0
    share = sum(counted) / trials
    spread = sum((x - share * n) ** 2 for x, n in zip(counted, of, strict=True)) / trials**2
    variance = spread * number / (number - 1)
    return max(1.0, variance / independent) * (_student(number) / _Z) ** 2


def _student(number: int) -> float:
    """The 97.5th percentile of Student's t for so many values."""
    return float(stdtrit(number - 1, 1 - _TAIL))
