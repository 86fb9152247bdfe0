"""Which clauses of the table a million states or steps meet on an instance, guided and weighted, for some seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from model_check.clauses import chosen_clauses, clauses_by_name, name_of
from model_check.occurrence import why_it_cannot_occur
from model_check.verdicts.table import table_of_verdicts
from model_check.walks.guided.account import account_of
from model_check.walks.guided.state_space import LAW, are_violated
from model_check.walks.guided.walker import GuidedWalker
from model_check.walks.walk import Walker
from model_check.world import Environment, Profile, World

if TYPE_CHECKING:
    from collections.abc import Iterable

PROFILE: Final = "5.3.3"
INSTANCE: Final = "medium"
STEPS: Final = 60
MOST: Final = 1_000_000
WALKS_AT_ONCE: Final = 1_000

CLAUSES: Final = clauses_by_name()
NUMBERS: Final = {name: number for number, name in enumerate(CLAUSES)}


@dataclass(frozen=True)
class Missed:
    """What one seed did not meet in the environment of one fault.

    Attributes
    ----------
    asked : tuple of str
        The clauses that the fault breaks by itself in some instance of the table, and the quiet world in none.
    guided, weighted : tuple of str
        Those of them that were not met.
    """

    fault: str
    seed: int
    asked: tuple[str, ...]
    guided: tuple[str, ...]
    weighted: tuple[str, ...]


def asked_of() -> dict[str, tuple[str, ...]]:
    """Fault → the clauses that it breaks by itself, and the quiet world does not."""
    table, profile, quiet = table_of_verdicts(), Profile.of(PROFILE), Environment()
    searched = [table.of(profile, instance) for instance in table.instances if not instance.forgets]
    searched = [entries for entries in searched if quiet in entries]
    anyhow = {clause for entries in searched for clause in entries[quiet].violated}
    asked: dict[str, set[str]] = {}
    for entries in searched:
        for fault in table.faults:
            entry = entries.get(Environment.of([fault]))
            asked.setdefault(fault, set()).update(map(name_of, entry.violated.keys() - anyhow) if entry else ())
    return {fault: tuple(sorted(clauses)) for fault, clauses in asked.items() if clauses}


def cannot_occur(fault: str, clauses: Iterable[str]) -> dict[str, str]:
    """Which of the clauses can't be violated on the instance, and why."""
    constants = World.of(PROFILE, (fault,), INSTANCE).constants
    return {name: why for name in clauses if (why := why_it_cannot_occur(CLAUSES[name], constants))}


def missed(fault: str, asked: tuple[str, ...], seeds: Iterable[int]) -> list[Missed]:
    """What each seed leaves out."""
    world = World.of(PROFILE, [fault], INSTANCE)
    guided, weighted = GuidedWalker(world), Walker(world, LAW)
    return [
        Missed(fault, seed, asked, _by_guided(guided, seed, asked), _by_weighted(weighted, seed, asked))
        for seed in seeds
    ]


def _by_guided(walker: GuidedWalker, seed: int, asked: tuple[str, ...]) -> tuple[str, ...]:
    met = {one.name for one in account_of(walker, seed, STEPS, most=MOST, until=chosen_clauses(asked)).met}
    return tuple(sorted(set(asked) - met))


def _by_weighted(walker: Walker, seed: int, asked: tuple[str, ...]) -> tuple[str, ...]:
    numbers = [NUMBERS[name] for name in asked]
    are_met = np.zeros(len(asked), dtype=np.bool_)
    first = walked = 0
    while walked + WALKS_AT_ONCE * STEPS <= MOST and not are_met.all():
        violated, steps = walker.violated(seed, first, WALKS_AT_ONCE, STEPS)
        are_met |= are_violated(violated, numbers).any(axis=0)
        first, walked = first + WALKS_AT_ONCE, walked + steps
    return tuple(name for name, is_met in zip(asked, are_met, strict=True) if not is_met)
