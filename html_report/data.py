"""The data of the page: the records of searches, audits, lockstep runs and hunts, as they were made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fuzz.mutants.kill_table import HuntResult
    from fuzz.search.campaign import Campaign
    from html_report.simulation_section import SimulationSection
    from html_report.verdict_table import VerdictTable
    from model_check.finding import Finding
    from model_check.trace_validation.divergence import Divergence
    from model_check.world import Profile
    from spark_trace_analysis.audit.audit import Audit


@dataclass(frozen=True)
class Fact:
    """One line of the page's head: version, commit, seed, machine."""

    label: str
    value: str


@dataclass(frozen=True)
class RefusedSpecification:
    """A specification that is wrong about a store as `claim` says, and the first record that no path explains.

    The setting is the one that is another than the store's own, empty if none is.
    """

    store: str
    profile: Profile
    setting: str
    claim: str
    found: Divergence
    command: str

    def to_json(self) -> dict[str, Any]:
        """The refusal as plain data."""
        return {
            "store": self.store,
            "specification": self.profile.name,
            "setting": self.setting,
            "claim": self.claim,
            "number": self.found.number,
            "event": str(self.found.event),
            "guard": self.found.guard,
            "nearest": list(self.found.nearest),
            "command": self.command,
        }


@dataclass(frozen=True)
class ReportData:
    """The whole page; a section without content is left out.

    The audits are of the golden stores, each with the name of its store; `hunted_by` is the command that hunts the
    mutants.
    """

    title: str
    facts: tuple[Fact, ...]
    command: str
    table: VerdictTable | None = None
    searches: tuple[Finding, ...] = ()
    audits: tuple[Audit, ...] = ()
    refused: tuple[RefusedSpecification, ...] = ()
    lockstep: tuple[Campaign, ...] = ()
    mutants: tuple[HuntResult, ...] = ()
    hunted_by: str = ""
    simulation: SimulationSection | None = None
    notes: tuple[str, ...] = ()
