"""What the table of verdicts answers of a release without a search: it is what searches of the same instances found.

It does so as long as it is of this specification. Where more faults are asked for than were searched at once in an
instance, what fewer of them break is broken, and the rest is left to a search of those instances.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from model_check.defects.resemblance import resembled
from model_check.verdicts.counterexamples import read_counterexamples
from model_check.verdicts.table import table_file, table_of_verdicts
from model_check.world import World
from spec.language import Property
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.verdicts.counterexamples import MinimalCounterexample
    from model_check.world import Environment, Profile
    from spec.constants import Instance


@dataclass(frozen=True, slots=True)
class KnownViolation:
    """A violation that the table has: its steps, where it is, and the defects that its shortest schedule shows."""

    depth: int
    instance: Instance
    resembles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KnownVerdicts:
    """What the table answers of one profile in one environment.

    Attributes
    ----------
    violated : dict
        Clause → what the table has of it.
    unknown : tuple of Property
        What it does not violate, and a search that was cut short has left open.
    instances : tuple of Instance
        Those that it speaks of.
    left : tuple of Instance
        Instances in which so many faults at once were not searched: what is not violated is to be searched there.
    distinct : int
        States of its searches, of each instance those of the largest set of faults in the environment.
    """

    violated: dict[Property, KnownViolation]
    unknown: tuple[Property, ...]
    instances: tuple[Instance, ...]
    left: tuple[Instance, ...]
    distinct: int


def known_verdicts(
    profile: Profile,
    environment: Environment,
    clauses: Sequence[Property] = TRANSACTIONAL_MESSAGES.clauses,
    instances: Sequence[Instance] = (),
) -> KnownVerdicts | None:
    """The answer of the table, if it is of this specification and has the profile and the instances.

    Parameters
    ----------
    profile
        A turned switch makes it one that the table has not.
    environment, clauses
    instances
        Those of the table when none is given.
    """
    table = table_of_verdicts()
    sizes = tuple(instances or table.instances)
    if profile.name not in table.entries or any(not table.of(profile, size) for size in sizes) or _is_stale():
        return None
    found: dict[Property, tuple[int, Instance]] = {}
    unknown = dict[Property, None]()
    distinct = 0
    for size in sizes:
        world = World(profile, environment, size)
        parts = table.parts_of(world).values()
        distinct += max(one.distinct for one in parts)
        for clause, depth in table.depths(world).items():
            found[clause] = min(found.get(clause, (depth, size)), (depth, size), key=lambda at: at[0])
        if not size.forgets:
            unknown |= dict.fromkeys(clause for one in parts for clause in one.unknown)
    violated = {
        clause: KnownViolation(*found[clause], _resembles(profile, environment, clause))
        for clause in clauses
        if clause in found
    }
    left = tuple(size for size in sizes if len(environment) > table.plan[size.name].most_faults)
    is_open = len(violated) < len(clauses)
    open_here = tuple(clause for clause in clauses if clause in unknown and clause not in violated)
    return KnownVerdicts(violated, open_here, sizes, left if is_open else (), distinct)


@cache
def _is_stale() -> bool:
    return bool(table_of_verdicts().stale())


@cache
def _schedules() -> dict[tuple[Property, Profile], list[MinimalCounterexample]]:
    found: dict[tuple[Property, Profile], list[MinimalCounterexample]] = {}
    for one in read_counterexamples(table_file().with_name("schedules.toml"))[0]:
        for profile in one.profiles:
            found.setdefault((one.clause, profile), []).append(one)
    return found


@cache
def _resembles(profile: Profile, environment: Environment, clause: Property) -> tuple[str, ...]:
    """The defects that the schedules of the smallest sets of these faults show."""
    shown = dict[str, None]()
    for one in _schedules().get((clause, profile), ()):
        if one.environment.is_within(environment):
            constants = one.world(profile).constants
            shown |= dict.fromkeys(resembled(TRANSACTIONAL_MESSAGES, constants, clause, one.path(profile)))
    return tuple(shown)
