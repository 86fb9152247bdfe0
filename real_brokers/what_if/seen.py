"""What runs of a real broker and simulated ones have shown, and the files in which it is kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from model_check.defects.findings import FindingsFile


class ComparedMeasure(NamedTuple):
    """A measure of the real run, and the least, the middle and the greatest of the simulated ones."""

    name: str
    unit: str
    real: float
    low: float
    middle: float
    high: float

    @property
    def is_within(self) -> bool:
        """Whether the real one lies among the simulated ones."""
        return self.low <= self.real <= self.high


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """One trial on a real broker of one release, and simulated."""

    release: str
    trial: str
    transactions: int
    """How many were begun."""
    per_second: float
    answered_ms: tuple[float, float]
    """The 50th and 99th percentile of the time that a send took."""
    away_s: tuple[float, ...]
    """How long the broker was away after each kill."""
    runs: int
    """How many simulated ones there are."""
    measures: tuple[tuple[str, str, float, float, float, float], ...]
    """The values of each :class:`ComparedMeasure`."""

    @property
    def name(self) -> str:
        """Of the release and the trial."""
        return f"{self.release} {self.trial}"

    @property
    def compared(self) -> tuple[ComparedMeasure, ...]:
        """Its measures."""
        return tuple(ComparedMeasure(*each) for each in self.measures)


RUNS_COMPARED: Final = FindingsFile(
    ComparedRun,
    Path(__file__).with_name("seen.toml"),
    "what real brokers have shown under a workload, beside its simulation",
    "make what-if-real",
)
"""By :attr:`ComparedRun.name`."""


class AdvisedMeasure(NamedTuple):
    """A measure with the settings before and after: a real run's, and the least, middle and greatest simulated one's.

    `gap` is by how much more the run after has than the one before; its bounds are of simulated runs in pairs.
    """

    name: str
    unit: str
    before: float
    before_low: float
    before_middle: float
    before_high: float
    after: float
    after_low: float
    after_middle: float
    after_high: float
    gap: float
    gap_low: float
    gap_middle: float
    gap_high: float

    @property
    def compared(self) -> tuple[ComparedMeasure, ComparedMeasure, ComparedMeasure]:
        """Before, after, and the difference."""
        unit = self.unit
        return (
            ComparedMeasure(
                f"{self.name}, before", unit, self.before, self.before_low, self.before_middle, self.before_high
            ),
            ComparedMeasure(
                f"{self.name}, after", unit, self.after, self.after_low, self.after_middle, self.after_high
            ),
            ComparedMeasure(f"{self.name}, difference", unit, self.gap, self.gap_low, self.gap_middle, self.gap_high),
        )


@dataclass(frozen=True, slots=True)
class ComparedAdvice:
    """What a sweep has advised for a workload, and what a real broker did with the settings before and after."""

    name: str
    release: str
    transactions: int
    """Of each real run, and of each simulated one."""
    swept: tuple[str, ...]
    said: tuple[str, ...]
    """The sweep's own words: what there is, and what to change for fewer messages doubled or lost."""
    killed_after_s: tuple[float, ...]
    """How long each process of the broker served until it was killed."""
    runs: int
    measures: tuple[tuple[str | float, ...], ...]
    """The values of each :class:`AdvisedMeasure`."""

    @property
    def compared(self) -> tuple[AdvisedMeasure, ...]:
        """Its measures."""
        return tuple(AdvisedMeasure._make(each) for each in self.measures)


ADVICE_COMPARED: Final = FindingsFile(
    ComparedAdvice,
    Path(__file__).with_name("advice.toml"),
    "what sweeps have advised, and what real brokers did with it",
    "make what-if-real ARGS=advice",
)
"""By :attr:`ComparedAdvice.name`."""
