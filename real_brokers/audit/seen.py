"""What the audits of one run have shown, and the file in which it is kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model_check.defects.findings import FindingsFile


@dataclass(frozen=True, slots=True)
class SeenRun:
    """One scenario led through a broker of one release, audited over the network and offline."""

    release: str
    scenario: str
    moments: tuple[tuple[str, int, int], ...]
    """When each was, how many transactions were compared, and how many of them were pending."""
    differences: tuple[tuple[str, str, str, str], ...]
    """The moment, what differs, and what the network and the store say of it."""
    halves: int
    """The halves of which some forecast could be held against what came."""
    checks: int
    discards: int
    """How many times of a next check and of a discard were held against what came."""
    farthest_check: float
    farthest_discard: float
    """How many check intervals the one that was farthest off was off; 0 if none was held."""
    misses: tuple[str, ...]
    """Each that was more than one interval off."""
    said: tuple[str, ...] = ()
    """What the audit over the network says of a broker of another make."""

    @property
    def name(self) -> str:
        """Of the release and the scenario."""
        return f"{self.release} {self.scenario}"

    @property
    def compared(self) -> int:
        """How many rows were compared in all."""
        return sum(transactions for _, transactions, _ in self.moments)


RUNS_SEEN: Final = FindingsFile(
    SeenRun, Path(__file__).with_name("seen.toml"), "what audits of real brokers have shown", "make audit-real"
)
"""By :attr:`SeenRun.name`."""


@dataclass(frozen=True, slots=True)
class SeenCluster:
    """One run of two masters with a slave each, audited by their name server."""

    release: str
    scenario: str
    audited: tuple[tuple[str, str, str, int, str], ...]
    """The moment, the broker that was audited and its role, how many transactions, and how many in each state."""
    differences: tuple[tuple[str, str, str, str, str], ...]
    """The moment, the broker, what differs from its own folder, and what the network and the folder say of it."""
    of_left: tuple[tuple[str, str, str, str], ...]
    """The moment, in what a slave differs from the folder that its master has left, and what both say of it."""
    in_both: tuple[tuple[str, int, int], ...]
    """The moment, how many transactions more than one broker has, and how many of them more than one has delivered."""
    said: tuple[tuple[str, str], ...]
    """The moment, and a line that the command writes to stderr then."""
    damage: tuple[tuple[str, str, str], ...] = ()
    """The moment, the broker, and each piece of damage that both ways list."""

    @property
    def name(self) -> str:
        """Of the release and the scenario."""
        return f"{self.release} {self.scenario}"


CLUSTERS_SEEN: Final = FindingsFile(
    SeenCluster,
    Path(__file__).with_name("seen_clusters.toml"),
    "what audits of two real masters with slaves have shown",
    "make audit-real",
)
"""By :attr:`SeenCluster.name`."""
