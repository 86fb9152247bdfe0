"""From the source of an action or a property to terms: a guard of conjuncts, and the statements behind it, unrolled."""

from __future__ import annotations

import ast
import inspect
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from model_check.errors import NotInTheLanguage
from model_check.front_end.lower_expressions import ExpressionLowering
from model_check.front_end.scope import CONSTANTS, STATE, Scope, SetMethod, source_of_function
from model_check.front_end.source import CLOCK_RULE, without_slack
from model_check.front_end.terms import (
    FALSE,
    Apply,
    Conjunct,
    Expression,
    If,
    Int,
    Let,
    Local,
    LoweredAction,
    Operator,
    Read,
    Statement,
    Tick,
    Write,
    apply,
)
from spec.language import Kind, Property, Step, assume, require, within
from spec.language.fields import Field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_CONJUNCTS: Final = {require: "require", assume: "assume", within: "within"}


class _NeverEnabledError(Exception):
    """A conjunct is false of these parameters: what follows it may be undefined."""


@dataclass
class Lowering(ExpressionLowering):
    """Lowers the functions of a machine in one instance: actions, too, which write."""

    _guard: list[Conjunct] = field(default_factory=list)
    _out: list[list[Statement]] = field(default_factory=list)
    _named: int = 0
    _calls: list[int] = field(default_factory=list)

    def action(self, step: Step) -> LoweredAction:
        """The terms of an action with its parameters chosen.

        Raises
        ------
        NotInTheLanguage
            When the source uses something that is not part of the language, or a conjunct follows a write.
        """
        self._guard, self._out, self._named, self._calls = [], [[]], 0, []
        with suppress(_NeverEnabledError):
            self._run(step.action.function, [STATE, CONSTANTS, *(Int(a) for a in step.arguments)])
        self._check_step_back(step)
        return LoweredAction(step.action.name, step.arguments, tuple(self._guard), tuple(self._out[0]))

    def claim(self, claim: Property, arguments: tuple[int, ...]) -> Expression:
        """The terms of a property with its parameters chosen."""
        self._guard, self._out, self._named = [], [[]], 0
        return cast("Expression", self._value_of(claim.function, [STATE, CONSTANTS, *(Int(a) for a in arguments)]))

    def observation(self, function: Callable[..., int], arguments: tuple[int, ...]) -> Expression:
        """The terms of an observed field, for the state after an action."""
        self._guard, self._out, self._named = [], [[]], 0
        return cast("Expression", self._value_of(function, [STATE, CONSTANTS, *(Int(a) for a in arguments)]))

    def _check_step_back(self, step: Step) -> None:
        """A step back and a write that is cut at the floor do not commute."""
        effect = list(_flat(self._out[0]))
        if Tick(is_back=True) in effect:
            is_time = [isinstance(s, Tick) or (isinstance(s, Write) and self._is_instant(s.path)) for s in effect]
            if sum(is_time) > 1:
                function = step.action.function
                line = source_of_function(function)[1]
                msg = f"{inspect.getsourcefile(function)}:{line}: {function.__name__}: an action that steps the clock "
                msg += "back changes no instant, and the clock not twice"
                raise NotInTheLanguage(msg)

    # --- statements ---------------------------------------------------------------------------------------------------

    def _run(self, function: Callable[..., Any], arguments: list[Any]) -> None:
        """Inline a function for its effect."""
        scope, body = self._scope(function, arguments)
        self._block(body, scope)

    def _block(self, body: list[ast.stmt], scope: Scope) -> None:
        for statement in body:
            self._statement(statement, scope)

    def _statement(self, statement: ast.stmt, scope: Scope) -> None:
        match statement:
            case ast.Expr(value=ast.Call() as call):
                self._call_statement(call, scope)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._name(name, self._term(value, scope), statement, scope)
            case ast.Assign(targets=[target], value=value):
                self._write(target, self._term(value, scope), scope)
            case ast.AugAssign(target=target, op=ast.Add() | ast.Sub() as operator, value=value):
                change = self._term(value, scope)
                if self._is_clock(target, scope):
                    if change != Int(1):
                        self._refuse(statement, scope, CLOCK_RULE)
                    is_back = isinstance(operator, ast.Sub)
                    if is_back and (stiff := without_slack(self.machine.state)):
                        self._refuse(statement, scope, f"{stiff} is an instant without slack")
                    self._emit(Tick(is_back))
                else:
                    sign: Operator = "+" if isinstance(operator, ast.Add) else "-"
                    self._write(target, apply(sign, self._term(target, scope), change), scope)
            case ast.If(test=test, body=then, orelse=otherwise):
                self._if(self._condition(test, scope), then, otherwise, scope)
            case ast.For(target=ast.Name(id=name), iter=iterable, body=body, orelse=[]):
                if name in scope.names:
                    self._refuse(statement, scope, f"{name} is given a value twice")
                for i in self._range(iterable, scope):
                    self._block(body, scope.inner(**{name: Int(i)}))
            case ast.Pass():
                pass
            case _:
                self._refuse(statement, scope, "not a statement of the language")

    def _name(self, name: str, value: Any, statement: ast.stmt, scope: Scope) -> None:
        if name in scope.names:
            self._refuse(statement, scope, f"{name} is given a value twice")
        scope.names[name] = value if isinstance(value, Int) else self._let(name, value)

    def _if(self, test: Expression, then: list[ast.stmt], otherwise: list[ast.stmt], scope: Scope) -> None:
        if isinstance(test, Int):
            self._block(then if test.value else otherwise, scope)
            return
        branches: list[tuple[Statement, ...]] = []
        for body in (then, otherwise):
            self._out.append([])
            self._block(body, scope.inner())
            branches.append(tuple(self._out.pop()))
        self._emit(If(test, branches[0], branches[1]))

    def _call_statement(self, call: ast.Call, scope: Scope) -> None:
        callee = self._expression(call.func, scope)
        line = scope.first_line + call.lineno - 1
        if isinstance(callee, SetMethod):
            self._change_set(callee, call, scope)
        elif callee in _CONJUNCTS:
            if len(self._out) > 1 or any(not isinstance(s, Let) for s in self._out[0]):
                self._refuse(call, scope, "a conjunct of the guard follows a write")
            condition, rule = call.args
            words = ast.literal_eval(rule)
            term = self._condition(condition, scope)
            self._guard.append(Conjunct(_CONJUNCTS[callee], words, term, (*self._calls, line)))
            if self._guard[-1].condition == FALSE:
                raise _NeverEnabledError
        elif inspect.isfunction(callee):
            arguments = [self._by_value(a, scope) for a in call.args]
            self._calls.append(line)
            self._run(callee, arguments)
            self._calls.pop()
        else:
            self._refuse(call, scope, "not a function of the specification")

    def _by_value(self, argument: ast.expr, scope: Scope) -> Any:
        """An argument of a function with an effect, read before the effect begins."""
        value = self._argument(argument, scope)
        return self._let("argument", value) if isinstance(value, Read | Apply) else value

    def _let(self, name: str, value: Expression) -> Local:
        self._named += 1
        local = Local(f"{name}_{self._named}")
        self._kinds[local.name] = self._kind(value)
        self._emit(Let(local.name, value))
        return local

    def _change_set(self, method: SetMethod, call: ast.Call, scope: Scope) -> None:
        (member,) = call.args
        single = apply("only", self._term(member, scope))
        if method.name not in ("add", "discard") or not isinstance(method.target, Read):
            self._refuse(call, scope, "a set that is a field of the state has `add` and `discard`")
        operator: Operator = "union" if method.name == "add" else "minus"
        self._emit(Write(method.target.path, method.target.index, apply(operator, method.target, single)))

    def _write(self, target: ast.expr, value: Expression, scope: Scope) -> None:
        place = self._expression(target, scope)
        if not isinstance(place, Read):
            self._refuse(target, scope, "only fields of the state and local names are assigned to")
        if self._is_clock(target, scope):
            self._refuse(target, scope, CLOCK_RULE)
        self._emit(Write(place.path, place.index, value))

    def _emit(self, statement: Statement) -> None:
        self._out[-1].append(statement)

    def _is_clock(self, target: ast.expr, scope: Scope) -> bool:
        place = self._expression(target, scope)
        member = self.machine.state.members.get(place.path[0]) if isinstance(place, Read) else None
        return isinstance(member, Field) and member.kind is Kind.CLOCK

    def _is_instant(self, path: tuple[str, ...]) -> bool:
        return self._declared(path).kind is Kind.INSTANT


def _flat(statements: Iterable[Statement]) -> Iterator[Statement]:
    """The statements and those in their branches."""
    for statement in statements:
        yield statement
        if isinstance(statement, If):
            yield from _flat((*statement.then, *statement.otherwise))
