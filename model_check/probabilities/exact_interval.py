"""The exact interval of a share, as counts of independent trials give it."""

from __future__ import annotations

from scipy.special import betaincinv


def exact_interval(hits: float, trials: float, confidence: float = 0.95) -> tuple[float, float]:
    """The shares for which so many hits, or so few, are not too unlikely (C. Clopper and E. Pearson, Biometrika 1934).

    Trials that depend on each other count as fewer, so that neither number need be whole.

    Examples
    --------
    >>> low, high = exact_interval(0, 1_000_000)
    >>> low, round(high * 1e6, 2)
    (0.0, 3.69)
    """
    tail = (1 - confidence) / 2
    low = 0.0 if hits <= 0 else float(betaincinv(hits, trials - hits + 1, tail))
    high = 1.0 if hits >= trials else float(betaincinv(hits + 1, trials - hits, 1 - tail))
    return low, high
