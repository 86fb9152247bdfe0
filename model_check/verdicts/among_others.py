"""Verdicts for any number of transactions, `results/among_others.toml`: of one among others, where there is a claim.

A clause that one among others does not break holds for any number of transactions, in runs of any length. One that it
breaks is broken where the table of verdicts has a schedule of many, and undecided otherwise: actions of others may do
more than a broker does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

from files.writing import write_whole
from model_check.any_number.claims import comparisons, why_no_claim, why_not_claimed
from model_check.any_number.compared_instances import AMONG_OTHERS
from model_check.any_number.world_lines import WorldLines, read_world_lines, world_lines_as_toml
from model_check.check import BROKEN_AMONG_OTHERS
from model_check.clauses import clauses_by_name, name_of
from model_check.engines import COMPILED
from model_check.finding import Verdict
from model_check.instances import load_instance
from model_check.occurrence import why_it_cannot_occur
from model_check.question import Question
from model_check.verdicts.table import table_of_verdicts
from model_check.world import Environment, Profile, World
from spec.language import Property

MOST_STATES: Final = 10_000_000
"""Where the search of each is cut short."""

RESULTS: Final = Path(__file__).with_name("results") / "among_others.toml"


@dataclass(frozen=True, slots=True)
class EntryAmongOthers:
    """What one transaction among others does in a world, in all of `AMONG_OTHERS` together."""

    distinct: int
    violated: Mapping[Property, int] = field(default_factory=dict)
    """Each violated clause to the steps of its shortest violation."""
    undecided: str = ""
    """Why what is not violated is not known to hold; empty where it is."""


EntriesAmongOthers = dict[tuple[Profile, Environment], EntryAmongOthers]


@dataclass(frozen=True, slots=True)
class ForAnyNumber:
    """The verdict on a clause for any number of transactions, in runs of any length."""

    verdict: Verdict
    why: str = ""
    """Why it is undecided, or cannot occur."""

    @property
    def holds(self) -> bool:
        """Whether it holds, and could be seen to be broken."""
        return self.verdict is Verdict.HOLDS and not self.why

    @property
    def cannot_occur(self) -> bool:
        """Whether it holds for want of anything that could break it."""
        return self.verdict is Verdict.HOLDS and bool(self.why)


@cache
def for_any_number(profile: Profile, environment: Environment, clause: Property) -> ForAnyNumber:
    """The verdict, of the table of verdicts and of one among others."""
    if any(broken.is_within(environment) for broken in _breaking(profile, clause)):
        return ForAnyNumber(Verdict.VIOLATED)
    cannot = why_it_cannot_occur(clause, *(world.constants for world in _worlds(profile, environment)))
    if cannot:
        return ForAnyNumber(Verdict.HOLDS, cannot)
    why = why_no_claim(profile, environment) or why_not_claimed(clause, profile)
    if why:
        return ForAnyNumber(Verdict.UNKNOWN, why)
    entry = _entry(profile, environment)
    if entry is None:
        return ForAnyNumber(Verdict.UNKNOWN, "one transaction among others was not searched")
    if clause in entry.violated:
        steps = entry.violated[clause]
        why = f"{BROKEN_AMONG_OTHERS}, in {steps} steps; no schedule of many is known that does"
        return ForAnyNumber(Verdict.UNKNOWN, why)
    return ForAnyNumber(Verdict.UNKNOWN if entry.undecided else Verdict.HOLDS, entry.undecided)


@cache
def _worlds(profile: Profile, environment: Environment) -> tuple[World, ...]:
    """Those of one among others, which have their constants once for all clauses."""
    return tuple(World(profile, environment, load_instance(name)) for name in AMONG_OTHERS)


@cache
def _breaking(profile: Profile, clause: Property) -> tuple[Environment, ...]:
    """The sets of faults that break a clause, by the table of verdicts."""
    return tuple(table_of_verdicts().breaking(profile, clause))


def _entry(profile: Profile, environment: Environment) -> EntryAmongOthers | None:
    """That of the first profile with the same switches."""
    found = (
        one
        for (each, faults), one in entries_among_others().items()
        if faults == environment and each.switches == profile.switches
    )
    return next(found, None)


def searched(profile: Profile, environment: Environment) -> EntryAmongOthers:
    """The searches of a world."""
    distinct, violated, undecided = 0, dict[Property, int](), []
    for world in _worlds(profile, environment):
        found = COMPILED.search(Question(world=world, paths=(), most_states=MOST_STATES), threads=1)
        distinct += found.numbers.distinct
        for clause, depth in found.depths.items():
            violated[clause] = min(depth, violated.get(clause, depth))
        undecided += [f"{world.instance.name}: {found.why_unknown}"] * bool(found.why_unknown)
    return EntryAmongOthers(distinct, violated, "; ".join(undecided))


@cache
def entries_among_others() -> EntriesAmongOthers:
    """Those that come with the project; none where they are of another specification."""
    clauses = clauses_by_name()
    return {
        world: EntryAmongOthers(
            given["distinct"],
            {clauses[name]: depth for name, depth in given.get("violated", {}).items()},
            given.get("undecided", ""),
        )
        for world, given in read_world_lines(RESULTS).items()
    }


def entries_as_toml(entries: EntriesAmongOthers) -> str:
    """The text of the file; `entries_among_others` reads it back."""
    comment = f"""\
What one transaction among others breaks, by world, in {" and ".join(AMONG_OTHERS)}, with the fewest steps.
Written by `make any-number`. What is not named holds, unless the world is undecided."""
    lines: WorldLines = {}
    for world, one in entries.items():
        violated = {name_of(clause): depth for clause, depth in one.violated.items()}
        lines[world] = {"distinct": one.distinct, "violated": violated, "undecided": one.undecided}
    return world_lines_as_toml(comment, lines)


def search_all(report: Callable[[str], None]) -> EntriesAmongOthers:
    """All worlds in which something is claimed; those that are in the file are not searched again."""
    entries, known = EntriesAmongOthers(), entries_among_others()
    for profile, environment in comparisons():
        if why_no_claim(profile, environment):
            continue
        one = known.get((profile, environment)) or searched(profile, environment)
        entries[profile, environment] = one
        report(f"{profile} {environment.beside_a_profile}: {one.distinct:,} states, {len(one.violated)} broken")
    return entries


if __name__ == "__main__":
    write_whole(RESULTS, entries_as_toml(search_all(lambda line: print(line, file=sys.stderr, flush=True))))
