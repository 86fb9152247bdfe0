"""What was staged on a real broker, and the file in which it is kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model_check.defects.findings import FindingsFile


@dataclass(frozen=True, slots=True)
class SeenOfPlans:
    """A staging on a broker of a release."""

    release: str
    title: str
    """The decision, and the clause and the faults as ``risks.toml`` has them; or what else was staged."""
    story: str
    """What happened, in a sentence."""
    seen: bool
    """Whether it went so."""
    facts: tuple[tuple[str, str], ...]
    """What was seen, and its value."""

    @property
    def name(self) -> str:
        """Of the release and what was staged."""
        return f"{self.release} {self.title}"


PLANS_SEEN: Final = FindingsFile(
    SeenOfPlans, Path(__file__).with_name("seen.toml"), "what real brokers have done with plans", "make plan-real"
)
"""By :attr:`SeenOfPlans.name`."""
