"""A share that was estimated from independent populations: mean, standard error, interval."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

STUDENT_95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045,
)  # fmt: skip
"""Student's t for 95 % on two sides, by degrees of freedom from 1 on; beyond them that of the normal distribution."""

NORMAL_95 = 1.96


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share of plain walks, estimated without bias by the mean of independent populations.

    Attributes
    ----------
    share, standard_error : float
    populations : int
        How many were drawn; with one there is no error and no interval.
    """

    share: float
    standard_error: float
    populations: int

    @property
    def interval(self) -> tuple[float, float]:
        """Of 95 %, on the scale of the logarithm, since such a mean is never negative and leans to the right."""
        if self.populations < 2 or self.share == 0:
            return 0.0, 1.0
        degrees = self.populations - 1
        t = STUDENT_95[degrees - 1] if degrees <= len(STUDENT_95) else NORMAL_95
        factor = exp(t * self.standard_error / self.share)
        return self.share / factor, min(self.share * factor, 1.0)

    def to_json(self) -> dict[str, Any]:
        """The estimate as plain data."""
        return {
            "share": self.share,
            "standard_error": self.standard_error,
            "interval_95": list(self.interval),
            "populations": self.populations,
        }


def estimate(shares: Sequence[float]) -> Estimate:
    """The estimate from the shares that independent populations gave."""
    count = len(shares)
    error = float(np.std(shares, ddof=1)) / sqrt(count) if count > 1 else 0.0
    return Estimate(float(np.mean(shares)), error, count)
