"""The table of verdicts, `spec/verdicts.toml`: profile × instance × environment → the verdict on every clause.

An entry names the clauses that are violated, with the steps of the shortest violation, and those that a search which
was cut short left unknown; every other clause holds, to the bound of the instance. The quiet world and each single
fault have an entry; a larger set of faults has one if it breaks (or may break) a clause that no smaller set in it does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from model_check.check import Verdict
from model_check.verdicts.environment import QUIET, clause_names, faults_of, name_of, parts
from model_check.verdicts.fingerprint import specification_fingerprint
from spec.constants import FAULTS
from spec.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from model_check.verdicts.minimal_faults import MinimalFaults


@dataclass(frozen=True, slots=True)
class Plan:
    """What is searched in one instance.

    Attributes
    ----------
    most_faults : int
        How many faults at once.
    most_states : int
        Where a search is cut short.
    schedules : bool
        Whether the schedules of the minimal sets are kept, in `spec/schedules.toml`.
    """

    most_faults: int
    most_states: int
    schedules: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One environment of the table; see `model_check.verdicts.environment.Outcome`."""

    distinct: int
    generated: int
    depth: int
    violated: dict[str, int]
    unknown: tuple[str, ...] = ()
    is_idle: bool = False

    def verdict(self, clause: str) -> Verdict:
        """Of a clause, by its name."""
        if clause in self.violated:
            return Verdict.VIOLATED
        return Verdict.UNKNOWN if clause in self.unknown else Verdict.HOLDS


Entries = dict[str, Entry]
"""By the name of the environment."""


@dataclass(frozen=True, slots=True)
class Table:
    """The table of verdicts.

    Attributes
    ----------
    specification : str
        The fingerprint of the specification that was searched.
    entries : dict
        Profile → instance → name of the environment → entry.
    """

    specification: str
    profiles: tuple[str, ...]
    faults: tuple[str, ...]
    clauses: tuple[str, ...]
    plan: dict[str, Plan]
    entries: dict[str, dict[str, Entries]] = field(default_factory=dict)

    def of(self, profile: str, instance: str) -> Entries:
        """The entries of a profile in an instance, none if it was not searched."""
        return self.entries.get(profile, {}).get(instance, {})

    def minimal_sets(self, profile: str, instance: str, clause: str) -> list[tuple[tuple[str, ...], int]]:
        """The minimal sets of faults that break a clause, each with its depth."""
        entries = self.of(profile, instance)
        breaking = {faults_of(name): e.violated[clause] for name, e in entries.items() if clause in e.violated}
        return [
            (faults, depth)
            for faults, depth in breaking.items()
            if not entries[name_of(faults)].is_idle and not any(part in breaking for part in parts(faults))
        ]

    def undecided(self, profile: str, instance: str, clause: str) -> list[tuple[str, ...]]:
        """The sets of faults of which it is unknown whether they break a clause; no smaller set in them does."""
        entries = self.of(profile, instance)
        breaking = {faults_of(name) for name, entry in entries.items() if clause in entry.violated}
        return [
            faults_of(name)
            for name, entry in entries.items()
            if entry.verdict(clause) is Verdict.UNKNOWN and not any(part in breaking for part in parts(faults_of(name)))
        ]

    def everything(self) -> Iterator[tuple[str, str, str, Entry]]:
        """Profile, instance, environment and entry of every entry."""
        for profile, instances in self.entries.items():
            for instance, entries in instances.items():
                for name, entry in entries.items():
                    yield profile, instance, name, entry

    def stale(self) -> list[str]:
        """Why the table is not of this specification; nothing if it is."""
        complaints = [
            f"{what} are {', '.join(named)}, and the specification has {', '.join(there)}"
            for what, named, there in (
                ("profiles", self.profiles, tuple(PROFILES)),
                ("faults", self.faults, FAULTS),
                ("clauses", self.clauses, clause_names()),
            )
            if named != there
        ]
        now = specification_fingerprint()
        if not complaints and self.specification != now:
            complaints.append(f"it was made from the specification {self.specification}, and this one is {now}")
        return complaints


def entries_of(found: MinimalFaults, profile: str) -> Entries:
    """The entries of a profile from the searches of its environments.

    Every search must have gone on when its open clauses were violated (`is_hasty` false), or the numbers are of a part.
    """
    mine = {environment.faults: o for environment, o in found.outcomes.items() if environment.profile == profile}
    unknown = {(e.faults, clause) for e, clause in found.unknown() if e.profile == profile}
    entries: Entries = {}
    for faults, outcome in mine.items():
        broken = {clause for part in parts(faults) if part in mine for clause in mine[part].violated}
        has_news = outcome.violated.keys() - broken or any((faults, clause) in unknown for clause in found.clauses)
        if len(faults) <= 1 or has_news:
            undecided = () if outcome.complete else tuple(c for c in found.clauses if c not in outcome.violated)
            entries[name_of(faults)] = Entry(
                outcome.distinct, outcome.generated, outcome.depth, dict(outcome.violated), undecided
            )
    for fault in found.idle[profile]:
        quiet = entries[QUIET]
        entries[fault] = Entry(
            quiet.distinct, quiet.generated, quiet.depth, dict(quiet.violated), quiet.unknown, is_idle=True
        )
    return dict(sorted(entries.items(), key=lambda item: by_size(faults_of(item[0]))))


def by_size(faults: tuple[str, ...]) -> tuple[object, ...]:
    """A key to sort sets of faults: fewer faults first, then in their order; those that no longer exist at the end."""
    places = [FAULTS.index(fault) if fault in FAULTS else len(FAULTS) for fault in faults]
    return len(faults), places, faults
