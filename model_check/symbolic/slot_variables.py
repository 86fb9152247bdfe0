"""The Boolean variables of a slot: how an integer with a declared range is given to the solver.

A flag is one variable, and so is each member of a set. A number has one for each of its values, of which exactly one is
true; one in all where it has two values, none where it has one. Binary digits instead made the deepest search that was
measured (A02, 18 steps) take four tenths longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import z3

from model_check.symbolic.truth import Formula, Truth, negation
from model_check.symbolic.values import Members, Number, Value, known
from spec.language import Kind, Slot

if TYPE_CHECKING:
    from collections.abc import Sequence


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
    """A value of a slot as values of the variables that the slot is made of."""
    if isinstance(value, Members):
        return list(value.bits)
    if not isinstance(value, Number):
        return [value]
    return [value.cases.get(v, False) for v in _told_apart(slot)]


def assigned(slot: Slot, value: int) -> list[bool]:
    """The values of a slot's variables where the slot holds a number; the mask of a set."""
    if slot.kind is Kind.BITS:
        return [bool(value >> i & 1) for i in range(slot.high.bit_length())]
    return [value == v for v in _told_apart(slot)]


def _told_apart(slot: Slot) -> Sequence[int]:
    """The values of a number or a flag that have a variable."""
    return range(slot.low, slot.high + 1) if is_one_hot(slot) else range(slot.low + 1, slot.high + 1)
