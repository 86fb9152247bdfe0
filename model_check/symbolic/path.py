"""The path that a solver has found, step by step against the CPython engine: both agree on each path that is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import z3

from model_check.counterexample.steps import replay
from model_check.errors import EvaluationError, ModelCheckError
from spec.language import Property, SpecificationError, Step, holds, successors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.symbolic.relation import Relation
    from model_check.symbolic.unrolling import Unrolling


def agreed_path(runs: Unrolling, clause: Property) -> list[Step]:
    """Of all runs that the solver holds, the first in the order of declared actions and parameters.

    Parameters
    ----------
    runs : Unrolling
        Whose solver was just asked for a violation of the clause, and has found one. Used up by this.
    clause : Property

    Raises
    ------
    EvaluationError
        When the CPython engine refuses a step, or sees no violation at the end of the path or one before.
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


def what_goes_wrong(relation: Relation, taken: Sequence[int], clause: Property) -> str:
    """What the CPython engine says of a run that leads to a value out of its range, or to an index of no element.

    Parameters
    ----------
    relation : Relation
    taken : sequence of int
        The numbers of the relation's steps; one of those that may follow, or the judgement of the clause, goes wrong.
    clause : Property
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
