"""Shares of about one in a million, estimated by walks that are split, again and again, beside the exact ones."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean, stdev
from time import perf_counter
from typing import TYPE_CHECKING, Final

from benchmarks.probabilities.worlds import MOST_STATES, STEPS, value_within, weights_called
from model_check.clauses import chosen_clauses
from model_check.probabilities.answer import answer_of
from model_check.probabilities.chain import chain_of
from model_check.probabilities.sampled import split_shares
from model_check.walks.guided.walker import GuidedWalker
from model_check.world import Environment, World

if TYPE_CHECKING:
    from collections.abc import Iterable

    from model_check.walks.guided.account import Estimate

RARE_WORLDS: Final = (
    ("5.3.3", "crash", "small", "rare_faults", ("S2.commit_after_discard", "R1.forks", "S1.forked_copy")),
    ("5.3.3", "crash", "deep", "reliable_hosts", ("S1.forked_copy", "R1.forks")),
)
"""As `benchmarks.probabilities.worlds.WORLDS`, and the clauses that are asked for."""

PLAIN_WALKS: Final = 100_000_000
"""That a share of one in a million wants: a hundred of them violate the clause, so that the error is a tenth."""

FACTOR: Final = 1.5


@dataclass(frozen=True)
class Repeated:
    """The estimates of independent repetitions."""

    world: str
    clause: str
    exact: float
    estimates: tuple[Estimate, ...]
    expanded: int  # states, in one repetition, searches included
    searched: int  # of these, in searches
    seconds: float  # of one repetition, without the searches
    learning_seconds: float

    @property
    def mean(self) -> float:
        """Of the estimates."""
        return fmean(one.share for one in self.estimates)

    @property
    def spread(self) -> float:
        """The standard deviation of the estimates, as a part of the exact share."""
        return stdev(one.share for one in self.estimates) / self.exact

    @property
    def near(self) -> int:
        """Estimates that the exact share differs from by a factor of `FACTOR` at most."""
        return sum(self.exact / FACTOR <= one.share <= self.exact * FACTOR for one in self.estimates)

    @property
    def held(self) -> int:
        """Intervals that hold the exact share."""
        return sum(one.interval[0] <= self.exact <= one.interval[1] for one in self.estimates)

    @property
    def cheaper(self) -> float:
        """How often one repetition goes into the steps of the plain walks."""
        return PLAIN_WALKS * STEPS / self.expanded


def repeated(
    profile: str, faults: str, instance: str, weights: str, clauses: Iterable[str], *, populations: int, seeds: range
) -> list[Repeated]:
    """Estimate the shares of these clauses once a seed, each time from so many populations."""
    world, given = World.of(profile, Environment.named(faults), instance), weights_called(weights)
    asked = chosen_clauses(tuple(clauses))
    answer = answer_of(chain_of(world, given, MOST_STATES), asked, STEPS)
    walker = GuidedWalker(world, given.whole)
    began = perf_counter()
    searched = sum(walker.learned.expanded.values())
    learned = perf_counter()
    found = [split_shares(walker, populations, STEPS, seed) for seed in seeds]
    seconds = (perf_counter() - learned) / len(seeds)
    title, cost = f"{world.title}, {weights}", found[0].expanded
    return [
        Repeated(
            title,
            row.name,
            value_within(row),
            tuple(one.estimates[row.clause] for one in found),
            cost,
            searched,
            seconds,
            learned - began,
        )
        for row in answer.rows
    ]
