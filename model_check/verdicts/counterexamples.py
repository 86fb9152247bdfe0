"""The schedule of every minimal set of faults, `results/schedules.toml`: what breaks a clause, step by step.

Profiles that break a clause by the same steps share an entry.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from files.content import read_toml
from model_check.errors import BadFile, EvaluationError
from model_check.instances import load_instance
from model_check.verdicts.environment import Environment, faults_of, name_of
from model_check.verdicts.searches import Request, Searches
from model_check.verdicts.table import Minimal, by_size

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from model_check.verdicts.environment import Outcome
    from model_check.verdicts.searches import KeptSearches
    from model_check.verdicts.table import Table

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

    instance: str
    clause: str
    faults: tuple[str, ...]
    profiles: tuple[str, ...]
    steps: str

    @property
    def depth(self) -> int:
        """How many steps it has."""
        return len(self.steps.split(";"))


def find_counterexamples(
    table: Table, instances: Collection[str], kept: KeptSearches, *, threads: int = 1
) -> list[MinimalCounterexample]:
    """The first of the shortest schedules for every minimal set of a table that some of its instances have.

    One more search for each environment with a minimal set, which ends when the clauses in question are violated.

    Raises
    ------
    EvaluationError
        When a search does not find what the table says.
    """
    wanted: dict[str, dict[Environment, list[str]]] = {}
    for profile, clause, one in _minimal(table):
        if one.instance in instances:
            environment = Environment(profile, one.faults, load_instance(one.instance))
            wanted.setdefault(one.instance, {}).setdefault(environment, []).append(clause)
    found: dict[Environment, Outcome] = {}
    for instance, environments in wanted.items():
        searches = Searches(kept, threads=threads, most_states=table.plan[instance].most_states)
        found |= searches.run([Request(e, tuple(clauses), tuple(clauses)) for e, clauses in environments.items()])
    profiles: dict[tuple[str, str, tuple[str, ...], str], list[str]] = {}
    for profile, clause, one in _minimal(table):
        if one.instance in instances:
            outcome = found[Environment(profile, one.faults, load_instance(one.instance))]
            if outcome.violated.get(clause) != one.depth:
                message = (
                    f"{profile} {one.instance} {name_of(one.faults)}: {clause} is not violated at depth {one.depth}"
                )
                raise EvaluationError(message)
            profiles.setdefault((one.instance, clause, one.faults, outcome.schedules[clause]), []).append(profile)
    return in_order_of(
        table,
        [
            MinimalCounterexample(instance, clause, faults, tuple(shared), steps)
            for (instance, clause, faults, steps), shared in profiles.items()
        ],
    )


def in_order_of(table: Table, schedules: Iterable[MinimalCounterexample]) -> list[MinimalCounterexample]:
    """The schedules of the minimal sets of a table: by clause, the smaller sets first; others are left out.

    A schedule stays in those of its profiles in which its set is minimal.
    """
    minimal = {(profile, clause, one) for profile, clause, one in _minimal(table)}
    places = {name: place for names in (table.clauses, table.profiles) for place, name in enumerate(names)}

    def of_minimal_sets(one: MinimalCounterexample) -> MinimalCounterexample:
        mine = Minimal(one.faults, one.depth, one.instance)
        return replace(one, profiles=tuple(p for p in one.profiles if (p, one.clause, mine) in minimal))

    return sorted(
        (one for one in map(of_minimal_sets, schedules) if one.profiles),
        key=lambda s: (places[s.clause], by_size(s.faults), places[s.profiles[0]]),
    )


def _minimal(table: Table) -> Iterator[tuple[str, str, Minimal]]:
    for profile in table.profiles:
        for clause in table.clauses:
            for one in table.minimal_sets(profile, clause):
                yield profile, clause, one


def write_counterexamples(schedules: Iterable[MinimalCounterexample], specification: str) -> str:
    """The text of the file; `read_counterexamples` reads it back."""
    lines = [HEADER, f'specification = "{specification}"']
    for one in schedules:
        quoted = ", ".join(f'"{profile}"' for profile in one.profiles)
        lines += [
            "",
            "[[schedule]]",
            f'instance = "{one.instance}"',
            f'clause = "{one.clause}"',
            f'environment = "{name_of(one.faults)}"',
            f"profiles = [{quoted}]",
            f'steps = "{one.steps}"',
        ]
    return "\n".join(lines) + "\n"


def read_counterexamples(file: Path) -> tuple[Sequence[MinimalCounterexample], str]:
    """The schedules, and the fingerprint of the specification that they are of.

    Raises
    ------
    BadFile
        When the file is not TOML, or lacks something.
    """
    try:
        told = read_toml(file)
        schedules = [
            MinimalCounterexample(
                s["instance"], s["clause"], faults_of(s["environment"]), tuple(s["profiles"]), s["steps"]
            )
            for s in told.get("schedule", ())
        ]
        return schedules, str(told["specification"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        msg = f"{file}: {getattr(error, 'strerror', None) or error}; `halfcheck verdicts --update` writes it anew"
        raise BadFile(msg) from error
