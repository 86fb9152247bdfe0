"""The distributions of a workload, each by figures that an operator can read off a dashboard."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, log
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from random import Random

_Z99: Final = 2.3263478740408408
"""The 99th percentile of the normal distribution of mean 0 and deviation 1."""


class Distribution(Protocol):
    """What values can be drawn from."""

    def draw(self, random: Random) -> float:
        """Draw a value."""


@dataclass(frozen=True, slots=True)
class LogNormal:
    """A log-normal distribution by its 50th and 99th percentile; a constant where both are the same.

    Examples
    --------
    >>> from random import Random
    >>> waits = LogNormal(20.0, 900.0)
    >>> drawn = sorted(waits.draw(Random(7)) for _ in range(1))
    >>> 0 < drawn[0], LogNormal(5.0, 5.0).draw(Random(7)), round(LogNormal(1.0, 10.0).mean, 3)
    (True, 5.0, 1.632)
    """

    p50: float
    p99: float
    _mu: float = field(init=False, repr=False, compare=False)
    _sigma: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_mu", log(self.p50) if self.p50 > 0 else 0.0)
        object.__setattr__(self, "_sigma", (log(self.p99) - log(self.p50)) / _Z99 if self.p50 > 0 else 0.0)

    @property
    def mean(self) -> float:
        """Its mean."""
        return exp(self._mu + self._sigma * self._sigma / 2) if self.p50 > 0 else 0.0

    def draw(self, random: Random) -> float:
        """Draw a value, in the unit of the percentiles."""
        if self._sigma:
            return exp(self._mu + self._sigma * random.gauss(0.0, 1.0))
        return self.p50


@dataclass(frozen=True, slots=True)
class Recurring:
    """Something that befalls a process again and again: the waits between are exponential, the lengths log-normal."""

    every_ms: float
    """The mean of the wait from the end of one to the beginning of the next."""
    lasts_ms: LogNormal
