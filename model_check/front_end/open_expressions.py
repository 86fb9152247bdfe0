"""From an expression of the specification to its open term: names, places in the state, operators, calls and folds.

The sorts of expressions are checked on the way.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final, NoReturn, get_args

from model_check.front_end.open_terms import (
    Call,
    Constant,
    EmptySet,
    Fold,
    LongAgo,
    Member,
    Named,
    Now,
    OpenApply,
    OpenBound,
    OpenFunction,
    OpenNumber,
    OpenRead,
    Over,
    Sort,
    Term,
    Truth,
    sort_of,
)
from model_check.front_end.source import Origin, Source
from spec.language import LONG_AGO, Bits, Kind, Machine
from spec.language.fields import Field, RecordDeclaration

if TYPE_CHECKING:
    from collections.abc import Callable

    from model_check.front_end.terms import Operator

COMPARISONS: Final[dict[type[ast.cmpop], Operator]] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_LONG_AGO: Final = "LONG_AGO"


@dataclass(frozen=True, slots=True)
class Place:
    """The state (no path), a record of it, or an array in it without its index."""

    path: tuple[str, ...]
    index: Term | None
    member: Field | RecordDeclaration | None


STATE: Final = Place((), None, None)
CONSTANTS: Final = object()


@dataclass
class Scope:
    """The names in the body of a function, or in a block of it."""

    source: Source
    names: dict[str, Any]

    def inner(self, **names: Any) -> Scope:
        """The scope of a block in it, with some names more."""
        return Scope(self.source, {**self.names, **names})

    def refuse(self, node: ast.stmt | ast.expr, why: str) -> NoReturn:
        """See `Source.refuse`."""
        self.source.refuse(node, why)


class ExpressionReader(ABC):
    """Reads the expressions of a machine's functions.

    The instance says which constants there are, not what their values shall be.
    """

    def __init__(self, machine: Machine, constants: object) -> None:
        self.machine = machine
        self.constants = constants

    @abstractmethod
    def function(self, function: Callable[..., Any]) -> OpenFunction:
        """The open terms of a function that is called."""

    def term(self, node: ast.expr, scope: Scope, *wanted: Sort) -> Term:
        """The term of an expression, of one of the wanted sorts (any, when none is given)."""
        value = self.expression(node, scope)
        if not isinstance(value, get_args(Term)):
            scope.refuse(node, "not a number, a truth value, a set or a member of an enumeration")
        term: Term = value
        if wanted and sort_of(term) not in wanted:
            scope.refuse(node, f"{_name(sort_of(term))} where {' or '.join(map(_name, wanted))} is wanted")
        return term

    def expression(self, node: ast.expr, scope: Scope) -> Any:
        """The value of an expression: a term, a place in the state, the constants, an enumeration or a function."""
        match node:
            case ast.Constant(value=bool() as value):
                return Truth(value)
            case ast.Constant(value=int() as value):
                return OpenNumber(value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
                return OpenNumber(-value)
            case ast.Name(id=name):
                return self._lookup(name, node, scope)
            case ast.Attribute(value=value, attr=name):
                return self._attribute(self.expression(value, scope), name, node, scope)
            case ast.Subscript(value=value, slice=index):
                return self._element(self.expression(value, scope), index, node, scope)
            case ast.Call():
                return self._call(node, scope)
        return self._operation(node, scope)

    def _operation(self, node: ast.expr, scope: Scope) -> Term:
        match node:
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.BitOr() as operator, right=right):
                return self._arithmetic(left, operator, right, scope)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return OpenApply("not", (self.term(operand, scope, "truth"),), "truth")
            case ast.BoolOp(op=operator, values=values):
                terms = tuple(self.term(value, scope, "truth") for value in values)
                return OpenApply("and" if isinstance(operator, ast.And) else "or", terms, "truth")
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() as operator], comparators=[ast.Tuple(elts=listed)]):
                equal = tuple(self._compared(ast.Eq(), left, self._constant(item, scope), scope) for item in listed)
                if equal:
                    claim = equal[0] if len(equal) == 1 else OpenApply("or", equal, "truth")
                    return claim if isinstance(operator, ast.In) else OpenApply("not", (claim,), "truth")
            case ast.Compare(left=left, ops=[*operators], comparators=rights) if is_in_order(operators):
                pairs = zip([left, *rights], operators, rights, strict=False)
                claims = tuple(self._compared(operator, first, second, scope) for first, operator, second in pairs)
                return claims[0] if len(claims) == 1 else OpenApply("and", claims, "truth")
            case ast.IfExp(test=test, body=then, orelse=otherwise):
                condition, value = self.term(test, scope, "truth"), self.term(then, scope)
                return OpenApply("if", (condition, value, self.term(otherwise, scope, sort_of(value))), sort_of(value))
        scope.refuse(node, "not an expression of the language")

    def _compared(self, operator: ast.cmpop, left: ast.expr, right: ast.expr, scope: Scope) -> Term:
        symbol = COMPARISONS[type(operator)]
        is_equality = symbol in ("==", "!=")
        first = self.term(left, scope) if is_equality else self.term(left, scope, "number")
        if sort_of(first) == "long ago":
            scope.refuse(left, "LONG_AGO is only written, never read")
        return OpenApply(symbol, (first, self.term(right, scope, sort_of(first))), "truth")

    def _constant(self, node: ast.expr, scope: Scope) -> ast.expr:
        """A member of a tuple, which is known before the state is."""
        if not isinstance(self.term(node, scope), OpenNumber | Named | Member | Constant):
            scope.refuse(node, "a tuple lists constants")
        return node

    def _arithmetic(self, left: ast.expr, operator: ast.operator, right: ast.expr, scope: Scope) -> Term:
        if isinstance(operator, ast.BitOr):
            return OpenApply("union", (self.term(left, scope, "set"), self.term(right, scope, "set")), "set")
        first = self.term(left, scope, "number", "set")
        arguments = (first, self.term(right, scope, sort_of(first)))
        if sort_of(first) == "number":
            return OpenApply("+" if isinstance(operator, ast.Add) else "-", arguments, "number")
        if isinstance(operator, ast.Add):
            scope.refuse(left, "sets are united with |")
        return OpenApply("minus", arguments, "set")

    # --- names and places ---------------------------------------------------------------------------------------------

    def _lookup(self, name: str, node: ast.expr, scope: Scope) -> Any:
        if name in scope.names:
            return scope.names[name]
        known = scope.source.function.__globals__
        if name in known:
            value = known[name]
            if isinstance(value, IntEnum):
                return Member(type(value), value.name)
            if isinstance(value, int):
                is_long_ago = name == _LONG_AGO and value == LONG_AGO
                return Truth(value) if isinstance(value, bool) else LongAgo() if is_long_ago else Named(name, value)
            return value
        if name in ("any", "all", "sum", "range", "min", "max"):
            return getattr(builtins, name)
        scope.refuse(node, f"{name} is not known here")

    def _attribute(self, value: Any, name: str, node: ast.expr, scope: Scope) -> Any:
        if value is CONSTANTS:
            known = getattr(self.constants, name, None)
            if not isinstance(known, int):
                scope.refuse(node, "not a constant that is a number or a switch")
            return Constant(name, isinstance(known, bool))
        if isinstance(value, Place):
            return self._member(value, name, node, scope)
        if isinstance(value, type) and issubclass(value, IntEnum) and name in value.__members__:
            return Member(value, name)
        scope.refuse(node, f"{name} is not known here")

    def _member(self, place: Place, name: str, node: ast.expr, scope: Scope) -> Any:
        if place.member is None:
            members: dict[str, Any] = dict(self.machine.state.members)
        elif isinstance(place.member, RecordDeclaration) and (place.member.length is None or place.index is not None):
            members = dict(place.member.kind.fields)
        else:
            scope.refuse(node, "an array wants an index first")
        if name not in members:
            scope.refuse(node, f"the state has no {'.'.join((*place.path, name))}")
        member = members[name]
        path = (*place.path, name)
        if isinstance(member, RecordDeclaration) or member.length is not None:
            return Place(path, place.index, member)
        return Now() if member.kind is Kind.CLOCK else OpenRead(path, place.index, member, Origin(scope.source, node))

    def _element(self, place: Any, index: ast.expr, node: ast.expr, scope: Scope) -> Any:
        if not isinstance(place, Place) or place.member is None or place.member.length is None:
            scope.refuse(node, "only arrays of the state have elements")
        if place.index is not None:
            scope.refuse(node, "an element has one index")
        term = self.term(index, scope, "number")
        if isinstance(place.member, Field):
            return OpenRead(place.path, term, place.member, Origin(scope.source, node))
        return Place(place.path, term, place.member)

    # --- calls --------------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call, scope: Scope) -> Term:
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            scope.refuse(node, "arguments are given by their place")
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr="only"), args=[member]):
                if self.expression(value, scope) is Bits:
                    return OpenApply("only", (self.term(member, scope, "number"),), "set")
            case ast.Call(func=ast.Attribute(value=value, attr="of"), args=[members]):
                if self.expression(value, scope) is Bits:
                    return self._set(members, node, scope)
            case ast.Call(func=ast.Attribute(value=value, attr="has"), args=[member]):
                return OpenApply("has", (self.term(value, scope, "set"), self.term(member, scope, "number")), "truth")
            case ast.Call(func=ast.Attribute(value=value, attr="is_empty"), args=[]):
                return OpenApply("is_empty", (self.term(value, scope, "set"),), "truth")
            case ast.Call(func=ast.Name() as name):
                callee = self.expression(name, scope)
                if callee in (any, all, sum):
                    return self._fold(callee.__name__, node, scope)
                if callee in (min, max) and len(node.args) == 2:
                    first, second = (self.term(argument, scope, "number") for argument in node.args)
                    is_first = OpenApply("<=" if callee is min else ">=", (first, second), "truth")
                    return OpenApply("if", (is_first, first, second), "number")
                if callee is Bits and not node.args:
                    return EmptySet()
                if inspect.isfunction(callee):
                    return self._call_for_value(callee, node, scope)
        scope.refuse(node, "not a function of the specification")

    def _call_for_value(self, callee: Callable[..., Any], node: ast.Call, scope: Scope) -> Term:
        self._given(node, scope)
        function = self.function(callee)
        if function.value is None:
            scope.refuse(node, f"{function.name} gives no value")
        return Call(callee, self.arguments(function, node, scope), sort_of(function.value))

    def arguments(self, function: OpenFunction, node: ast.Call, scope: Scope) -> tuple[Term, ...]:
        """The arguments of a call, without the state and the constants, each of the sort of its parameter."""
        given = self._given(node, scope)
        values = [argument for argument, value in given if value is not CONSTANTS and value != STATE]
        if len(values) != len(function.parameters):
            scope.refuse(node, f"{function.name} takes {len(function.parameters)} values, {len(values)} are given")
        return tuple(
            self.term(argument, scope, parameter.sort)
            for argument, parameter in zip(values, function.parameters, strict=True)
        )

    def _given(self, node: ast.Call, scope: Scope) -> list[tuple[ast.expr, Any]]:
        """The arguments of a call, each with its value."""
        given = [(argument, self.expression(argument, scope)) for argument in node.args]
        for argument, value in given:
            if isinstance(value, Place) and isinstance(value.member, RecordDeclaration):
                scope.refuse(argument, f"a parameter cannot be a {value.member.kind.__name__}: give its index")
        return given

    def _fold(self, fold: Fold, node: ast.Call, scope: Scope) -> Term:
        match node.args:
            case [
                ast.GeneratorExp(
                    elt=element, generators=[ast.comprehension(target=ast.Name(id=variable), iter=over, ifs=[])]
                )
            ]:
                return self._over(fold, variable, over, element, node, scope)
        scope.refuse(node, f"{fold} takes one generator of truth values over a range")

    def _set(self, members: ast.expr, node: ast.Call, scope: Scope) -> Term:
        match members:
            case ast.GeneratorExp(
                elt=ast.Name(id=member),
                generators=[ast.comprehension(target=ast.Name(id=variable), iter=over, ifs=[condition])],
            ) if member == variable:
                return self._over("set", variable, over, condition, node, scope)
        scope.refuse(node, "Bits.of takes the numbers of a range for which one condition is true")

    def _over(self, fold: Fold, variable: str, over: ast.expr, body: ast.expr, node: ast.Call, scope: Scope) -> Term:
        low, high = self.range_of(over, scope)
        inner = self.block_over(variable, node, scope)
        return Over(fold, variable, low, high, self.term(body, inner, "truth"), Origin(scope.source, node))

    def block_over(self, variable: str, node: ast.expr | ast.stmt, scope: Scope) -> Scope:
        """The block in which `variable` runs over a range."""
        if variable in scope.names:
            scope.refuse(node, f"{variable} is given a value twice")
        return scope.inner(**{variable: OpenBound(variable, "number")})

    def range_of(self, node: ast.expr, scope: Scope) -> tuple[Term, Term]:
        """The first value of a range, and the value behind its last."""
        match node:
            case ast.Call(func=ast.Name(id="range"), args=[high], keywords=[]):
                return OpenNumber(0), self.term(high, scope, "number")
            case ast.Call(func=ast.Name(id="range"), args=[low, high], keywords=[]):
                return self.term(low, scope, "number"), self.term(high, scope, "number")
        scope.refuse(node, "loops go over a range, one by one")


def is_in_order(operators: list[ast.cmpop]) -> bool:
    """Whether the operators of a comparison are all ones that numbers have."""
    return all(type(operator) in COMPARISONS for operator in operators)


def _name(sort: Sort) -> str:
    return sort.__name__ if isinstance(sort, type) else f"a {sort}" if sort != "long ago" else "LONG_AGO"
