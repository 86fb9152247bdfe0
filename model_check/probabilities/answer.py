"""How likely each clause of a world is to be violated: the chain solved, and walks beside it where they are wanted."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

from model_check.clauses import name_of
from model_check.probabilities.solve import Probability, Solver

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from model_check.probabilities.chain import Chain
    from model_check.probabilities.sampled import SampledShare, SplitShares
    from model_check.probabilities.weights import Weights
    from model_check.world import World
    from spec.language import Property


@dataclass(frozen=True, slots=True)
class ClauseProbability:
    """How likely a run is to violate a clause."""

    clause: Property
    ever: Probability
    within: Probability | None
    """The same within some steps; None where no number of them was asked for."""

    @property
    def name(self) -> str:
        """Of its clause, such as `S1.lost_op`."""
        return name_of(self.clause)


@dataclass(frozen=True, slots=True)
class ProbabilityAnswer:
    """The probabilities of a world, likeliest clauses first."""

    world: World
    weights: Weights
    states: int
    transitions: int
    is_whole: bool
    steps: int | None
    rows: tuple[ClauseProbability, ...]
    never: tuple[Property, ...]
    """Clauses that no state of the chain violates."""
    full_queue: Probability
    """Of runs that come to a state with a full half queue or op queue, where the instance may leave something out."""
    seconds: float
    sampled: Mapping[Property, SampledShare] = field(default_factory=dict)
    """Shares of random walks beside them; of no clause where none were taken."""
    split: SplitShares | None = None
    """Likewise of walks that were split."""

    def to_json(self) -> dict[str, Any]:
        """The answer as the plain data that scripts rely on."""
        return {
            "profile": self.world.profile.name,
            "environment": list(self.world.environment),
            "instance": self.world.sizes_to_json(),
            "weights": self.weights.to_json(),
            "steps": self.steps,
            "states": self.states,
            "transitions": self.transitions,
            "whole": self.is_whole,
            "clauses": {row.name: self._row_to_json(row) for row in self.rows},
            "never": [name_of(clause) for clause in self.never],
            "full_queue": self.full_queue.to_json(),
            "seconds": round(self.seconds, 3),
        }

    def _row_to_json(self, row: ClauseProbability) -> dict[str, Any]:
        content: dict[str, Any] = {"ever": row.ever.to_json()}
        if row.within is not None:
            content["within"] = row.within.to_json()
        if row.clause in self.sampled:
            content["sampled"] = self.sampled[row.clause].to_json()
        if self.split is not None and row.clause in self.split.estimates:
            content["split"] = self.split.estimates[row.clause].to_json()
        return content


def answer_of(
    chain: Chain,
    clauses: Sequence[Property],
    steps: int | None = None,
    report: Callable[[int, int], None] | None = None,
) -> ProbabilityAnswer:
    """Solve a chain for each of these clauses that one of its states violates.

    `report` is told how many clauses are solved, and of how many.
    """
    began = perf_counter()
    violating = chain.violating(clauses)
    found = [not chain.is_whole or bool(goal.any()) for goal in violating.T]
    asked = [(clause, goal) for clause, goal, is_met in zip(clauses, violating.T, found, strict=True) if is_met]
    solver = Solver(chain)
    rows = []
    for clause, goal in asked:
        within = None if steps is None else solver.within(goal, steps)
        rows.append(ClauseProbability(clause, solver.ever(goal), within))
        if report is not None:
            report(len(rows), len(asked))
    return ProbabilityAnswer(
        chain.world,
        chain.weights,
        chain.states,
        chain.steps.nnz,
        chain.is_whole,
        steps,
        tuple(sorted(rows, key=lambda row: -row.ever.value)),
        tuple(clause for clause, is_met in zip(clauses, found, strict=True) if not is_met),
        solver.ever(chain.at_full_queue),
        chain.seconds + perf_counter() - began,
    )
