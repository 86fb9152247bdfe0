"""From a function of the specification to its open terms: its guard and its effect, or its value.

The sorts of expressions are checked on the way.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from dataclasses import dataclass
from enum import IntEnum
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast, get_args

from model_check.errors import NotInTheLanguage
from model_check.front_end.memo import MemoCache, global_values
from model_check.front_end.open_terms import (
    Call,
    Constant,
    EmptySet,
    Fold,
    LongAgo,
    Loop,
    Member,
    Named,
    Now,
    OpenApply,
    OpenBound,
    OpenConjunct,
    OpenFunction,
    OpenIf,
    OpenLet,
    OpenLetIn,
    OpenNumber,
    OpenRead,
    OpenRemove,
    OpenWrite,
    Over,
    Run,
    Sort,
    Statement,
    Term,
    Truth,
    sort_of,
    sort_of_field,
)
from model_check.front_end.source import CLOCK_RULE, CONJUNCTS, Origin, Source, source_of, without_slack
from model_check.front_end.terms import Operator, Tick
from spec.language import LONG_AGO, Bits, Kind, Machine, MachineState, remove
from spec.language.fields import Field, RecordDeclaration

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_READERS = 4
"""Kinds of machines whose reader is remembered."""

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


class OpenReader:
    """Reads the functions of a machine; each of them once.

    The instance says which constants there are, not what their values shall be.
    """

    def __init__(self, machine: Machine, constants: object) -> None:
        self.machine = machine
        self.constants = constants
        self._known: dict[Callable[..., Any], OpenFunction | None] = {}
        self._lock = RLock()

    def function(self, function: Callable[..., Any]) -> OpenFunction:
        """The open terms of a function.

        `NotInTheLanguage` when its source uses something that is not part of the language; names the file and the line.
        """
        with self._lock:
            if function in self._known:
                known = self._known[function]
                if known is None:
                    source = source_of(function)
                    msg = f"{source.file}:{source.first_line}: {function.__name__} calls itself"
                    raise NotInTheLanguage(msg)
                return known
            self._known[function] = None
            try:
                read = self._read(function)
            except BaseException:
                del self._known[function]
                raise
            self._known[function] = read
            return read

    def functions(self) -> tuple[Callable[..., Any], ...]:
        """All functions that were read so far, in order."""
        return tuple(self._known)

    def _read(self, function: Callable[..., Any]) -> OpenFunction:
        source = source_of(function)
        parameters, names = self._parameters(source)
        scope = Scope(source, names)
        returns = [node for node in ast.walk(source.tree) if isinstance(node, ast.Return)]
        for node in returns:
            if node.value is None:
                source.refuse(node, "a function that changes the state ends at its end: put what follows into a branch")
        if returns:
            return OpenFunction(function, parameters, (), (), self._value(source.body, scope))
        statements = self._block(source.body, scope)
        last = max((i + 1 for i, statement in enumerate(statements) if self._is_guard(statement)), default=0)
        if not all(self._is_guard(statement) or isinstance(statement, OpenLet) for statement in statements[:last]):
            scope.refuse(source.body[last - 1], "a conjunct of the guard follows a write")
        return OpenFunction(function, parameters, statements[:last], statements[last:], None)

    def _parameters(self, source: Source) -> tuple[tuple[OpenBound, ...], dict[str, Any]]:
        parameters: list[OpenBound] = []
        names: dict[str, Any] = {}
        given = source.tree.args
        if given.vararg or given.kwarg or given.kwonlyargs or given.defaults:
            source.refuse(source.tree, "parameters are given by their place, all of them")
        for argument in given.args:
            hint = _hint(argument, source)
            if issubclass(hint, MachineState):
                names[argument.arg] = STATE
            elif isinstance(self.constants, hint):
                names[argument.arg] = CONSTANTS
            else:
                sort = _sort_of_hint(hint)
                if sort is None:
                    source.refuse(argument, f"a parameter cannot be a {hint.__name__}")
                parameters.append(OpenBound(argument.arg, sort))
                names[argument.arg] = parameters[-1]
        return tuple(parameters), names

    def _is_guard(self, statement: Statement) -> bool:
        match statement:
            case Run(function=function):
                return bool(self.function(function).guard)
            case OpenIf(then=then, otherwise=otherwise):
                return any(map(self._is_guard, (*then, *otherwise)))
            case Loop(body=body):
                return any(map(self._is_guard, body))
        return isinstance(statement, OpenConjunct)

    # --- a function that gives a value --------------------------------------------------------------------------------

    def _value(self, body: list[ast.stmt], scope: Scope) -> Term:
        match body:
            case [ast.Return(value=ast.expr() as value), *_]:
                return self.term(value, scope)
            case [ast.Assign(targets=[ast.Name(id=name)], value=value) as statement, *rest]:
                term = self.term(value, scope)
                return OpenLetIn(name, term, self._value(rest, scope.inner(**{name: OpenBound(name, sort_of(term))})))
            case [ast.If(test=test, body=then, orelse=otherwise) as statement, *rest]:
                condition = self.term(test, scope, "truth")
                first = self._value([*then, *rest], scope.inner())
                second = self._value([*otherwise, *rest], scope.inner())
                if sort_of(first) != sort_of(second):
                    scope.refuse(statement, "values of different sorts are returned")
                return OpenApply("if", (condition, first, second), sort_of(first))
            case [statement, *_]:
                scope.refuse(statement, "a function that gives a value only names values and returns")
        scope.refuse(scope.source.tree, "no value is returned on some path")

    def _named(self, name: str, value: ast.expr, statement: ast.stmt, scope: Scope) -> Term:
        if name in scope.names:
            scope.refuse(statement, f"{name} is given a value twice")
        term = self.term(value, scope)
        scope.names[name] = OpenBound(name, sort_of(term))
        return term

    # --- a function with an effect ------------------------------------------------------------------------------------

    def _block(self, body: list[ast.stmt], scope: Scope) -> tuple[Statement, ...]:
        return tuple(self._statement(node, scope) for node in body if not isinstance(node, ast.Pass))

    def _statement(self, node: ast.stmt, scope: Scope) -> Statement:
        match node:
            case ast.Expr(value=ast.Call() as call):
                return self._call_statement(call, scope)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                return OpenLet(name, self._named(name, value, node, scope))
            case ast.Assign(targets=[target], value=value):
                place = self._target(target, scope)
                return _write(place, self._written(value, place, scope))
            case ast.AugAssign(target=target, op=ast.Add() | ast.Sub() as operator, value=value):
                return self._augmented(node, target, operator, self.term(value, scope, "number", "set"), scope)
            case ast.If(test=test, body=then, orelse=otherwise):
                condition = self.term(test, scope, "truth")
                first = self._block(then, scope.inner())
                return OpenIf(condition, first, self._block(otherwise, scope.inner()))
            case ast.For(target=ast.Name(id=name), iter=iterable, body=body, orelse=[]):
                low, high = self.range_of(iterable, scope)
                inner = self.block_over(name, node, scope)
                return Loop(name, low, high, self._block(body, inner), Origin(scope.source, node))
        scope.refuse(node, "not a statement of the language")

    def _call_statement(self, call: ast.Call, scope: Scope) -> Statement:
        match call:
            case ast.Call(func=ast.Attribute(value=value, attr="add" | "discard" as name), args=[member], keywords=[]):
                place = self._target(value, scope)
                operator: Operator = "union" if name == "add" else "minus"
                single = OpenApply("only", (self.term(member, scope, "number"),), "set")
                if sort_of(place) != "set":
                    scope.refuse(call, "a set that is a field of the state has `add` and `discard`")
                return _write(place, OpenApply(operator, (place, single), "set"))
            case ast.Call(func=ast.Name() as name):
                callee = self.expression(name, scope)
                if callee in CONJUNCTS:
                    return self._conjunct(callee, call, scope)
                if callee is remove:
                    return self._remove(call, scope)
                if inspect.isfunction(callee):
                    self._given(call, scope)
                    function = self.function(callee)
                    if function.value is not None:
                        scope.refuse(call, f"{function.name} gives a value")
                    return Run(callee, self.arguments(function, call, scope), Origin(scope.source, call))
        scope.refuse(call, "not a function of the specification")

    def _remove(self, call: ast.Call, scope: Scope) -> OpenRemove:
        match call:
            case ast.Call(args=[records, place], keywords=[]):
                array = self.expression(records, scope)
                if isinstance(array, Place) and isinstance(array.member, RecordDeclaration) and array.member.length:
                    return OpenRemove(
                        array.member.length, self.term(place, scope, "number"), Origin(scope.source, call)
                    )
        scope.refuse(call, "an array of records and a place in it are wanted")

    def _conjunct(self, callee: Callable[..., Any], call: ast.Call, scope: Scope) -> OpenConjunct:
        match call.args:
            case [condition, ast.Constant(value=str() as rule)]:
                term = self.term(condition, scope, "truth")
                return OpenConjunct(CONJUNCTS[callee], rule, term, Origin(scope.source, call))
        scope.refuse(call, "a conjunct is a condition and its rule in words")

    def _target(self, node: ast.expr, scope: Scope) -> OpenRead:
        place = self.expression(node, scope)
        if isinstance(place, Now):
            scope.refuse(node, CLOCK_RULE)
        if not isinstance(place, OpenRead):
            why = "an array or a record is written field by field" if isinstance(place, Place) else "not a field"
            scope.refuse(node, f"only fields of the state and local names are assigned to: {why}")
        return place

    def _written(self, value: ast.expr, place: OpenRead, scope: Scope) -> Term:
        if place.field.kind is Kind.INSTANT:
            return self.term(value, scope, "number", "long ago")
        return self.term(value, scope, sort_of_field(place.field))

    def _augmented(
        self, node: ast.stmt, target: ast.expr, operator: ast.operator, change: Term, scope: Scope
    ) -> Statement:
        if isinstance(self.expression(target, scope), Now):
            if change != OpenNumber(1):
                scope.refuse(node, CLOCK_RULE)
            is_back = isinstance(operator, ast.Sub)
            if is_back and (stiff := without_slack(self.machine.state)):
                scope.refuse(node, f"{stiff} is an instant without slack")
            return Tick(is_back)
        place = self._target(target, scope)
        if sort_of(place) != "number" or sort_of(change) != "number":
            scope.refuse(node, "only numbers are counted up and down")
        sign: Operator = "+" if isinstance(operator, ast.Add) else "-"
        return _write(place, OpenApply(sign, (place, change), "number"))

    # --- expressions --------------------------------------------------------------------------------------------------

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


_READERS = MemoCache[OpenReader](MOST_READERS)


def shared_reader(machine: Machine, constants: object) -> OpenReader:
    """The reader of a machine's functions, shared by its instances; another one if a global name has changed its value.

    A portfolio has eleven instances of one machine, whose functions have the same open terms.
    """
    kinds = tuple((name, type(getattr(constants, name))) for name in dir(constants) if not name.startswith("_"))
    sources = [machine.state, *global_values(machine)]
    return _READERS.get((type(constants), kinds), sources, lambda: OpenReader(machine, constants))


def _write(place: OpenRead, value: Term) -> OpenWrite:
    return OpenWrite(place.path, place.index, place.field, value, place.at)


def _hint(argument: ast.arg, source: Source) -> type:
    first, *others = ast.unparse(argument.annotation).split(".") if argument.annotation else ("",)
    hint = source.function.__globals__.get(first, getattr(builtins, first, None))
    for name in others:
        hint = getattr(hint, name, None)
    if not isinstance(hint, type):
        source.refuse(
            argument, "a parameter says what it is: the state, the constants, an enumeration, int, bool or Bits"
        )
    return hint


def _sort_of_hint(hint: type) -> Sort | None:
    if issubclass(hint, IntEnum):
        return hint
    return cast("Sort | None", {bool: "truth", int: "number", Bits: "set"}.get(hint))


def is_in_order(operators: list[ast.cmpop]) -> bool:
    """Whether the operators of a comparison are all ones that numbers have."""
    return all(type(operator) in COMPARISONS for operator in operators)


def _name(sort: Sort) -> str:
    return sort.__name__ if isinstance(sort, type) else f"a {sort}" if sort != "long ago" else "LONG_AGO"
