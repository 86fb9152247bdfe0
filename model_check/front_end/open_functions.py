"""From a function of the specification to its open terms: its guard and its effect, or its value."""

from __future__ import annotations

import ast
import builtins
import inspect
from enum import IntEnum
from threading import RLock
from typing import TYPE_CHECKING, Any, cast

from model_check.errors import NotInTheLanguage
from model_check.front_end.memo import MemoCache, global_values
from model_check.front_end.open_expressions import CONSTANTS, STATE, ExpressionReader, Place, Scope
from model_check.front_end.open_terms import (
    Loop,
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
    Run,
    Sort,
    Statement,
    Term,
    sort_of,
    sort_of_field,
)
from model_check.front_end.source import CLOCK_RULE, CONJUNCTS, Origin, Source, source_of, without_slack
from model_check.front_end.terms import Operator, Tick
from spec.language import Bits, Kind, Machine, MachineState, remove
from spec.language.fields import RecordDeclaration

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_READERS = 4
"""Kinds of machines whose reader is remembered."""


class OpenReader(ExpressionReader):
    """Reads the functions of a machine; each of them once."""

    def __init__(self, machine: Machine, constants: object) -> None:
        super().__init__(machine, constants)
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
