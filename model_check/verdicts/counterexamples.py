"""The schedule of every minimal set of faults, `results/schedules.toml`: what breaks a clause, step by step.

Profiles that break a clause by the same steps share an entry.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from files.content import read_toml
from model_check.clauses import clauses_by_name, name_of
from model_check.counterexample.steps import read_path
from model_check.counterexample.unfolded import with_room_for
from model_check.errors import BadFile, EvaluationError
from model_check.instances import load_instance
from model_check.question import Question
from model_check.verdicts.searches import CachedSearches, Searches
from model_check.verdicts.table import Minimal, TableOfVerdicts
from model_check.world import Environment, Profile, World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from pathlib import Path

    from model_check.finding import Finding
    from spec.constants import Instance
    from spec.language import Property, Step

HEADER = """\
# For each clause and each minimal set of faults that breaks it: the first of the shortest schedules, in the first
# instance of the plan that has one of that length.
#
# Written by `halfcheck verdicts --update`, together with verdicts.toml. To take one again:
#
#     halfcheck replay --profile PROFILE --instance INSTANCE --faults ENVIRONMENT --steps "STEPS"
#
# without --faults where the environment is quiet.
"""


@dataclass(frozen=True, slots=True)
class MinimalCounterexample:
    """One schedule, and the profiles in which it is the first shortest."""

    instance: Instance
    clause: Property
    environment: Environment
    profiles: tuple[Profile, ...]
    steps: str

    @property
    def depth(self) -> int:
        """How many steps it has."""
        return len(self.steps.split(";"))

    def world(self, profile: Profile) -> World:
        """Where it is taken, with room for all of it."""
        return World(profile, self.environment, with_room_for(self.instance, self.steps))

    def path(self, profile: Profile) -> list[Step]:
        """Its steps in a profile."""
        return read_path(TRANSACTIONAL_MESSAGES, self.world(profile).constants, self.steps)


def with_missing(
    table: TableOfVerdicts,
    known: Iterable[MinimalCounterexample],
    instances: Collection[Instance],
    cached: CachedSearches,
    *,
    threads: int = 1,
) -> list[MinimalCounterexample]:
    """The first of the shortest schedules for every minimal set of a table: those that are known, and the others found.

    Others are looked for in some of its instances: one more search for each environment with a minimal set, which ends
    when the clauses in question are violated. Raises `EvaluationError` when a search does not find what the table says.
    """
    profiles: dict[tuple[Instance, Property, Environment, str], list[Profile]] = {}
    for each in known:
        profiles.setdefault((each.instance, each.clause, each.environment, each.steps), []).extend(each.profiles)
    there = {
        (profile, clause, Minimal(environment, len(steps.split(";")), instance))
        for (instance, clause, environment, steps), shared in profiles.items()
        for profile in shared
    }
    missing = [one for one in _minimal(table) if one not in there and one[2].instance in instances]
    wanted: dict[Instance, dict[World, list[Property]]] = {}
    for profile, clause, one in missing:
        world = World(profile, one.environment, one.instance)
        wanted.setdefault(one.instance, {}).setdefault(world, []).append(clause)
    found: dict[World, Finding] = {}
    for instance, worlds in wanted.items():
        searches = Searches(cached, threads=threads, most_states=table.plan[instance.name].most_states)
        found |= searches.run(
            [Question(world=world, paths=tuple(clauses), until=tuple(clauses)) for world, clauses in worlds.items()]
        )
    for profile, clause, one in missing:
        world = World(profile, one.environment, one.instance)
        shown = found[world].violated.get(clause)
        if shown is None or shown.depth != one.depth:
            message = f"{world}: {name_of(clause)} is not violated at depth {one.depth}"
            raise EvaluationError(message)
        profiles.setdefault((one.instance, clause, one.environment, shown.steps), []).append(profile)
    return in_order_of(
        table,
        [
            MinimalCounterexample(instance, clause, environment, Profile.in_order(shared), steps)
            for (instance, clause, environment, steps), shared in profiles.items()
        ],
    )


def in_order_of(table: TableOfVerdicts, schedules: Iterable[MinimalCounterexample]) -> list[MinimalCounterexample]:
    """The schedules of the minimal sets of a table: by clause, the smaller sets first; others are left out.

    A schedule stays in those of its profiles in which its set is minimal.
    """
    minimal = {(profile, clause, one) for profile, clause, one in _minimal(table)}
    clauses, profiles = table.clauses, table.profiles

    def of_minimal_sets(one: MinimalCounterexample) -> MinimalCounterexample:
        mine = Minimal(one.environment, one.depth, one.instance)
        return replace(one, profiles=tuple(p for p in one.profiles if (p, one.clause, mine) in minimal))

    return sorted(
        (one for one in map(of_minimal_sets, schedules) if one.profiles),
        key=lambda s: (clauses.index(s.clause), s.environment.by_size, profiles.index(s.profiles[0])),
    )


def _minimal(table: TableOfVerdicts) -> Iterator[tuple[Profile, Property, Minimal]]:
    for profile in table.profiles:
        for clause in table.clauses:
            for one in table.minimal_sets(profile, clause):
                yield profile, clause, one


def counterexamples_as_toml(schedules: Iterable[MinimalCounterexample], specification: str) -> str:
    """The text of the file; `read_counterexamples` reads it back."""
    lines = [HEADER, f'specification = "{specification}"']
    for one in schedules:
        quoted = ", ".join(f'"{profile}"' for profile in one.profiles)
        lines += [
            "",
            "[[schedule]]",
            f'instance = "{one.instance.name}"',
            f'clause = "{name_of(one.clause)}"',
            f'environment = "{one.environment.name}"',
            f"profiles = [{quoted}]",
            f'steps = "{one.steps}"',
        ]
    return "\n".join(lines) + "\n"


def read_counterexamples(file: Path) -> tuple[Sequence[MinimalCounterexample], str]:
    """The schedules, and the fingerprint of the specification that they are of.

    Raises `BadFile` when the file is not TOML, or lacks something.
    """
    try:
        given = read_toml(file)
        schedules = [
            MinimalCounterexample(
                load_instance(one["instance"]),
                clauses_by_name()[one["clause"]],
                Environment.named(one["environment"]),
                tuple(map(Profile.of, one["profiles"])),
                one["steps"],
            )
            for one in given.get("schedule", ())
        ]
        return schedules, str(given["specification"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        msg = f"{file}: {getattr(error, 'strerror', None) or error}; `halfcheck verdicts --update` writes it anew"
        raise BadFile(msg) from error
