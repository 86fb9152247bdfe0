"""Truth values, numbers and sets of places as formulas, folded where they are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import z3

Number = Any  # an int, or a Z3 expression of sort Int
Truth = Any  # a bool, or a Z3 expression of sort Bool
Value = Any  # a number, a truth value or `PlaceSet`
Field = Any  # a value, or a function from a place to one
Path = tuple[str, ...]
State = dict[Path, Field]
"""The value of each field; of an array, a function from the place to the value."""

INT, BOOL = z3.IntSort(), z3.BoolSort()


@dataclass(frozen=True, slots=True)
class PlaceSet:
    """A set of places."""

    has: Callable[[Number], Truth]
    listed: tuple[tuple[Number, Truth], ...] | None = None
    """Its members, each with the condition on which it is one; None where they can't be listed."""

    @classmethod
    def of(cls, listed: Iterable[tuple[Number, Truth]] = ()) -> PlaceSet:
        """A set of places that can be listed."""
        known = tuple((member, condition) for member, condition in listed if condition is not False)
        return cls(lambda place: disjunction(conjunction((same(place, m), c)) for m, c in known), known)


def formula(truth: Truth) -> Any:
    """A truth value as a Z3 expression."""
    return z3.BoolVal(truth) if isinstance(truth, bool) else truth


def conjunction(truths: Iterable[Truth]) -> Truth:
    """Whether all hold."""
    known = list(truths)
    if any(truth is False for truth in known):
        return False
    left = [truth for truth in known if truth is not True]
    return True if not left else left[0] if len(left) == 1 else z3.And(left)


def disjunction(truths: Iterable[Truth]) -> Truth:
    """Whether one holds."""
    return negation(conjunction(map(negation, truths)))


def negation(truth: Truth) -> Truth:
    """Whether it does not hold."""
    if isinstance(truth, bool):
        return not truth
    return truth.arg(0) if z3.is_not(truth) else z3.Not(truth)


def implied(condition: Truth, consequence: Truth) -> Truth:
    """Whether one thing holds where the other does."""
    return disjunction((negation(condition), consequence))


def same(left: Number, right: Number) -> Truth:
    """Whether two numbers are equal."""
    if isinstance(left, int) and isinstance(right, int):
        return left == right
    if not isinstance(left, int) and not isinstance(right, int) and left.eq(right):
        return True
    return left == right


def equal(left: Value, right: Value) -> Truth:
    """Whether two numbers, or two truth values, are equal."""
    if isinstance(left, bool):
        return right if left else negation(right)
    if isinstance(right, bool):
        return left if right else negation(left)
    return same(left, right)


def within(low: Number, place: Number, high: Number) -> Truth:
    """Whether a place lies in a range, its high end excluded."""
    return conjunction((low <= place, place < high))


def choice(test: Truth, then: Value, otherwise: Value) -> Value:
    """One value where the test is true, the other where it is false."""
    if isinstance(test, bool):
        return then if test else otherwise
    if then is otherwise:
        return then
    if isinstance(then, PlaceSet):
        return _choice_of_sets(test, then, otherwise)
    if isinstance(then, bool):
        return disjunction((test, otherwise)) if then else conjunction((negation(test), otherwise))
    if isinstance(otherwise, bool):
        return disjunction((negation(test), then)) if otherwise else conjunction((test, then))
    return then if equal(then, otherwise) is True else z3.If(test, then, otherwise)


def _choice_of_sets(test: Truth, then: PlaceSet, otherwise: PlaceSet) -> PlaceSet:
    if then.listed is None or otherwise.listed is None:
        return PlaceSet(lambda place: choice(test, then.has(place), otherwise.has(place)))
    first = [(member, conjunction((test, condition))) for member, condition in then.listed]
    return PlaceSet.of([*first, *((m, conjunction((negation(test), c))) for m, c in otherwise.listed)])


def for_all(variable: Any, body: Truth, patterns: Iterable[Any] = (), also: Iterable[Any] = ()) -> Any:
    """That something holds of all numbers; a solver uses it where an array is read at one, or at the patterns given."""
    return z3.ForAll([variable], formula(body), patterns=[*(list(patterns) or reads_at(variable, body)), *also])


def exists(variable: Any, body: Truth, also: Iterable[Any] = ()) -> Any:
    """That something holds of some number."""
    return z3.Exists([variable], formula(body), patterns=[*reads_at(variable, body), *also])


def reads_at(variable: Any, body: Truth) -> list[Any]:
    """The terms where arrays are read at the variable itself, outside of inner quantifiers."""
    found: dict[int, Any] = {}
    left, seen = [body], set()
    while left:
        term = left.pop()
        if isinstance(term, bool) or term.get_id() in seen or z3.is_quantifier(term) or z3.is_var(term):
            continue
        seen.add(term.get_id())
        children = term.children()
        if term.decl().kind() == z3.Z3_OP_UNINTERPRETED and len(children) == 1 and children[0].eq(variable):
            found[term.get_id()] = term
        left += children
    return list(found.values())


def conjuncts(truth: Truth) -> list[Truth]:
    """The parts of a conjunction, all of which hold where it does."""
    if not isinstance(truth, bool) and z3.is_and(truth):
        return [each for child in truth.children() for each in conjuncts(child)]
    return [truth]


def bounds(conditions: Iterable[Truth], place: Number, low: Number, high: Number) -> tuple[Number, Number, list[Truth]]:
    """The range from `low` to `high` as far as conditions that compare the place with a number let it be; what is left.

    Its high end is excluded, and may lie before the low one.
    """
    left = []
    for condition in (each for truth in conditions for each in conjuncts(truth)):
        bound = None if isinstance(condition, bool) else _bound(condition, place)
        if bound is None:
            left.append(condition)
        elif bound[0]:
            low = bound[1] if same(low, 0) is True else choice(bound[1] > low, bound[1], low)
        else:
            high = choice(bound[1] < high, bound[1], high)
    return low, high, left


def _bound(condition: Any, place: Any) -> tuple[bool, Any] | None:
    """The least number that a place may be (True), or the one behind the greatest (False)."""
    less, is_strict = z3.is_le(condition) or z3.is_lt(condition), z3.is_lt(condition) or z3.is_gt(condition)
    if not less and not z3.is_ge(condition) and not z3.is_gt(condition):
        return None
    small, large = condition.children() if less else reversed(condition.children())
    if large.eq(place) and not _contains(small, place):
        return True, small + 1 if is_strict else small
    if small.eq(place) and not _contains(large, place):
        return False, large if is_strict else large + 1
    return None


def _contains(term: Any, part: Any) -> bool:
    return bool(term.eq(part)) or any(_contains(child, part) for child in term.children())
