"""Which clauses of the table a million states or steps meet on an instance, guided and weighted, for some seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from model_check.clauses import clause_names
from model_check.instances import load_instance
from model_check.occurrence import why_it_cannot_occur
from model_check.verdicts.table import table_of_verdicts
from model_check.walks.guided.account import account_of
from model_check.walks.guided.state_space import LAW, are_violated
from model_check.walks.guided.walker import GuidedWalker
from model_check.walks.walk import Walker
from model_check.world import QUIET, World
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Iterable

PROFILE: Final = "5.3.3"
INSTANCE: Final = "medium"
STEPS: Final = 60
MOST: Final = 1_000_000
WALKS_AT_ONCE: Final = 1_000

CLAUSES: Final = dict(zip(clause_names(), TRANSACTIONAL_MESSAGES.clauses, strict=True))
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
    table = table_of_verdicts()
    walked = [instance for instance in table.plan if not load_instance(instance).forgets]
    names = [instance for instance in walked if QUIET in table.of(PROFILE, instance)]
    quiet = {clause for instance in names for clause in table.of(PROFILE, instance)[QUIET].violated}
    asked: dict[str, set[str]] = {}
    for instance in names:
        for fault in table.faults:
            entry = table.of(PROFILE, instance).get(fault)
            asked.setdefault(fault, set()).update(set(entry.violated) - quiet if entry else ())
    return {fault: tuple(sorted(clauses)) for fault, clauses in asked.items() if clauses}


def cannot_occur(fault: str, clauses: Iterable[str]) -> dict[str, str]:
    """Which of the clauses can't be violated on the instance, and why."""
    constants = World.of(PROFILE, (fault,), INSTANCE).constants
    return {name: why for name in clauses if (why := why_it_cannot_occur(CLAUSES[name], constants))}


def missed(fault: str, asked: tuple[str, ...], seeds: Iterable[int]) -> list[Missed]:
    """What each seed leaves out."""
    guided, weighted = GuidedWalker(PROFILE, (fault,), INSTANCE), Walker(PROFILE, (fault,), INSTANCE, LAW)
    return [
        Missed(fault, seed, asked, _by_guided(guided, seed, asked), _by_weighted(weighted, seed, asked))
        for seed in seeds
    ]


def _by_guided(walker: GuidedWalker, seed: int, asked: tuple[str, ...]) -> tuple[str, ...]:
    met = {one.clause for one in account_of(walker, seed, STEPS, most=MOST, until=asked).met}
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
