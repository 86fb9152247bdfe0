"""Bounded model checking: is a clause violated after 0, 1, 2 … steps? The first yes is a shortest counterexample.

What is asked at a depth is only whether the clause fails there; that it holds at all lesser depths is known by then,
and is a fact to the solver. Of all shortest counterexamples the first in the order of declared actions and parameters
is given, as by the explicit search; the CPython engine takes each path that is given step by step.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from time import perf_counter
from typing import TYPE_CHECKING

import z3

from model_check.counterexample.steps import replay
from model_check.errors import EvaluationError, ModelCheckError
from model_check.symbolic.relation import Relation, relation_of
from model_check.symbolic.unrolling import Unrolling
from model_check.symbolic.values import Truth, disjunction
from spec.language import Machine, Property, SpecificationError, Step, holds, successors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class BoundedVerdict(Enum):
    """Three values; a search to a bound never says that a clause holds of all reachable states."""

    VIOLATED = "violated"
    HOLDS_TO_BOUND = "holds_to_bound"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class BoundedResult:
    """The result of a search to a bound."""

    verdict: BoundedVerdict
    depth: int  # steps of the shortest violation; without one, the depth up to which there is none, or -1
    path: list[Step] | None  # the first shortest violation
    seconds: float  # of the whole search, making the formulas included
    reason: str | None = None  # why the verdict is unknown


def search(
    machine: Machine, constants: object, clause: Property, most_steps: int, report: Callable[[int], None] | None = None
) -> BoundedResult:
    """Look for a shortest violation of a clause, of at most `most_steps` steps.

    `report` is called after each depth at which the clause holds; after Ctrl-C the verdict is unknown.

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
            for question, is_violation in ((violated, True), (wrong, False)):
                answer = _ask(runs, question)
                if answer == z3.unknown:
                    return result(BoundedVerdict.UNKNOWN, reason=f"at depth {depth}: {runs.solver.reason_unknown()}")
                if answer == z3.sat and is_violation:
                    return result(BoundedVerdict.VIOLATED, _agreed_path(runs, clause))
                if answer == z3.sat:
                    raise EvaluationError(_what_goes_wrong(relation, runs.taken(), clause))
            settled = depth
            if report is not None:
                report(depth)
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


def _agreed_path(runs: Unrolling, clause: Property) -> list[Step]:
    """Of all violations of the clause that the solver has just found, the first in the declared order; uses `runs` up.

    `EvaluationError` when the CPython engine refuses a step, or sees no violation at the end of the path or one before.
    """
    name = f"{clause.identifier}.{clause.clause}"
    machine, constants = runs.relation.machine, runs.relation.constants
    try:
        path = _first_of_all(runs)
        at_first = () if holds(machine.initial(constants), constants, clause) else (clause,)
        before, at_its_end = (at_first + replay(machine, constants, part).violated for part in (path[:-1], path))
    except (ModelCheckError, SpecificationError) as error:
        msg = f"the path that the Z3 engine gives for {name} does not replay: {error}"
        raise EvaluationError(msg) from error
    if (path and clause in before) or clause not in at_its_end:
        when = "before" if clause in before else "not at"
        msg = f"the path that the Z3 engine gives for {name} violates it {when} its end"
        raise EvaluationError(msg)
    return path


def _first_of_all(runs: Unrolling) -> list[Step]:
    """Fix one step after the other; only steps that the CPython engine takes are asked for."""
    relation, solver = runs.relation, runs.solver
    steps = tuple(symbolic.step for symbolic in relation.steps)
    numbers = {step: k for k, step in enumerate(steps)}
    state = relation.machine.initial(relation.constants)
    taken = runs.taken()
    for position, picks in enumerate(runs.picks):
        enabled = {numbers[step]: after for step, after in successors(state, relation.constants, steps)}
        for earlier in (k for k in enabled if k < taken[position]):
            if solver.check(picks[earlier]) == z3.sat:
                taken = runs.taken()
                break
        chosen = taken[position]
        if chosen not in enabled:
            msg = f"step {position + 1}, {steps[chosen]}, is refused"
            raise ModelCheckError(msg)
        solver.add(picks[chosen])
        state.load(enabled[chosen])
    return [steps[k] for k in taken]


def _what_goes_wrong(relation: Relation, taken: Sequence[int], clause: Property) -> str:
    """The CPython engine's error in a run that leads to a value out of its range, or to an index of no element.

    `taken` are the steps to it, by their numbers; a step that may follow, or the judgement of the clause, goes wrong.
    """
    machine, constants = relation.machine, relation.constants
    path = [relation.steps[k].step for k in taken]
    state = machine.initial(constants)
    where = f"after {'; '.join(str(step) for step in path)}" if path else "in the initial state"
    try:
        for step in path:
            step.action.function(state, constants, *step.arguments)
        holds(state, constants, clause)
        for _ in successors(state, constants, machine.steps(constants)):
            pass
    except SpecificationError as error:
        return f"{where}: {error}"
    return f"{where}: a value leaves its declared range, or an index its array, in the Z3 engine only"
