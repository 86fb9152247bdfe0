"""The violations that some populations have met, their cost, and the share of plain walks that have them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from math import exp, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from model_check.clauses import name_of
from model_check.walks.guided.population import MOST, Population
from model_check.walks.guided.state_space import are_violated
from model_check.walks.walk import require_numbers
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from model_check.walks.guided.walker import GuidedWalker
    from spec.constants import Instance
    from spec.language import Property

STUDENT_95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045,
)  # fmt: skip
"""Student's t for 95 % on two sides, by degrees of freedom from 1 on; beyond them that of the normal distribution."""

NORMAL_95 = 1.96


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share of plain walks, estimated without bias by the mean of independent populations."""

    share: float
    standard_error: float
    populations: int  # how many were drawn; with one there is no error and no interval

    @property
    def interval(self) -> tuple[float, float]:
        """Of 95 %, on the scale of the logarithm, since such a mean is never negative and leans to the right."""
        if self.populations < 2 or self.share == 0:
            return 0.0, 1.0
        degrees = self.populations - 1
        t = STUDENT_95[degrees - 1] if degrees <= len(STUDENT_95) else NORMAL_95
        factor = exp(t * self.standard_error / self.share)
        return self.share / factor, min(self.share * factor, 1.0)

    def to_json(self) -> dict[str, Any]:
        """The estimate as plain data."""
        return {
            "share": self.share,
            "standard_error": self.standard_error,
            "interval_95": list(self.interval),
            "populations": self.populations,
        }


def estimate(shares: Sequence[float]) -> Estimate:
    """The estimate from the shares that independent populations gave."""
    count = len(shares)
    error = float(np.std(shares, ddof=1)) / sqrt(count) if count > 1 else 0.0
    return Estimate(float(np.mean(shares)), error, count)


@dataclass(frozen=True, slots=True)
class Met:
    """A clause that walks have violated."""

    clause: Property
    is_rare: bool  # whether walks were split for it
    cost: int  # states that were expanded, in searches and walks, when the first walk violated it
    # the number of the first walk that violates it, to make it again; None if none of them went on to the end
    trace: int | None
    # of plain weighted walks that violate it; None if there was none but the plain population
    estimate: Estimate | None

    @property
    def name(self) -> str:
        """Of its clause, such as `S1.lost_op`."""
        return name_of(self.clause)

    def to_json(self) -> dict[str, Any]:
        """The clause as plain data."""
        content = {"cost_at_first": self.cost, "is_rare": self.is_rare, "trace": self.trace}
        return content if self.estimate is None else content | self.estimate.to_json()


@dataclass(frozen=True, slots=True)
class Account:
    """The violations that some populations have met, soonest first, and their cost."""

    met: tuple[Met, ...]
    searched: Mapping[Instance, int]  # instance → states that were expanded in its search
    walked: int  # states that were expanded in walks
    walks: int

    @property
    def cost(self) -> int:
        """All states that were expanded."""
        return sum(self.searched.values()) + self.walked

    def to_json(self) -> dict[str, Any]:
        """The account as plain data."""
        searched = {instance.name: states for instance, states in self.searched.items()}
        return {
            "cost": {"searched": searched, "walked": self.walked, "all": self.cost},
            "walks": self.walks,
            "met": {one.name: one.to_json() for one in self.met},
        }


def account_of(
    walker: GuidedWalker,
    seed: int,
    steps: int,
    *,
    most: int,
    walks: int | None = None,
    until: Collection[Property] = (),
) -> Account:
    """Walk populations, until one more could expand more states than `most` in all, or as many `walks` were taken.

    No more are walked when all clauses of `until` were met.

    Raises what `Walker.walk` does.
    """
    require_numbers(seed, 0, walks or 0, steps)
    populations: list[Population] = []
    before: list[int] = []
    searched: Mapping[Instance, int] = {}
    rare: Collection[int] = ()
    spent = 0
    awaited = [bit for bit, clause in enumerate(TRANSACTIONAL_MESSAGES.clauses) if clause in until]
    for number in count():
        if walks is not None and number * MOST >= walks:
            break
        if number == 1:
            searched, rare = walker.learned.expanded, walker.rare(seed, steps).clauses.tolist()
            spent += sum(searched.values())
        if spent + MOST * steps > most:
            break
        populations.append(walker.population(seed, number, steps))
        before.append(spent)
        spent += populations[-1].expanded
        if until and all(any(one.first[bit] >= 0 for one in populations) for bit in awaited):
            break
    met = sorted(_met(populations, before, rare), key=lambda one: one.cost)
    return Account(tuple(met), searched, sum(one.expanded for one in populations), MOST * len(populations))


def _met(populations: Sequence[Population], before: Sequence[int], rare: Collection[int]) -> Iterator[Met]:
    for bit, clause in enumerate(TRANSACTIONAL_MESSAGES.clauses):
        hits = [number for number, one in enumerate(populations) if one.first[bit] >= 0]
        if not hits:
            continue
        ends = ((n, np.flatnonzero(are_violated(populations[n].met, [bit])[:, 0])) for n in hits)
        traces = (n * MOST + int(walks[0]) for n, walks in ends if walks.size)
        split = [float(one.shares[bit]) for one in populations[1:]]
        yield Met(
            clause,
            bit in rare,
            before[hits[0]] + int(populations[hits[0]].first[bit]),
            next(traces, None),
            estimate(split) if split else None,
        )
