"""Shares of about one in a million, estimated by walks that are split, again and again, beside the exact ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import sqrt
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from benchmarks.probabilities.kept import kept
from benchmarks.probabilities.worlds import MOST_STATES, STEPS, WeighedWorld, value_within
from model_check.clauses import chosen_clauses, name_of
from model_check.probabilities.answer import answer_of
from model_check.probabilities.chain import chain_of
from model_check.probabilities.exact_interval import exact_interval
from model_check.walks.guided.account import Estimate, estimate
from model_check.walks.guided.exploring import explored
from model_check.walks.guided.state_space import LAW
from model_check.walks.guided.walker import GuidedWalker
from model_check.walks.walk import Walker
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RARE_WORLDS: Final = (
    WeighedWorld("5.3.3", "crash", "deep", "reliable_hosts"),
    WeighedWorld("5.5.1", "crash", "deep", "reliable_hosts"),
)
"""Each has more states than are searched before walks are split."""

SMALLEST: Final = 1e-7
LARGEST: Final = 1e-5
"""Clauses are looked at whose exact share lies between."""

POPULATIONS: Final = 10
"""That an estimate is the mean of."""

FACTOR: Final = 1.5
PLAIN_WALKS: Final = 20_000
"""By which it is known how many steps a walk takes."""


@dataclass(frozen=True)
class Repeated:
    """The estimates of a clause: of the populations behind each exploration, so many at a time."""

    world: str
    clause: str
    exact: float
    estimates: Sequence[Estimate]
    explored: float
    """States whose steps an exploration takes, searches included."""
    expanded: float
    """States whose steps an estimate takes behind it."""
    steps: float
    """Of a plain walk."""

    @property
    def mean(self) -> float:
        """Of the estimates."""
        return fmean(one.share for one in self.estimates)

    @property
    def mean_error(self) -> float:
        """Its standard error."""
        return self.spread * self.exact / sqrt(len(self.estimates))

    @property
    def spread(self) -> float:
        """The standard deviation of an estimate, as a part of the exact share."""
        return stdev(one.share for one in self.estimates) / self.exact

    @property
    def near(self) -> int:
        """Estimates that differ from the exact share by a factor of `FACTOR` at most."""
        return sum(self.exact / FACTOR <= one.share <= self.exact * FACTOR for one in self.estimates)

    @property
    def held(self) -> int:
        """Intervals that hold the exact share."""
        return sum(low <= self.exact <= high for low, high in (one.interval for one in self.estimates))

    @property
    def held_interval(self) -> tuple[float, float]:
        """Between which the chance of an interval to hold it lies, with 95 %."""
        return exact_interval(self.held, len(self.estimates))

    @property
    def cost(self) -> float:
        """States of one estimate, with all that is explored for it."""
        return self.explored + self.expanded

    @property
    def cheaper(self) -> float:
        """How often the cost goes into the steps of as many plain walks as give as small an error."""
        return (1 - self.exact) / (self.exact * self.spread**2) * self.steps / self.cost


@cache
def _walker(number: int) -> GuidedWalker:
    weighed = RARE_WORLDS[number]
    return GuidedWalker(weighed.world, weighed.given.whole)


def exploration(number: int, seed: int, populations: int) -> Any:
    """The shares that so many populations give behind an exploration with this seed, kept: plain data."""

    def make() -> Any:
        found = explored(_walker(number), seed, STEPS)
        each = [found.population(place) for place in range(populations)]
        columns = np.array([one.shares for one in each]).T.tolist()
        named = zip(TRANSACTIONAL_MESSAGES.clauses, columns, strict=True)
        shares = {name_of(clause): own for clause, own in named if any(own)}
        return {"explored": found.expanded, "expanded": fmean(one.expanded for one in each), "shares": shares}

    return kept(f"{RARE_WORLDS[number].file_name}-{populations}-{seed}", make)


def exact_shares(number: int) -> Any:
    """The probability of each rare clause within the steps, and the steps of a plain walk, kept: plain data."""
    weighed = RARE_WORLDS[number]

    def make() -> Any:
        answer = answer_of(chain_of(weighed.world, weighed.given, MOST_STATES), chosen_clauses(()), STEPS)
        shares = {row.name: value_within(row) for row in answer.rows}
        _, taken = Walker(weighed.world, LAW, weighed.given.whole).violated(1, 0, PLAIN_WALKS, STEPS)
        rare = {name: share for name, share in shares.items() if SMALLEST < share < LARGEST}
        return {"states": answer.states, "steps": taken / PLAIN_WALKS, "shares": rare}

    return kept(f"{weighed.file_name}-exact", make)


def repeated(
    weighed: WeighedWorld, exact: Mapping[str, Any], explorations: Sequence[Mapping[str, Any]]
) -> list[Repeated]:
    """The estimates of each rare clause of a world."""
    found = []
    for clause, share in exact["shares"].items():
        estimates = []
        for one in explorations:
            own = one["shares"].get(clause, ())
            estimates += [estimate(own[at : at + POPULATIONS]) for at in range(0, len(own), POPULATIONS)]
        explored_states, expanded = (fmean(one[name] for one in explorations) for name in ("explored", "expanded"))
        title = str(weighed)
        found.append(Repeated(title, clause, share, estimates, explored_states, expanded * POPULATIONS, exact["steps"]))
    return found
