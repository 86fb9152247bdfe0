"""What one run of a real broker and its simulated ones have shown, and the file in which it is kept."""

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
