"""Successors by the formulas of the Z3 engine, a concrete state put in for their variables."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import z3

from model_check.symbolic.relation import is_one_hot
from model_check.symbolic.unrolling import Unrolling
from spec.language import Kind, RangeViolation, successors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from model_check.symbolic.relation import Relation
    from model_check.symbolic.values import Formula, Truth
    from spec.language import Slot

Values = tuple[int, ...]
Found = dict[str, Values]

GOES_WRONG: Values = ()
"""What stands for the successor when a value leaves its declared range."""


def values_of(relation: Relation, assignment: Iterable[bool]) -> Values:
    """The canonical state in which the variables have these values; the inverse of `Relation.assignment`."""
    given = iter(assignment)
    return tuple(_value_of(slot, given) for members in relation.slots.values() for slot in members)


def _value_of(slot: Slot, given: Iterator[bool]) -> int:
    if slot.kind is Kind.BITS:
        return sum(next(given) << i for i in range(slot.high.bit_length()))
    least = slot.low if is_one_hot(slot) else slot.low + 1
    held = [v for v in range(least, slot.high + 1) if next(given)]
    assert len(held) == 1 or (not held and not is_one_hot(slot)), f"{slot.label} holds {held or 'none of its values'}"
    return held[0] if held else slot.low


class Formulas:
    """The guards and the updates of all steps in one term, so that a state is put in once."""

    def __init__(self, relation: Relation) -> None:
        self.relation = relation
        self.together = Together(
            relation, (part for s in relation.steps for part in (s.guard, s.wrong, *s.updates.values()))
        )

    def successors(self, values: Values) -> Found:
        """Step → canonical state after it, for the enabled steps."""
        before = self.relation.assignment(values)
        bits = self.together.decided(values)
        found = {}
        for step in self.relation.steps:
            is_enabled, is_wrong, after = next(bits), next(bits), list(before)
            for i in step.updates:
                after[i] = next(bits)
            if is_wrong:
                found[str(step.step)] = GOES_WRONG
            elif is_enabled:
                found[str(step.step)] = values_of(self.relation, after)
        return found


class Together:
    """Conditions as the parts of one term, each of them once, so that a state is put into all of them at once."""

    def __init__(self, relation: Relation, conditions: Iterable[Truth]) -> None:
        self.relation = relation
        parts: dict[int, tuple[int, Formula]] = {}
        self._places = []
        for condition in conditions:
            part = z3.BoolVal(condition, relation.context) if isinstance(condition, bool) else condition
            self._places.append(parts.setdefault(part.get_id(), (len(parts), part))[0])
        function = z3.Function("together", *[z3.BoolSort(relation.context)] * (len(parts) + 1))
        self._term = function(*(part for _, part in parts.values()))

    def decided(self, values: Values) -> Iterator[bool]:
        """The conditions in a state."""
        known = (z3.BoolVal(value, self.relation.context) for value in self.relation.assignment(values))
        there = z3.simplify(z3.substitute(self._term, *zip(self.relation.variables, known, strict=True)))
        parts = [_decided(part) for part in there.children()]
        return (parts[place] for place in self._places)


def _decided(term: Any) -> bool:
    assert z3.is_true(term) or z3.is_false(term), f"{term} is not decided by the state"
    return bool(z3.is_true(term))


def by_the_solver(relation: Relation, values: Values) -> Found:
    """The same from the unrolled relation: all runs of one step, one after the other."""
    runs = Unrolling(replace(relation, initial=relation.assignment(values)), relation.variables)
    runs.go_on()
    found = {}
    while runs.solver.check() == z3.sat:
        model, (number,) = runs.solver.model(), runs.taken()
        step = str(relation.steps[number].step)
        assert step not in found, f"{step} leads to two states"
        after = [_decided(model.eval(bit, model_completion=True)) for bit in runs.states[-1]]
        found[step] = values_of(relation, after)
        runs.solver.add(z3.Not(z3.And(runs.picks[0][number], *_as_found(model, runs.states[-1]))))
    return found


def _as_found(model: Any, state: Iterable[Any]) -> list[Any]:
    return [bit == model.eval(bit, model_completion=True) for bit in state]


def in_cpython(relation: Relation, values: Values) -> Found:
    """The judge: the actions themselves."""
    machine, constants = relation.machine, relation.constants
    state = machine.initial(constants)
    found = {}
    for step in machine.steps(constants):
        try:
            found.update({str(s): after for s, after in successors(state.load(values), constants, (step,))})
        except RangeViolation:
            found[str(step)] = GOES_WRONG
    return found


def first_difference(relation: Relation, states: Iterable[Values]) -> str | None:
    """The first step on which the formulas and CPython do not agree, with what each says; None if there is none."""
    formulas = Formulas(relation)
    for values in states:
        ours, theirs = formulas.successors(values), in_cpython(relation, values)
        for step in sorted({*ours, *theirs}):
            if ours.get(step) != theirs.get(step):
                return f"{step} from {values}: {ours.get(step)}, but in CPython {theirs.get(step)}"
    return None
