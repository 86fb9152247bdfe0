"""What the report shows, as plain data: whoever has such a tree gets a page.

The table of verdicts is in ``verdict_table``, schedules are in ``counterexamples``, what simulated traces show in
``simulation_section``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from model_check.verdicts.environment import name_of
from spark_trace_analysis.traces.manifest import options_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from model_check.check import CheckResult
    from model_check.verdicts.table import Table
    from spark_trace_analysis.audit.rules.transaction_row import TransactionRow
    from spark_trace_analysis.report.simulation_section import SimulationSection
    from spark_trace_analysis.report.verdict_table import VerdictTable


@dataclass(frozen=True)
class Fact:
    """One line of the page's head: version, commit, seed, machine."""

    label: str
    value: str


@dataclass(frozen=True)
class Searched:
    """What one exhaustive search of the run found.

    Attributes
    ----------
    environment
        Its faults; none is the quiet world.
    violated
        Clause, such as ``S1.immune_half``, to the steps of the shortest schedule.
    others
        How many clauses nothing violates there.
    distinct, depth
        Distinct states, and the steps to the deepest.
    command
        What makes it again.
    """

    profile: str
    environment: tuple[str, ...]
    instance: str
    violated: Mapping[str, int]
    others: int
    distinct: int
    depth: int
    seconds: float
    command: str

    @classmethod
    def of(cls, result: CheckResult) -> Searched:
        """What the page shows of a search."""
        violated = {row.name: row.depth for row in result.clauses if row.depth is not None}
        return cls(
            profile=result.profile,
            environment=result.faults,
            instance=result.instance.name,
            violated=violated,
            others=len(result.clauses) - len(violated),
            distinct=result.distinct,
            depth=result.depth,
            seconds=result.seconds,
            command=f"halfcheck check {options_of(result.profile, result.instance.name, result.faults)}",
        )

    def contradictions(self, table: Table) -> list[str]:
        """Where a search and the table of verdicts differ, a line each.

        An environment of which the table does not speak contradicts nothing.
        """
        entry = table.of(self.profile, self.instance).get(name_of(self.environment))
        if entry is None:
            return []
        found, said = self.violated, entry.violated
        lines = [
            f"{clause}: {_steps(found.get(clause))} by the search, {_steps(said.get(clause))} by the table"
            for clause in sorted(found.keys() | said.keys())
            if found.get(clause) != said.get(clause)
        ]
        if not entry.unknown and self.distinct != entry.distinct:
            lines.append(f"{self.distinct:,} states by the search, {entry.distinct:,} by the table")
        return lines


def _steps(depth: int | None) -> str:
    return "not violated" if depth is None else f"violated in {depth} steps"


@dataclass(frozen=True)
class Explanation:
    """Whether the specification explains a store: whether some path of it leaves just these records.

    Attributes
    ----------
    accepted
        None if the store was not held against the specification; the sentence says why.
    profile
        The profile that was asked, empty if none was.
    events
        Records that are part of a transaction.
    faults
        The faults that the path needs, each with how often.
    sentence
        The answer in words.
    command
        What makes it again.
    """

    accepted: bool | None
    profile: str
    events: int
    faults: Mapping[str, int]
    sentence: str
    command: str


@dataclass(frozen=True)
class AuditedStore:
    """What the audit of one store says; of its transactions, those that are not plainly delivered or rolled back."""

    store: str
    version: str
    records: int
    corrupt: int
    counts: Mapping[str, int]
    transactions: tuple[TransactionRow, ...]
    command: str
    explanation: Explanation


@dataclass(frozen=True)
class RefusedSpecification:
    """A specification that is wrong about a store, and the record that gives it away.

    Attributes
    ----------
    specification
        A profile, with the switches that are turned.
    setting
        The setting of the broker that is another than the store's own, empty if none is.
    claim
        What is wrong, in words.
    event
        The first record that no path explains, and its number, from 0, among those that are part of a transaction.
    guard
        The rule that forbids it.
    nearest
        What was allowed instead.
    """

    store: str
    specification: str
    setting: str
    claim: str
    number: int
    event: str
    guard: str
    nearest: tuple[str, ...]
    command: str


@dataclass(frozen=True)
class Lockstep:
    """Specification and reference broker side by side on random schedules, in one profile.

    Attributes
    ----------
    agrees
        Whether no step showed a difference.
    conjuncts, conjuncts_seen
        The rules of all guards, and how many of them were once the first to be false.
    actions, actions_seen
        The actions that the profile and the environment allow, and how many of them were once possible.
    unseen
        The rules and actions that were not.
    instance_of_states, states, states_seen
        An instance, its states that a search finds, and how many of them as many examples saw.
    """

    profile: str
    environment: tuple[str, ...]
    instance: str
    examples: int
    steps: int
    seconds: float
    agrees: bool
    conjuncts: int
    conjuncts_seen: int
    actions: int
    actions_seen: int
    unseen: tuple[str, ...]
    instance_of_states: str
    states: int
    states_seen: int
    command: str


@dataclass(frozen=True)
class HuntedMutant:
    """One deliberate error, and what noticed it.

    Attributes
    ----------
    part
        What is broken: the broker, the specification or a property.
    what
        What it changes.
    resembles
        Ids of the catalogue that it is taken from.
    variable, step
        What differed first, and at which step; empty for a survivor.
    examples, seconds
        How long it lived; a search of all states counts as one example.
    """

    name: str
    part: str
    what: str
    resembles: tuple[str, ...]
    profile: str
    variable: str
    step: str
    examples: int
    seconds: float


@dataclass(frozen=True)
class MutantSection:
    """The kill table, and what makes it."""

    mutants: tuple[HuntedMutant, ...]
    command: str


@dataclass(frozen=True)
class ReportData:
    """The whole page; a section without content is left out."""

    title: str
    facts: tuple[Fact, ...]
    command: str
    table: VerdictTable | None = None
    searches: tuple[Searched, ...] = ()
    audits: tuple[AuditedStore, ...] = ()
    refused: tuple[RefusedSpecification, ...] = ()
    lockstep: tuple[Lockstep, ...] = ()
    mutants: MutantSection | None = None
    simulation: SimulationSection | None = None
    notes: tuple[str, ...] = field(default=())


def environment_name(environment: tuple[str, ...]) -> str:
    """Name a set of faults as the page shows it.

    >>> environment_name(()), environment_name(("crash", "lose_end"))
    ('quiet', 'crash,lose_end')
    """
    return ",".join(environment) or "quiet"
