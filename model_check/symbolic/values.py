"""Symbolic values: a number is a table from each value that it can have to the condition under which it has it.

Ranges in the specification are small, so that arithmetic is done on known numbers, and only conditions go to the
solver. A set is a condition for each member, a flag is a condition. Conditions are `True` and `False` where they are
known, Z3 formulas where they are not, folded as they are built.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import z3

from spec.language import SpecificationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Formula = Any  # a Z3 expression of sort Bool
Truth = bool | Formula  # a condition: known (`bool`) or a formula


@dataclass(frozen=True, slots=True)
class Number:
    """An integer: exactly one of the conditions holds."""

    cases: dict[int, Truth]  # value → condition

    def where(self, accepts: Callable[[int], bool]) -> Truth:
        """Whether the value is one that `accepts` says yes to."""
        yes = [condition for value, condition in self.cases.items() if accepts(value)]
        no = [condition for value, condition in self.cases.items() if not accepts(value)]
        return disjunction(yes) if len(yes) <= len(no) else negation(disjunction(no))

    def mapped(self, function: Callable[[int], int]) -> Number:
        """The value of a function of it."""
        return number_of_cases((function(value), condition) for value, condition in self.cases.items())


@dataclass(frozen=True, slots=True)
class Members:
    """A set of small indices: whether each is in it."""

    bits: tuple[Truth, ...]


Value = Truth | Number | Members


def number_of_cases(cases: Iterable[tuple[int, Truth]]) -> Number:
    """The number that has each value under its condition; a value may be given more than once."""
    merged: dict[int, list[Truth]] = {}
    for value, condition in cases:
        if condition is not False:
            merged.setdefault(value, []).append(condition)
    return Number({value: disjunction(conditions) for value, conditions in merged.items()})


def known(value: int) -> Number:
    """A number that is known."""
    return Number({value: True})


# --- conditions -------------------------------------------------------------------------------------------------------


def both(left: Truth, right: Truth) -> Truth:
    """Whether two conditions hold."""
    return conjunction((left, right))


def conjunction(conditions: Iterable[Truth]) -> Truth:
    """Whether all hold; True for none."""
    open_ones = _open_ones(conditions, absorbing=False)
    if open_ones is None:
        return False
    return True if not open_ones else open_ones[0] if len(open_ones) == 1 else z3.And(open_ones)


def disjunction(conditions: Iterable[Truth]) -> Truth:
    """Whether one holds; False for none."""
    open_ones = _open_ones(conditions, absorbing=True)
    if open_ones is None:
        return True
    return False if not open_ones else open_ones[0] if len(open_ones) == 1 else z3.Or(open_ones)


def negation(condition: Truth) -> Truth:
    """Whether it does not hold."""
    if isinstance(condition, bool):
        return not condition
    return condition.arg(0) if z3.is_not(condition) else z3.Not(condition)


def choice(test: Truth, then: Truth, otherwise: Truth) -> Truth:
    """The second condition where the first holds, the third elsewhere."""
    if isinstance(test, bool):
        return then if test else otherwise
    if isinstance(then, bool):
        return disjunction((test, otherwise)) if then else both(negation(test), otherwise)
    if isinstance(otherwise, bool):
        return disjunction((negation(test), then)) if otherwise else both(test, then)
    return then if then.eq(otherwise) else z3.If(test, then, otherwise)


def _open_ones(conditions: Iterable[Truth], *, absorbing: bool) -> list[Formula] | None:
    """The formulas among the conditions, each once; None when one is known to decide the whole."""
    formulas: dict[int, Formula] = {}
    for condition in conditions:
        if isinstance(condition, bool):
            if condition is absorbing:
                return None
        else:
            formulas[condition.get_id()] = condition
    for condition in formulas.values():
        if z3.is_not(condition) and condition.arg(0).get_id() in formulas:
            return None
    return list(formulas.values())


# --- one kind as another ----------------------------------------------------------------------------------------------


def as_number(value: Value) -> Number:
    """The value as a number: 1 and 0 for a condition; `SpecificationError` when it is a set."""
    if isinstance(value, Number):
        return value
    if isinstance(value, Members):
        msg = "a set is used as a number"
        raise SpecificationError(msg)
    return number_of_cases([(1, value), (0, negation(value))])


def as_truth(value: Value) -> Truth:
    """The value as a condition: a number other than 0, a set with a member."""
    if isinstance(value, Number):
        return value.where(bool)
    return disjunction(value.bits) if isinstance(value, Members) else value


def as_members(value: Value) -> Members:
    """The value as a set: a number is its mask; `SpecificationError` when it is a condition."""
    if isinstance(value, Members):
        return value
    if isinstance(value, Number):
        size = max(value.cases).bit_length()
        return Members(tuple(value.where(lambda mask, i=i: bool(mask >> i & 1)) for i in range(size)))  # type: ignore[misc]
    msg = "a condition is used as a set"
    raise SpecificationError(msg)


# --- operators --------------------------------------------------------------------------------------------------------


def combined(function: Callable[[int, int], int], left: Number, right: Number) -> Number:
    """A function of two numbers."""
    return number_of_cases(
        (function(a, b), both(if_a, if_b)) for a, if_a in left.cases.items() for b, if_b in right.cases.items()
    )


def compared(accepts: Callable[[int, int], bool], left: Number, right: Number) -> Truth:
    """Whether two numbers stand in a relation."""
    if len(left.cases) > len(right.cases):
        return compared(lambda a, b: accepts(b, a), right, left)
    return disjunction(
        both(if_a, right.where(lambda b, a=a: accepts(a, b)))  # type: ignore[misc]
        for a, if_a in left.cases.items()
    )


def equal_sets(left: Members, right: Members) -> Truth:
    """Whether two sets have the same members."""
    return conjunction(choice(a, b, negation(b)) for a, b in _paired(left, right))


def joined(left: Members, right: Members) -> Members:
    """The members of either set."""
    return Members(tuple(disjunction(pair) for pair in _paired(left, right)))


def without(left: Members, right: Members) -> Members:
    """The members of the first set that are not in the second."""
    return Members(tuple(both(a, negation(b)) for a, b in _paired(left, right))[: len(left.bits)])


def has_member(members: Members, member: Number) -> Truth:
    """Whether a set has a member; no negative number is in any."""
    bits = members.bits
    return disjunction(both(at, bits[i]) for i, at in member.cases.items() if 0 <= i < len(bits))


def singleton(member: Number) -> Members:
    """The set with one member."""
    size = max(member.cases, default=-1) + 1
    return Members(tuple(member.cases.get(i, False) for i in range(size)))


def either(test: Truth, then: Value, otherwise: Value) -> Value:
    """The first value where the test holds, the second elsewhere."""
    if isinstance(test, bool):
        return then if test else otherwise
    if isinstance(then, Members) or isinstance(otherwise, Members):
        pairs = _paired(as_members(then), as_members(otherwise))
        return Members(tuple(choice(test, a, b) for a, b in pairs))
    if isinstance(then, Number) or isinstance(otherwise, Number):
        first, second = as_number(then).cases, as_number(otherwise).cases
        values = sorted({*first, *second})
        return Number({v: choice(test, first.get(v, False), second.get(v, False)) for v in values})
    return choice(test, then, otherwise)


def _paired(left: Members, right: Members) -> list[tuple[Truth, Truth]]:
    size = max(len(left.bits), len(right.bits))
    return list(zip(_padded(left, size), _padded(right, size), strict=True))


def _padded(members: Members, size: int) -> tuple[Truth, ...]:
    return members.bits + (False,) * (size - len(members.bits))
