"""The table of verdicts, `results/verdicts.toml`: profile × instance × environment → the verdict on every clause.

An entry names the clauses that are violated, with the steps of the shortest violation, and those that a search which
was cut short left unknown; every other clause holds, to the bound of the instance. The quiet world and each single
fault have an entry; a larger set of faults has one if it breaks (or may break) a clause that no smaller set in it does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from model_check.check import Verdict
from model_check.verdicts.environment import QUIET, faults_of, name_of, parts
from model_check.verdicts.fingerprint import specification_fingerprint
from model_check.wording.clauses import clause_names
from spec.constants import FAULTS
from spec.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

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
    """

    most_faults: int
    most_states: int


class Minimal(NamedTuple):
    """A set of faults that breaks a clause, and that has no smaller one in it that does, in any instance of the table.

    Attributes
    ----------
    depth : int
        Steps of the shortest violation.
    instance : str
        Where that is; the first one of the plan where several have it.
    """

    faults: tuple[str, ...]
    depth: int
    instance: str


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

    def depths(self, profile: str, instance: str, faults: Collection[str]) -> dict[str, int]:
        """Clause → steps of the shortest violation that an instance shows under these faults, or some of them."""
        entries = [e for name, e in self.of(profile, instance).items() if set(faults_of(name)) <= set(faults)]
        depths = sorted((depth, clause) for entry in entries for clause, depth in entry.violated.items())
        return {clause: depth for depth, clause in reversed(depths)}

    def minimal_sets(self, profile: str, clause: str) -> list[Minimal]:
        """The minimal sets of faults that break a clause, of all instances together; the smaller ones first."""
        breaking = self.breaking(profile, clause)
        return sorted(
            (one for one in breaking.values() if not any(part in breaking for part in parts(one.faults))),
            key=lambda one: by_size(one.faults),
        )

    def undecided(self, profile: str, clause: str) -> list[tuple[str, ...]]:
        """The sets of faults that no instance shows to break a clause, and one was cut short in which they might.

        No smaller set in them breaks it in any instance.
        """
        breaking = self.breaking(profile, clause)
        found = {
            faults_of(name)
            for instance in self.plan
            for name, entry in self.of(profile, instance).items()
            if clause in entry.unknown
        }
        return sorted(
            (one for one in found - breaking.keys() if not any(part in breaking for part in parts(one))), key=by_size
        )

    def cut_short(self, profile: str) -> dict[str, list[tuple[str, ...]]]:
        """Instance → the sets of faults whose search was cut short there with something still to be found."""
        cut = {
            instance: [faults_of(name) for name, entry in self.of(profile, instance).items() if entry.unknown]
            for instance in self.plan
        }
        return {instance: sets for instance, sets in cut.items() if sets}

    def idle(self, profile: str) -> list[str]:
        """The faults that do nothing in a profile, in no instance."""
        searched = [entries for entries in (self.of(profile, instance) for instance in self.plan) if entries]
        return [
            fault
            for fault in self.faults
            if searched and all(fault in entries and entries[fault].is_idle for entries in searched)
        ]

    def breaking(self, profile: str, clause: str) -> dict[tuple[str, ...], Minimal]:
        """All sets of faults that break a clause somewhere, minimal or not, each where it takes the fewest steps."""
        breaking: dict[tuple[str, ...], Minimal] = {}
        for instance in self.plan:
            for name, entry in self.of(profile, instance).items():
                faults = faults_of(name)
                depth = entry.violated.get(clause)
                if depth is not None and (faults not in breaking or depth < breaking[faults].depth):
                    breaking[faults] = Minimal(faults, depth, instance)
        return breaking

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
