"""What the table of verdicts answers of a release without a search: it is what searches of the same instances found.

It does so as long as it is of this specification. Where more faults are asked for than were searched at once in an
instance, what fewer of them break is broken, and the rest is left to a search of those instances.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from model_check.check import chosen_clauses
from model_check.counterexample.steps import read_path
from model_check.counterexample.unfolded import with_room_for
from model_check.defects.resemblance import resembled
from model_check.instances import constants_for, load_instance
from model_check.verdicts.counterexamples import read_counterexamples
from model_check.verdicts.environment import faults_of
from model_check.verdicts.table import table_file, table_of_verdicts
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.verdicts.counterexamples import MinimalCounterexample


@dataclass(frozen=True, slots=True)
class KnownViolation:
    """A violation that the table has: its steps, where it is, and the defects that its shortest schedule shows."""

    depth: int
    instance: str
    resembles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KnownVerdicts:
    """What the table answers of one profile in one environment.

    Attributes
    ----------
    violated : dict
        Clause → what the table has of it.
    unknown : tuple of str
        What it does not violate, and a search that was cut short has left open.
    instances : tuple of str
        Those that it speaks of.
    left : tuple of str
        Instances in which so many faults at once were not searched: what is not violated is to be searched there.
    distinct : int
        States of its searches, of each instance those of the largest set of faults in the environment.
    """

    violated: dict[str, KnownViolation]
    unknown: tuple[str, ...]
    instances: tuple[str, ...]
    left: tuple[str, ...]
    distinct: int


def known_verdicts(
    profile: str, faults: Sequence[str], properties: Sequence[str] = (), instances: Sequence[str] = ()
) -> KnownVerdicts | None:
    """The answer of the table, if it is of this specification and has the profile and the instances.

    Parameters
    ----------
    profile
        A turned switch makes it one that the table has not.
    faults
    properties
        Ids, or clauses; all when empty.
    instances
        Those of the table when none is given.
    """
    table = table_of_verdicts()
    names = tuple(instances or table.plan)
    if profile not in table.entries or any(not table.of(profile, name) for name in names) or _is_stale():
        return None
    wanted = [f"{one.identifier}.{one.clause}" for one in chosen_clauses(TRANSACTIONAL_MESSAGES, properties)]
    found: dict[str, tuple[int, str]] = {}
    unknown = dict[str, None]()
    distinct = 0
    for name in names:
        parts = {key: one for key, one in table.of(profile, name).items() if set(faults_of(key)) <= set(faults)}
        distinct += max(one.distinct for one in parts.values())
        for clause, depth in table.depths(profile, name, faults).items():
            found[clause] = min(found.get(clause, (depth, name)), (depth, name), key=lambda at: at[0])
        if not load_instance(name).forgets:
            unknown |= dict.fromkeys(clause for one in parts.values() for clause in one.unknown)
    violated = {
        clause: KnownViolation(*found[clause], _resembles(profile, tuple(faults), clause))
        for clause in wanted
        if clause in found
    }
    left = tuple(name for name in names if len(set(faults)) > table.plan[name].most_faults)
    is_open = len(violated) < len(wanted)
    open_here = tuple(clause for clause in wanted if clause in unknown and clause not in violated)
    return KnownVerdicts(violated, open_here, names, left if is_open else (), distinct)


@cache
def _is_stale() -> bool:
    return bool(table_of_verdicts().stale())


@cache
def _schedules() -> dict[tuple[str, str], list[MinimalCounterexample]]:
    """By clause and profile."""
    found: dict[tuple[str, str], list[MinimalCounterexample]] = {}
    for one in read_counterexamples(table_file().with_name("schedules.toml"))[0]:
        for profile in one.profiles:
            found.setdefault((one.clause, profile), []).append(one)
    return found


@cache
def _resembles(profile: str, faults: tuple[str, ...], clause: str) -> tuple[str, ...]:
    """The defects that the schedules of the smallest sets of these faults show."""
    mine = [one for one in _schedules().get((clause, profile), ()) if set(one.faults) <= set(faults)]
    (rule,) = chosen_clauses(TRANSACTIONAL_MESSAGES, [clause])
    shown = dict[str, None]()
    for one in mine:
        constants = constants_for(profile, one.faults, with_room_for(load_instance(one.instance), one.steps))
        path = read_path(TRANSACTIONAL_MESSAGES, constants, one.steps)
        shown |= dict.fromkeys(resembled(TRANSACTIONAL_MESSAGES, constants, rule, path))
    return tuple(shown)
