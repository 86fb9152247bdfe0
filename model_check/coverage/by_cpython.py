"""Coverage by running the actions themselves on every state: the judge of the compiled counts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from model_check.coverage.counts import Coverage, coverage_of
from model_check.front_end.guards import place_of_refusal
from spec.language import Machine, holds, is_witnessed, take

if TYPE_CHECKING:
    from collections.abc import Iterable

    from model_check.coverage.counts import Place


def cover(machine: Machine, constants: object, states: Iterable[tuple[int, ...]]) -> Coverage:
    """Count over canonical states, each of them once.

    Raises
    ------
    SpecificationError
        When an action writes a value outside its field's declared range.
    """
    steps = machine.steps(constants)
    state = machine.initial(constants)
    enabled: Counter[str] = Counter()
    first_false: Counter[Place] = Counter()
    claims = [0] * (len(machine.clauses) + len(machine.witnesses))
    number = 0
    for values in states:
        number += 1
        state.load(values)
        for bit, clause in enumerate(machine.clauses):
            claims[bit] += not holds(state, constants, clause)
        for bit, witness in enumerate(machine.witnesses, len(machine.clauses)):
            claims[bit] += is_witnessed(state, constants, witness)
        for step in steps:
            refused = take(state, constants, step)
            if refused is None:
                enabled[step.action.name] += 1
                state.load(values)
            else:
                first_false[step.action.name, place_of_refusal(refused)] += 1
    return coverage_of(machine, number, enabled, first_false, claims)
