"""The table that opens the page: for each guarantee and version what it takes to break it, by the table of verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Final

from document.words import counted
from html_report.counterexamples import Counterexample
from model_check.clauses import name_of
from model_check.counterexample.steps import replay
from model_check.defects.resemblance import resembled
from model_check.finding import Verdict
from model_check.verdicts.among_others import for_any_number
from model_check.wording.clauses import GUARANTEES, meaning_of
from model_check.world import Environment, Profile, World, single_environments
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from model_check.verdicts.counterexamples import MinimalCounterexample
    from model_check.verdicts.table import Minimal, TableOfVerdicts
    from spec.language import Property


class Takes(StrEnum):
    """The faults that it takes to break something, the fewest first: as a cell says it, and as the legend does."""

    QUIET = "quiet", "quiet world", "broken in the quiet world, where nothing goes wrong"
    ONE = "one", "one fault", "broken by one fault"
    TWO = "two", "two faults", "broken by two faults together"
    HOLDS = "holds", "holds", "holds for any number of transactions, in so many of the worlds with one fault or none"
    UNDECIDED = "undecided", "not decided", "nothing found breaks it, and it is not decided"

    words: str
    meaning: str

    def __new__(cls, value: str, words: str, meaning: str) -> Takes:
        """A value with its words."""
        self = str.__new__(cls, value)
        self._value_, self.words, self.meaning = value, words, meaning
        return self

    @property
    def is_broken(self) -> bool:
        """Whether something that was searched breaks it."""
        return self in _BY_FAULTS


_NAMED: Final = 6
"""Minimal sets that a line names."""

_BY_FAULTS: Final = (Takes.QUIET, Takes.ONE, Takes.TWO)


@dataclass(frozen=True)
class ForAnyNumberIn:
    """In which worlds, the quiet one and each fault alone, something holds for any number of transactions."""

    holding: tuple[Environment, ...]
    undecided: tuple[Environment, ...]

    @classmethod
    def of(cls, profile: Profile, clauses: Sequence[Property]) -> ForAnyNumberIn:
        """Of clauses that nothing breaks, all together; worlds in which none of them can occur are left out."""
        holding, undecided = [], []
        for environment in single_environments():
            verdicts = [for_any_number(profile, environment, clause) for clause in clauses]
            if any(one.verdict is Verdict.UNKNOWN for one in verdicts):
                undecided.append(environment)
            elif any(one.holds for one in verdicts):
                holding.append(environment)
        return cls(tuple(holding), tuple(undecided))

    @property
    def takes(self) -> Takes:
        """Whether it holds: with no fault, if it can occur then, and in some world at all."""
        return Takes.HOLDS if self.holding and Environment() not in self.undecided else Takes.UNDECIDED

    @property
    def words(self) -> str:
        """Such as ``29 of 31``: as much as a cell has room for."""
        worlds = len(self.holding) + len(self.undecided)
        return f"{len(self.holding)} of {worlds}" if self.takes is Takes.HOLDS else self.takes.words

    @property
    def sentence(self) -> str:
        """How far it holds."""
        if self.takes is Takes.UNDECIDED:
            return "nothing found breaks it, and it is not decided"
        but = f", not decided with {' or '.join(one.name for one in self.undecided)}"
        worlds = counted(len(self.holding), "world")
        return (
            f"holds for any number of transactions, in runs of any length, in {worlds} with one fault or none"
            f"{but if self.undecided else ''}"
        )


@dataclass(frozen=True)
class ClauseVerdict:
    """One clause, a cause of a violation, in one version, with the minimal sets of faults that break it, smaller first.

    The schedule is the address of the shortest of those that take the fewest faults, empty if nothing breaks it; it
    resembles known defects, none that the version is rid of.
    """

    clause: Property
    profile: Profile
    takes: Takes
    minimal: tuple[Minimal, ...]
    any_number: ForAnyNumberIn
    schedule: str
    resembles: tuple[str, ...]

    @property
    def address(self) -> str:
        """Such as ``S1.immune_half-4.9.7``."""
        return _address(self.clause, self.profile)

    @property
    def by_what(self) -> str:
        """The minimal sets in words, some of them where there are many."""
        shown = [" with ".join(one.environment) or "nothing" for one in self.minimal[:_NAMED]]
        more = len(self.minimal) - len(shown)
        *first, last = shown + ([f"{more} more"] if more else [])
        return f"{', '.join(first)} or {last}" if first else last

    @property
    def steps(self) -> int:
        """Of that schedule; 0 if there is none."""
        return min(
            (one.depth for one in self.minimal if len(one.environment) == len(self.minimal[0].environment)), default=0
        )


@dataclass(frozen=True)
class Cell:
    """One guarantee in one version, and an older version of which the table says the same, if there is one."""

    property_id: str
    profile: Profile
    takes: Takes
    clauses: tuple[ClauseVerdict, ...]
    any_number: ForAnyNumberIn
    as_in: str

    @property
    def words(self) -> str:
        """What the cell says beside its sign."""
        return self.takes.words if self.takes.is_broken else self.any_number.words

    @property
    def address(self) -> str:
        """Such as ``S1-4.9.7``."""
        return f"{self.property_id}-{self.profile}"

    @property
    def broken(self) -> tuple[ClauseVerdict, ...]:
        """The clauses that something breaks: what takes the fewest faults first, and of these the gravest."""
        order = list(Takes)
        broken = (one for one in self.clauses if one.takes.is_broken)
        return tuple(sorted(broken, key=lambda one: (order.index(one.takes), meaning_of(one.clause).gravity)))

    @property
    def unbroken(self) -> tuple[ClauseVerdict, ...]:
        """The others."""
        return tuple(one for one in self.clauses if not one.takes.is_broken)

    @property
    def sets(self) -> str:
        """The sets of faults that break it, a blank between them, ``+`` between faults; ``quiet`` takes none."""
        found = {frozenset(one.environment) for clause in self.clauses for one in clause.minimal}
        minimal = (one for one in found if not any(other < one for other in found))
        return " ".join(sorted("+".join(sorted(one)) or "quiet" for one in minimal))

    @property
    def sentence(self) -> str:
        """The cell in words."""
        name = f"{self.property_id} in {self.profile}"
        if not self.takes.is_broken:
            return f"{name}: {self.any_number.sentence}"
        here = [one for one in self.clauses if one.takes is self.takes]
        how = {Takes.QUIET: "in the quiet world", Takes.ONE: "by one fault", Takes.TWO: "by two faults"}[self.takes]
        causes = f"{len(here)} {'cause' if len(here) == 1 else 'causes'}"
        return f"{name}: broken {how}, {causes}, the shortest schedule has {min(one.steps for one in here)} steps"


@dataclass(frozen=True)
class Guarantee:
    """A row: one guarantee in all versions."""

    property_id: str
    words: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class VerdictTable:
    """The whole table, and how many faults at once were searched in each instance.

    Schedules are by address; one that several versions share has that of the first of them.
    """

    profiles: tuple[Profile, ...]
    guarantees: tuple[Guarantee, ...]
    schedules: Mapping[str, Counterexample]
    most_faults: Mapping[str, int]
    specification: str

    @property
    def released(self) -> tuple[Profile, ...]:
        """The versions of RocketMQ, without the repaired protocol."""
        return tuple(profile for profile in self.profiles if profile.is_version)

    def broken_when_quiet(self, profile: Profile) -> tuple[Cell, ...]:
        """The guarantees that a version breaks in the quiet world."""
        cells = (cell for row in self.guarantees for cell in row.cells)
        return tuple(cell for cell in cells if (cell.profile, cell.takes) == (profile, Takes.QUIET))


def verdict_table(table: TableOfVerdicts, schedules: Sequence[MinimalCounterexample]) -> VerdictTable:
    """The table of verdicts as the page shows it; raises `ModelCheckError` for a schedule of another specification."""
    homes: dict[MinimalCounterexample, tuple[Property, Profile]] = {}
    shortest: dict[tuple[Property, Profile], MinimalCounterexample] = {}
    for clause in table.clauses:
        for profile in table.profiles:
            theirs = [one for one in schedules if one.clause is clause and profile in one.profiles]
            if theirs:
                best = shortest[clause, profile] = min(theirs, key=lambda one: (len(one.environment), one.depth))
                homes.setdefault(best, (clause, profile))

    def verdict(profile: Profile, clause: Property) -> ClauseVerdict:
        minimal = tuple(table.minimal_sets(profile, clause))
        any_number = ForAnyNumberIn.of(profile, [] if minimal else [clause])
        takes = _BY_FAULTS[len(minimal[0].environment)] if minimal else any_number.takes
        best = shortest.get((clause, profile))
        address, like = ("", ()) if best is None else (_address(*homes[best]), _resembled(best, profile))
        return ClauseVerdict(clause, profile, takes, minimal, any_number, address, like)

    def cell(profile: Profile, property_id: str) -> Cell:
        clauses = tuple(verdict(profile, clause) for clause in table.clauses if clause.identifier == property_id)
        found = {one.takes for one in clauses}
        broken = [takes for takes in _BY_FAULTS if takes in found]
        any_number = ForAnyNumberIn.of(profile, [] if broken else [one.clause for one in clauses])
        takes = broken[0] if broken else any_number.takes
        oldest = table.oldest_like(profile)
        return Cell(property_id, profile, takes, clauses, any_number, "" if oldest == profile.name else oldest)

    return VerdictTable(
        table.profiles,
        tuple(
            Guarantee(property_id, words, tuple(cell(profile, property_id) for profile in table.profiles))
            for property_id, words in GUARANTEES.items()
        ),
        {_address(*home): _counterexample(one, home[1]) for one, home in homes.items()},
        {name: plan.most_faults for name, plan in table.plan.items()},
        table.specification,
    )


def _address(clause: Property, profile: Profile) -> str:
    return f"{name_of(clause)}-{profile}"


@cache
def _resembled(one: MinimalCounterexample, profile: Profile) -> tuple[str, ...]:
    return resembled(TRANSACTIONAL_MESSAGES, one.world(profile).constants, one.clause, one.path(profile))


def _counterexample(one: MinimalCounterexample, profile: Profile) -> Counterexample:
    return Counterexample(
        property_id=one.clause.identifier,
        clause=one.clause,
        rule=one.clause.sentence,
        world=World(profile, one.environment, one.instance),
        resembles=_resembled(one, profile),
        events=replay(TRANSACTIONAL_MESSAGES, one.world(profile).constants, one.path(profile)).events,
    )
