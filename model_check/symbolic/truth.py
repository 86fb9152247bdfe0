"""Conditions: `True` and `False` where they are known, Z3 formulas where they are not, folded as they are built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import z3

if TYPE_CHECKING:
    from collections.abc import Iterable

Formula = Any
"""A Z3 expression of sort Bool."""

Truth = bool | Formula
"""A condition: known (`bool`) or a formula."""


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
    kept: dict[int, Formula] = {}
    for condition in conditions:
        if isinstance(condition, bool):
            if condition is absorbing:
                return None
        else:
            kept[condition.get_id()] = condition
    for condition in kept.values():
        if z3.is_not(condition) and condition.arg(0).get_id() in kept:
            return None
    return list(kept.values())
