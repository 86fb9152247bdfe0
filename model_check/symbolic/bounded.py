"""Bounded model checking: is a clause violated after 0, 1, 2 … steps? The first yes is a shortest counterexample.

What is asked at a depth is only whether the clause fails there; that it holds at all lesser depths is known by then,
and the solver is told. Of all shortest counterexamples the first in the order of declared actions and parameters is
given, which is the one that the explicit search gives.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from time import perf_counter
from typing import TYPE_CHECKING

import z3

from model_check.errors import EvaluationError, ModelCheckError
from model_check.symbolic.path import agreed_path, what_goes_wrong
from model_check.symbolic.relation import relation_of
from model_check.symbolic.truth import Truth, disjunction
from model_check.symbolic.unrolling import Unrolling

if TYPE_CHECKING:
    from collections.abc import Callable

    from spec.language import Machine, Property, Step


class BoundedVerdict(Enum):
    """Three values; a search to a bound never says that a clause holds of all reachable states."""

    VIOLATED = "violated"
    HOLDS_TO_BOUND = "holds_to_bound"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class BoundedResult:
    """What a search to a bound has found.

    Attributes
    ----------
    verdict : BoundedVerdict
    depth : int
        Steps of the shortest violation; without one, the depth up to which there is none (-1 when not even that of the
        initial state is known).
    path : list of Step or None
        The first shortest violation.
    seconds : float
        Of the whole search, making the formulas included.
    reason : str or None
        Why the verdict is unknown.
    """

    verdict: BoundedVerdict
    depth: int
    path: list[Step] | None
    seconds: float
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class DepthDone:
    """A depth at which the clause holds, and the seconds that this took."""

    depth: int
    seconds: float


def search(
    machine: Machine,
    constants: object,
    clause: Property,
    most_steps: int,
    report: Callable[[DepthDone], None] | None = None,
) -> BoundedResult:
    """Look for a shortest violation of a clause, of at most `most_steps` steps.

    Parameters
    ----------
    machine, clause
        One of the machine's clauses.
    constants : object
        The instance, with the switches of a profile and an environment.
    report : callable or None
        Called after each depth at which the clause holds; after Ctrl-C the verdict is unknown.

    Raises
    ------
    ModelCheckError
        When `most_steps` is negative.
    NotInTheLanguage
        When the specification's source uses something that is not part of the language.
    EvaluationError
        When a step on the way leaves a declared range or the bounds of an array, or the CPython engine does not agree
        with the path that was found.
    """
    if most_steps < 0:
        msg = f"a search to depth {most_steps}: give 0 or more steps"
        raise ModelCheckError(msg)
    started = perf_counter()
    settled = -1

    def result(verdict: BoundedVerdict, path: list[Step] | None = None, reason: str | None = None) -> BoundedResult:
        return BoundedResult(verdict, settled if path is None else len(path), path, perf_counter() - started, reason)

    try:
        relation = relation_of(machine, constants)
        violated, badly_judged = relation.violated(clause)
        wrong = disjunction([badly_judged, *(step.wrong for step in relation.steps)])
        runs = Unrolling(relation, (violated, wrong))
        for depth in range(most_steps + 1):
            began = perf_counter()
            for question, is_violation in ((violated, True), (wrong, False)):
                answer = _ask(runs, question)
                if answer == z3.unknown:
                    return result(BoundedVerdict.UNKNOWN, reason=f"at depth {depth}: {runs.solver.reason_unknown()}")
                if answer == z3.sat and is_violation:
                    return result(BoundedVerdict.VIOLATED, agreed_path(runs, clause))
                if answer == z3.sat:
                    raise EvaluationError(what_goes_wrong(relation, runs.taken(), clause))
            settled = depth
            if report is not None:
                report(DepthDone(depth, perf_counter() - began))
            if depth < most_steps:
                runs.go_on()
    except KeyboardInterrupt:
        return result(BoundedVerdict.UNKNOWN, reason=f"interrupted behind depth {settled}")
    return result(BoundedVerdict.HOLDS_TO_BOUND)


def _ask(runs: Unrolling, question: Truth) -> z3.CheckSatResult:
    """Whether some run ends as asked. If so, the solver then holds the runs that do; if not, it then knows."""
    if question is False:
        return z3.unsat
    formula, solver = runs.at_end(question), runs.solver
    solver.push()
    solver.add(formula)
    answer = solver.check()
    if answer == z3.unsat:
        solver.pop()
        solver.add(z3.Not(formula))
    return answer
