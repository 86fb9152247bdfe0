"""Confidence intervals of rates."""

import math

_Z = 1.959964
"""95 % of a normal distribution lie within so many standard deviations."""


def wilson(hits: int, total: int) -> tuple[float, float]:
    """Give Wilson's 95 % interval of a rate (E. B. Wilson, 1927); it says something of rare events, too.

    Parameters
    ----------
    hits, total
        So many of so many; of none at all, everything is possible.

    >>> [round(bound, 4) for bound in wilson(0, 1000)]
    [0.0, 0.0038]
    >>> wilson(0, 0)
    (0.0, 1.0)
    """
    if total == 0:
        return 0.0, 1.0
    share = hits / total
    centre = share + _Z * _Z / (2 * total)
    spread = _Z * math.sqrt(share * (1 - share) / total + _Z * _Z / (4 * total * total))
    scale = 1 + _Z * _Z / total
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)
