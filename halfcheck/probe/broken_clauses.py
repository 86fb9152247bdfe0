"""Which clauses of guarantees the path breaks that explains a trace: it is taken once more, and judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from model_check.trace_validation.forwards import taken
from spec.language import holds
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from model_check.trace_validation.observed import Trace
    from model_check.trace_validation.path_search import PathVerdict
    from spec.language import Property


@dataclass(frozen=True, slots=True)
class BrokenClause:
    """A clause that a path breaks.

    Attributes
    ----------
    steps
        How many steps of the path it takes.
    event
        How many records of the trace had been written by then.
    """

    clause: Property
    steps: int
    event: int

    @property
    def name(self) -> str:
        """Such as ``S1.immune_half``."""
        return f"{self.clause.identifier}.{self.clause.clause}"


def broken_clauses(trace: Trace, verdict: PathVerdict) -> list[BrokenClause]:
    """The clauses that the path of a verdict breaks, in the order in which it does.

    Raises
    ------
    EvaluationError
        The path can't be taken again.
    """
    broken: dict[Property, BrokenClause] = {}
    for number, (step, state, constants) in enumerate(taken(trace, verdict.path, verdict.constants), start=1):
        for clause in TRANSACTIONAL_MESSAGES.clauses:
            if clause not in broken and not holds(state, constants, clause):
                broken[clause] = BrokenClause(clause, number, step.before)
    return list(broken.values())
