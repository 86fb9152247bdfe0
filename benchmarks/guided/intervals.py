"""How often the 95 % intervals of guided walks hold the share of plain walks that violate a clause."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.guided.clauses_met import CLAUSES, INSTANCE, MOST, PROFILE, STEPS
from model_check.walks.guided.account import account_of
from model_check.walks.guided.state_space import LAW, are_violated
from model_check.walks.guided.walker import GuidedWalker
from model_check.walks.walk import Walker
from model_check.world import World

if TYPE_CHECKING:
    from collections.abc import Iterable

FAULTS: Final = ("slow_local", "wrong_end", "power_loss")
PLAIN_WALKS: Final = 5_000_000
PLAIN_SEED: Final = 99
_AT_ONCE: Final = 50_000

LEAST_SHARE: Final = 1e-4
"""Of plain walks: below, too few of them violate the clause for an exact share."""


@dataclass(frozen=True)
class Covered:
    """A clause for which walks are split, and how its intervals did.

    Attributes
    ----------
    exact, error : float
        The share of the plain walks, and its standard error.
    held : int
        Intervals that hold the exact share, of all `repetitions`.
    width : float
        The median ratio of an interval's ends.
    mean : float
        Of all estimates.
    """

    fault: str
    clause: str
    exact: float
    error: float
    held: int
    repetitions: int
    width: float
    mean: float


def plain_shares(fault: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The share of long plain walks that violate each clause, by its number."""
    walker, clauses = Walker(World.of(PROFILE, [fault], INSTANCE), LAW), range(len(CLAUSES))
    hits = np.zeros(len(CLAUSES), dtype=np.int64)
    for first in range(0, PLAIN_WALKS, _AT_ONCE):
        violated, _ = walker.violated(PLAIN_SEED, first, _AT_ONCE, STEPS)
        hits += are_violated(violated, clauses).sum(axis=0)
    return hits / PLAIN_WALKS


def covered(fault: str, seeds: Iterable[int]) -> list[Covered]:
    """Every clause of the world for which the walks of all seeds are split and whose exact share is known."""
    exact = dict(zip(CLAUSES, plain_shares(fault).tolist(), strict=True))
    walker = GuidedWalker(World.of(PROFILE, [fault], INSTANCE))
    found: dict[str, list[tuple[float, float, float]]] = {}
    repetitions = 0
    for seed in seeds:
        repetitions += 1
        for one in account_of(walker, seed, STEPS, most=MOST).met:
            if one.is_rare and one.estimate is not None and exact[one.name] >= LEAST_SHARE:
                found.setdefault(one.name, []).append((one.estimate.share, *one.estimate.interval))
    return [
        Covered(
            fault,
            clause,
            exact[clause],
            sqrt(exact[clause] / PLAIN_WALKS),
            sum(low <= exact[clause] <= high for _, low, high in intervals),
            repetitions,
            float(np.median([high / low for _, low, high in intervals if low > 0])),
            float(np.mean([share for share, _, _ in intervals])),
        )
        for clause, intervals in sorted(found.items())
        if len(intervals) == repetitions
    ]
