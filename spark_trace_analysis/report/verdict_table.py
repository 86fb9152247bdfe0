"""What the page opens with: for each guarantee and version what it takes to break it, as the table of verdicts says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Final

from model_check.counterexample.sequence_diagram import drawn_path
from model_check.counterexample.steps import read_path, replay
from model_check.counterexample.unfolded import with_room_for
from model_check.defects.resemblance import resembled
from model_check.instances import constants_for, load_instance
from model_check.wording.clauses import GUARANTEES, meaning_of
from spark_trace_analysis.report.counterexamples import Counterexample
from spark_trace_analysis.traces.manifest import options_of
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from model_check.verdicts.counterexamples import MinimalCounterexample
    from model_check.verdicts.table import Minimal, Table
    from spec.constants import Constants
    from spec.language import Property, Step


class Takes(StrEnum):
    """What it takes to break something, the least first.

    Attributes
    ----------
    words
        As a cell says it.
    meaning
        As the legend says it.
    """

    QUIET = "quiet", "quiet world", "broken in the quiet world, where nothing goes wrong"
    ONE = "one", "one fault", "broken by one fault"
    TWO = "two", "two faults", "broken by two faults together"
    UNBROKEN = "unbroken", "unbroken", "nothing found breaks it"
    UNDECIDED = "undecided", "not decided", "nothing found, some searches were cut short"

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


_RULES: Final = {f"{rule.identifier}.{rule.clause}": rule for rule in TRANSACTIONAL_MESSAGES.clauses}

_NAMED: Final = 6
"""Minimal sets that a line names."""

_BY_FAULTS: Final = (Takes.QUIET, Takes.ONE, Takes.TWO)


@dataclass(frozen=True)
class ClauseVerdict:
    """One clause, a cause of a violation, in one version.

    Attributes
    ----------
    name
        Such as ``S1.immune_half``.
    rule
        What it claims.
    minimal
        Minimal sets of faults that break it, the smaller first.
    undecided
        How many sets of faults may break it: a search of them was cut short.
    schedule
        Address of the shortest schedule of those that take the fewest faults; empty if nothing breaks it.
    resembles
        Ids of the known defects that this schedule shows; none that the version is rid of.
    """

    name: str
    rule: str
    profile: str
    takes: Takes
    minimal: tuple[Minimal, ...]
    undecided: int
    schedule: str
    resembles: tuple[str, ...]

    @property
    def address(self) -> str:
        """Such as ``S1.immune_half-4.9.7``."""
        return f"{self.name}-{self.profile}"

    @property
    def by_what(self) -> str:
        """The minimal sets in words, some of them where there are many."""
        shown = [" with ".join(one.faults) or "nothing" for one in self.minimal[:_NAMED]]
        more = len(self.minimal) - len(shown)
        *first, last = shown + ([f"{more} more"] if more else [])
        return f"{', '.join(first)} or {last}" if first else last

    @property
    def steps(self) -> int:
        """Of that schedule; 0 if there is none."""
        return min((one.depth for one in self.minimal if len(one.faults) == len(self.minimal[0].faults)), default=0)


@dataclass(frozen=True)
class Cell:
    """One guarantee in one version.

    Attributes
    ----------
    as_in
        An older version of which the table says the same, where there is one; the page refers to it.
    """

    property_id: str
    profile: str
    takes: Takes
    clauses: tuple[ClauseVerdict, ...]
    as_in: str

    @property
    def address(self) -> str:
        """Such as ``S1-4.9.7``."""
        return f"{self.property_id}-{self.profile}"

    @property
    def broken(self) -> tuple[ClauseVerdict, ...]:
        """The clauses that something breaks: what takes the fewest faults first, and of these the gravest."""
        order = list(Takes)
        broken = (one for one in self.clauses if one.takes.is_broken)
        return tuple(sorted(broken, key=lambda one: (order.index(one.takes), meaning_of(one.name).gravity)))

    @property
    def unbroken(self) -> tuple[ClauseVerdict, ...]:
        """The others."""
        return tuple(one for one in self.clauses if not one.takes.is_broken)

    @property
    def sets(self) -> str:
        """The sets of faults that break it, a blank between them, ``+`` between faults; ``quiet`` takes none."""
        found = {frozenset(one.faults) for clause in self.clauses for one in clause.minimal}
        minimal = (one for one in found if not any(other < one for other in found))
        return " ".join(sorted("+".join(sorted(one)) or "quiet" for one in minimal))

    @property
    def sentence(self) -> str:
        """What the cell means, in words."""
        name = f"{self.property_id} in {self.profile}"
        if self.takes is Takes.UNDECIDED:
            return f"{name}: nothing found breaks it, not every search was finished"
        if self.takes is Takes.UNBROKEN:
            return f"{name}: nothing found breaks it"
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
    """The whole table.

    Attributes
    ----------
    schedules
        By address; one that several versions share has that of the first of them.
    most_faults
        By instance, how many faults at once were searched.
    """

    profiles: tuple[str, ...]
    guarantees: tuple[Guarantee, ...]
    schedules: Mapping[str, Counterexample]
    most_faults: Mapping[str, int]
    specification: str

    @property
    def released(self) -> tuple[str, ...]:
        """The versions of RocketMQ; a repaired protocol has no number."""
        return tuple(profile for profile in self.profiles if profile[:1].isdigit())

    def broken_when_quiet(self, profile: str) -> tuple[Cell, ...]:
        """The guarantees that a version breaks in the quiet world."""
        cells = (cell for row in self.guarantees for cell in row.cells)
        return tuple(cell for cell in cells if (cell.profile, cell.takes) == (profile, Takes.QUIET))


def verdict_table(table: Table, schedules: Sequence[MinimalCounterexample]) -> VerdictTable:
    """Arrange the table of verdicts as the page shows it.

    Raises
    ------
    ModelCheckError
        A schedule is none of this specification.
    """
    homes: dict[MinimalCounterexample, str] = {}
    shortest: dict[tuple[str, str], MinimalCounterexample] = {}
    for name in table.clauses:
        for profile in table.profiles:
            theirs = [one for one in schedules if one.clause == name and profile in one.profiles]
            if theirs:
                best = shortest[name, profile] = min(theirs, key=lambda one: (len(one.faults), one.depth))
                homes.setdefault(best, f"{name}-{profile}")

    def verdict(profile: str, name: str) -> ClauseVerdict:
        minimal, undecided = tuple(table.minimal_sets(profile, name)), len(table.undecided(profile, name))
        takes = _BY_FAULTS[len(minimal[0].faults)] if minimal else _nothing_found(undecided)
        best = shortest.get((name, profile))
        address, like = ("", ()) if best is None else (homes[best], _resembled(best, profile))
        return ClauseVerdict(name, _RULES[name].sentence, profile, takes, minimal, undecided, address, like)

    def cell(profile: str, property_id: str) -> Cell:
        clauses = tuple(verdict(profile, name) for name in table.clauses if name.partition(".")[0] == property_id)
        found = {one.takes for one in clauses}
        broken = [takes for takes in _BY_FAULTS if takes in found]
        takes = broken[0] if broken else _nothing_found(sum(one.undecided for one in clauses))
        oldest = table.oldest_like(profile)
        return Cell(property_id, profile, takes, clauses, "" if oldest == profile else oldest)

    return VerdictTable(
        table.profiles,
        tuple(
            Guarantee(property_id, words, tuple(cell(profile, property_id) for profile in table.profiles))
            for property_id, words in GUARANTEES.items()
        ),
        {address: _counterexample(one, address.rpartition("-")[2]) for one, address in homes.items()},
        {name: plan.most_faults for name, plan in table.plan.items()},
        table.specification,
    )


def _nothing_found(undecided: int) -> Takes:
    return Takes.UNDECIDED if undecided else Takes.UNBROKEN


@cache
def _resembled(one: MinimalCounterexample, profile: str) -> tuple[str, ...]:
    return resembled(TRANSACTIONAL_MESSAGES, *_taken(one, profile))


def _taken(one: MinimalCounterexample, profile: str) -> tuple[Constants, Property, list[Step]]:
    constants = constants_for(profile, one.faults, with_room_for(load_instance(one.instance), one.steps))
    return constants, _RULES[one.clause], read_path(TRANSACTIONAL_MESSAGES, constants, one.steps)


def _counterexample(one: MinimalCounterexample, profile: str) -> Counterexample:
    constants, rule, path = _taken(one, profile)
    events = replay(TRANSACTIONAL_MESSAGES, constants, path).events
    return Counterexample(
        property_id=rule.identifier,
        clause=rule.clause,
        rule=rule.sentence,
        profile=profile,
        environment=one.faults,
        instance=one.instance,
        resembles=_resembled(one, profile),
        steps=events,
        messages=drawn_path(events),
        command=f'halfcheck replay {options_of(profile, one.instance, one.faults)} --steps "{one.steps}"',
    )
