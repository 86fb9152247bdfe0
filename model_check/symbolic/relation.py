"""The transition relation of a machine in an instance: the variables of a state, and what each step does with them.

The variables of a slot are Boolean. A flag is one, and so is each member of a set. A number has one for each of
its values, of which exactly one is true; one in all where it has two values, none where it has one. Binary digits
instead made the deepest search that was measured (A02, 18 steps) take four tenths longer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from typing import TYPE_CHECKING

import z3

from model_check.front_end.lower import Lowering
from model_check.symbolic.if_conversion import Conversion, Effect, State
from model_check.symbolic.values import Formula, Members, Number, Truth, Value, disjunction, known, negation
from spec.language import Kind, Machine, Property, Slot, Step, slots_of_fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from model_check.front_end.terms import Path


@dataclass(frozen=True, slots=True)
class SymbolicStep:
    """An action with its parameters chosen, as formulas over the variables of the state before."""

    step: Step
    guard: Truth  # whether it is enabled
    updates: Mapping[int, Truth]  # number of a variable → its value afterwards, for those that the step may change
    wrong: Truth  # whether trying it would leave a declared range, or the bounds of an array


@dataclass(frozen=True)
class Relation:
    """The steps of a machine in an instance, under the switches of a profile and an environment."""

    machine: Machine
    constants: object
    slots: Mapping[Path, tuple[Slot, ...]]
    state: State  # a state, each element over its variables
    variables: tuple[Formula, ...]  # the Boolean variables of a state, in the order of its slots
    initial: tuple[bool, ...]  # their values in the initial state
    # in the order of the machine's actions and parameters, without those that these switches never enable
    steps: tuple[SymbolicStep, ...]
    context: z3.Context  # one of its own, so that answers do not depend on what was asked before

    def violated(self, claim: Property) -> tuple[Truth, Truth]:
        """Whether a clause is false for some choice of its parameters, and whether judging it goes wrong."""
        lowering = Lowering(self.machine, self.constants)
        found, wrong = [], []
        for arguments in product(*(choices.values(self.constants) for choices in claim.parameters.values())):
            conversion = Conversion(self.slots, switches_of(self.machine, self.constants), self.state)
            holds, badly = conversion.claim(lowering.claim(claim, arguments))
            found.append(negation(holds))
            wrong.append(badly)
        return disjunction(found), self._if_possible(disjunction(wrong))

    def assignment(self, values: tuple[int, ...]) -> tuple[bool, ...]:
        """The values of the variables in a canonical state."""
        slots = [slot for members in self.slots.values() for slot in members]
        return tuple(bit for slot, value in zip(slots, values, strict=True) for bit in _assigned(slot, value))

    def possible(self) -> Relation:
        """The same, with `wrong` known to be False where no state within the declared ranges makes it so."""
        return replace(self, steps=tuple(replace(s, wrong=self._if_possible(s.wrong)) for s in self.steps))

    def _if_possible(self, condition: Truth) -> Truth:
        if isinstance(condition, bool):
            return condition
        solver = z3.SolverFor("QF_FD", ctx=self.context)
        solver.add(condition, self._within_ranges)
        return solver.check() != z3.unsat and condition

    @cached_property
    def _within_ranges(self) -> Formula:
        """That each number has exactly one value."""
        rules: list[Formula] = [z3.BoolVal(True, self.context)]
        for members, elements in zip(self.slots.values(), self.state.values(), strict=True):
            for slot, element in zip(members, elements, strict=True):
                if is_one_hot(slot):
                    ones = conditions_of(slot, element)
                    others = [negation(one) for one in ones]
                    rules += [z3.Or(ones), *(z3.Or(pair) for pair in combinations(others, 2))]
        return z3.And(rules)


def relation_of(machine: Machine, constants: object, conversion: type[Conversion] = Conversion) -> Relation:
    """Convert every step of a machine in an instance.

    `NotInTheLanguage` when the specification's source uses something that is not part of the language.
    """
    context = z3.Context()
    slots: dict[Path, tuple[Slot, ...]] = {}
    state: State = {}
    variables: list[Formula] = []
    for path, own in slots_of_fields(machine.state, constants):
        made = [variables_of(slot, context) for slot in own]
        slots[path] = own
        state[path] = tuple(value for value, _ in made)
        variables += [variable for _, fresh in made for variable in fresh]
    lowering, switches = Lowering(machine, constants), switches_of(machine, constants)
    steps = []
    for step in machine.steps(constants):
        effect = conversion(slots, switches, state).effect(lowering.action(step))
        if effect.guard is not False or effect.wrong is not False:
            steps.append(SymbolicStep(step, effect.guard, dict(_updates(slots, state, effect)), effect.wrong))
    relation = Relation(machine, constants, slots, state, tuple(variables), (), tuple(steps), context)
    initial = relation.assignment(machine.initial(constants).canonical())
    return replace(relation, initial=initial).possible()


def switches_of(machine: Machine, constants: object) -> dict[str, bool]:
    """The value of each switch of a machine."""
    return {name: bool(getattr(constants, name)) for name in machine.switches}


def _updates(slots: Mapping[Path, tuple[Slot, ...]], before: State, effect: Effect) -> Iterator[tuple[int, Truth]]:
    """The variables that a step may change, by their numbers, and their values afterwards."""
    number = 0
    for path, members in slots.items():
        for slot, old, new in zip(members, before[path], effect.after[path], strict=True):
            was = conditions_of(slot, old)
            if new is not old:
                for i, (a, b) in enumerate(zip(was, conditions_of(slot, new), strict=True)):
                    if isinstance(a, bool) or isinstance(b, bool) or not a.eq(b):
                        yield number + i, b
            number += len(was)


# --- the variables of a slot ------------------------------------------------------------------------------------------


def is_one_hot(slot: Slot) -> bool:
    """Whether the slot has a variable for each of its values."""
    return slot.kind is not Kind.BITS and slot.high - slot.low > 1


def variables_of(slot: Slot, context: z3.Context) -> tuple[Value, list[Formula]]:
    """The symbolic value of a slot, and the variables that it is made of, named after the slot."""
    if slot.kind is Kind.BITS:
        bits = [z3.Bool(f"{slot.label}:{i}", context) for i in range(slot.high.bit_length())]
        return Members(tuple(bits)), bits
    if slot.low == slot.high:
        return known(slot.low), []
    if slot.kind is Kind.FLAG:
        flag = z3.Bool(slot.label, context)
        return flag, [flag]
    if not is_one_hot(slot):
        upper = z3.Bool(f"{slot.label}={slot.high}", context)
        return Number({slot.low: negation(upper), slot.high: upper}), [upper]
    cases = {v: z3.Bool(f"{slot.label}={v}", context) for v in range(slot.low, slot.high + 1)}
    return Number(dict(cases)), list(cases.values())


def conditions_of(slot: Slot, value: Value) -> list[Truth]:
    """A value of a slot as values of the variables that the slot is made of; none for a slot with one value."""
    if slot.low == slot.high:
        return []
    if isinstance(value, Members):
        return list(value.bits)
    if not isinstance(value, Number):
        return [value]
    return [value.cases.get(v, False) for v in _values_with_a_variable(slot)]


def _assigned(slot: Slot, value: int) -> list[bool]:
    """The values of a slot's variables where the slot holds a number; the mask of a set."""
    if slot.kind is Kind.BITS:
        return [bool(value >> i & 1) for i in range(slot.high.bit_length())]
    return [value == v for v in _values_with_a_variable(slot)]


def _values_with_a_variable(slot: Slot) -> Sequence[int]:
    """The values of a number or a flag that have a variable."""
    return range(slot.low, slot.high + 1) if is_one_hot(slot) else range(slot.low + 1, slot.high + 1)
