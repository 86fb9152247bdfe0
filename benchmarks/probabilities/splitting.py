"""Shares of about one in a million, estimated by walks that are split, again and again, beside the exact ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from statistics import fmean, stdev
from time import perf_counter
from typing import Any, Final

from benchmarks.probabilities.kept import kept
from benchmarks.probabilities.worlds import MOST_STATES, STEPS, value_within, weights_called
from model_check.clauses import chosen_clauses, name_of
from model_check.probabilities.answer import answer_of
from model_check.probabilities.chain import chain_of
from model_check.probabilities.sampled import split_shares
from model_check.walks.guided.walker import GuidedWalker
from model_check.world import Environment, World

RARE_WORLDS: Final = (("5.3.3", "crash", "deep", "reliable_hosts"),)
"""As `benchmarks.probabilities.worlds.WORLDS`; nothing is learned from the instance itself."""

RARE: Final = ("R1.forks", "S1.forked_copy", "S2.commit_after_discard")
"""The clauses that are looked at, where they are rarer than `LARGEST`."""

LARGEST: Final = 1e-5

PLAIN_WALKS: Final = 100_000_000
"""That a share of one in a million wants: a hundred of them violate the clause, so that the error is a tenth."""

FACTOR: Final = 1.5


@dataclass(frozen=True)
class Repetition:
    """The estimates of one repetition."""

    estimates: Mapping[str, Sequence[float]]  # clause → share, and both ends of its interval
    expanded: int  # states, searches included
    seconds: float  # without the searches


@dataclass(frozen=True)
class Repeated:
    """The estimates of a clause in independent repetitions."""

    world: str
    clause: str
    exact: float
    repetitions: Sequence[Repetition]

    @property
    def shares(self) -> list[float]:
        """The estimates; 0 where no walk violated the clause."""
        return [one.estimates[self.clause][0] if self.clause in one.estimates else 0.0 for one in self.repetitions]

    @property
    def mean(self) -> float:
        """Of the estimates."""
        return fmean(self.shares)

    @property
    def spread(self) -> float:
        """The standard deviation of the estimates, as a part of the exact share."""
        return stdev(self.shares) / self.exact

    @property
    def near(self) -> int:
        """Estimates that differ from the exact share by a factor of `FACTOR` at most."""
        return sum(self.exact / FACTOR <= share <= self.exact * FACTOR for share in self.shares)

    @property
    def held(self) -> int:
        """Intervals that hold the exact share."""
        intervals = (one.estimates.get(self.clause, (0.0, 0.0, 0.0)) for one in self.repetitions)
        return sum(low <= self.exact <= high for _, low, high in intervals)

    @property
    def expanded(self) -> int:
        """States of one repetition."""
        return max(one.expanded for one in self.repetitions)

    @property
    def cheaper(self) -> float:
        """How often one repetition goes into the steps of the plain walks."""
        return PLAIN_WALKS * STEPS / self.expanded


@cache
def walker_of(profile: str, faults: str, instance: str, weights: str) -> GuidedWalker:
    """The walker of one of these worlds, which learns once a process."""
    return GuidedWalker(World.of(profile, Environment.named(faults), instance), weights_called(weights).whole)


def repetition(world: tuple[str, str, str, str], populations: int, seed: int) -> Repetition:
    """The estimates of so many populations with a seed."""
    walker = walker_of(*world)
    searched = sum(walker.learned.expanded.values())
    began = perf_counter()
    found = split_shares(walker, populations, STEPS, seed)
    estimates = {name_of(clause): (one.share, *one.interval) for clause, one in found.estimates.items()}
    return Repetition(estimates, max(found.expanded, searched), perf_counter() - began)


def exact_shares(world: tuple[str, str, str, str]) -> dict[str, float]:
    """The probability of each rare clause within the steps."""
    profile, faults, instance, weights = world
    where = World.of(profile, Environment.named(faults), instance)
    answer = answer_of(chain_of(where, weights_called(weights), MOST_STATES), chosen_clauses(RARE), STEPS)
    shares = {row.name: value_within(row) for row in answer.rows}
    return {name: share for name, share in shares.items() if share < LARGEST}


def rare_world_of(number: int, populations: int, repetitions: int) -> Any:
    """The exact shares and the repetitions of the rare world of this number, as plain data, each kept."""
    world = RARE_WORLDS[number]
    name = "-".join(world)
    exact = kept(f"{name}-exact", lambda: exact_shares(world))
    found = [
        kept(f"{name}-{populations}-{seed}", partial(_repetition, world, populations, seed))
        for seed in range(1, repetitions + 1)
    ]
    return {"world": world, "exact": exact, "repetitions": found}


def _repetition(world: tuple[str, str, str, str], populations: int, seed: int) -> Any:
    return asdict(repetition(world, populations, seed))
