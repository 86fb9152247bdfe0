"""From the source of an action or a property to terms: calls inlined, loops unrolled, constants of the instance folded.

The source is read with `ast`; what the language does not have (`spec.language`) is refused with the file and the line.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from contextlib import suppress
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

from model_check.errors import NotInTheLanguage
from model_check.front_end.open_expressions import COMPARISONS, is_in_order
from model_check.front_end.source import CLOCK_RULE, without_slack
from model_check.front_end.terms import (
    EMPTY,
    FALSE,
    TRUE,
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
    Switch,
    Tick,
    Write,
    apply,
    is_boolean,
)
from spec.language import Bits, Kind, Machine, Property, Step, assume, require, within
from spec.language.fields import Field, RecordDeclaration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_EQUALITY: Final = (ast.Eq, ast.NotEq)
_CONJUNCTS: Final = {require: "require", assume: "assume", within: "within"}


@dataclass(frozen=True, slots=True)
class _State:
    """The state, or a record of it, or an array in it that still wants its index."""

    path: tuple[str, ...]
    index: Expression | None
    member: Field | RecordDeclaration | None


@dataclass(frozen=True, slots=True)
class _SetMethod:
    target: Expression | type[Bits]
    name: str


class _NeverEnabledError(Exception):
    """A conjunct is false of these parameters: what follows it may be undefined."""


class _Constants:
    """The object `c`."""


_C: Final = _Constants()
_S: Final = _State((), None, None)


@dataclass
class _Scope:
    """The body of one function: what its names mean."""

    function: Callable[..., Any]
    names: dict[str, Any]
    first_line: int

    def inner(self, **names: Any) -> _Scope:
        """A block in it: what is named there is not known behind it."""
        return _Scope(self.function, {**self.names, **names}, self.first_line)


@dataclass
class Lowering:
    """Lowers the functions of a machine in one instance.

    Parameters
    ----------
    machine : Machine
    constants : object
        The instance; the machine's switches are left open.
    """

    machine: Machine
    constants: object
    _guard: list[Conjunct] = field(default_factory=list)
    _out: list[list[Statement]] = field(default_factory=list)
    _named: int = 0
    _kinds: dict[str, str] = field(default_factory=dict)
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
            self._run(step.action.function, [_S, _C, *(Int(a) for a in step.arguments)])
        self._check_step_back(step)
        return LoweredAction(step.action.name, step.arguments, tuple(self._guard), tuple(self._out[0]))

    def claim(self, claim: Property, arguments: tuple[int, ...]) -> Expression:
        """The terms of a property with its parameters chosen."""
        self._guard, self._out, self._named = [], [[]], 0
        return cast("Expression", self._value_of(claim.function, [_S, _C, *(Int(a) for a in arguments)]))

    def observation(self, function: Callable[..., int], arguments: tuple[int, ...]) -> Expression:
        """The terms of an observed field, for the state after an action."""
        self._guard, self._out, self._named = [], [[]], 0
        return cast("Expression", self._value_of(function, [_S, _C, *(Int(a) for a in arguments)]))

    def _check_step_back(self, step: Step) -> None:
        """A step back and a write that is cut at the floor do not commute."""
        effect = list(_flat(self._out[0]))
        if Tick(is_back=True) in effect:
            is_time = [isinstance(s, Tick) or (isinstance(s, Write) and self._is_instant(s.path)) for s in effect]
            if sum(is_time) > 1:
                function = step.action.function
                line = _source(function)[1]
                msg = f"{inspect.getsourcefile(function)}:{line}: {function.__name__}: an action that steps the clock "
                msg += "back changes no instant, and the clock not twice"
                raise NotInTheLanguage(msg)

    # --- functions ----------------------------------------------------------------------------------------------------

    def _scope(self, function: Callable[..., Any], arguments: list[Any]) -> tuple[_Scope, list[ast.stmt]]:
        tree, first_line = _source(function)
        names = [argument.arg for argument in tree.args.args]
        if len(names) != len(arguments):
            msg = f"{function.__name__} takes {len(names)} arguments, {len(arguments)} are given"
            raise NotInTheLanguage(msg)
        body = tree.body[1:] if ast.get_docstring(tree) is not None else tree.body
        return _Scope(function, dict(zip(names, arguments, strict=True)), first_line), body

    def _run(self, function: Callable[..., Any], arguments: list[Any]) -> None:
        """Inline a function for its effect."""
        scope, body = self._scope(function, arguments)
        self._block(body, scope)

    def _value_of(self, function: Callable[..., Any], arguments: list[Any]) -> Any:
        """Inline a function for its value: local names, then `if … return` as often as needed, then `return`."""
        scope, body = self._scope(function, arguments)
        return self._returned(body, scope)

    def _returned(self, body: list[ast.stmt], scope: _Scope) -> Any:
        for position, statement in enumerate(body):
            match statement:
                case ast.Return(value=ast.expr() as value):
                    return self._expression(value, scope)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    scope.names[name] = self._term(value, scope)
                case ast.If(test=test, body=then, orelse=otherwise):
                    rest, condition = body[position + 1 :], self._condition(test, scope)
                    if isinstance(condition, Int):
                        return self._returned([*(then if condition.value else otherwise), *rest], scope)
                    return apply(
                        "if",
                        condition,
                        self._returned([*then, *rest], scope.inner()),
                        self._returned([*otherwise, *rest], scope.inner()),
                    )
                case _:
                    self._refuse(statement, scope, "a function that gives a value only names values and returns")
        msg = f"{scope.function.__name__} returns no value on some path"
        raise NotInTheLanguage(msg)

    # --- statements ---------------------------------------------------------------------------------------------------

    def _block(self, body: list[ast.stmt], scope: _Scope) -> None:
        for statement in body:
            self._statement(statement, scope)

    def _statement(self, statement: ast.stmt, scope: _Scope) -> None:
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

    def _name(self, name: str, value: Any, statement: ast.stmt, scope: _Scope) -> None:
        if name in scope.names:
            self._refuse(statement, scope, f"{name} is given a value twice")
        scope.names[name] = value if isinstance(value, Int) else self._let(name, value)

    def _if(self, test: Expression, then: list[ast.stmt], otherwise: list[ast.stmt], scope: _Scope) -> None:
        if isinstance(test, Int):
            self._block(then if test.value else otherwise, scope)
            return
        branches: list[tuple[Statement, ...]] = []
        for body in (then, otherwise):
            self._out.append([])
            self._block(body, scope.inner())
            branches.append(tuple(self._out.pop()))
        self._emit(If(test, branches[0], branches[1]))

    def _call_statement(self, call: ast.Call, scope: _Scope) -> None:
        callee = self._expression(call.func, scope)
        line = scope.first_line + call.lineno - 1
        if isinstance(callee, _SetMethod):
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

    def _by_value(self, argument: ast.expr, scope: _Scope) -> Any:
        """An argument of a function with an effect, read before the effect begins."""
        value = self._argument(argument, scope)
        return self._let("argument", value) if isinstance(value, Read | Apply) else value

    def _argument(self, argument: ast.expr, scope: _Scope) -> Any:
        value = self._expression(argument, scope)
        if isinstance(value, _State) and value is not _S:
            self._refuse(argument, scope, "a record is no argument: give the index")
        return value

    def _let(self, name: str, value: Expression) -> Local:
        self._named += 1
        local = Local(f"{name}_{self._named}")
        self._kinds[local.name] = self._kind(value)
        self._emit(Let(local.name, value))
        return local

    def _change_set(self, method: _SetMethod, call: ast.Call, scope: _Scope) -> None:
        (member,) = call.args
        single = apply("only", self._term(member, scope))
        if method.name not in ("add", "discard") or not isinstance(method.target, Read):
            self._refuse(call, scope, "a set that is a field of the state has `add` and `discard`")
        operator: Operator = "union" if method.name == "add" else "minus"
        self._emit(Write(method.target.path, method.target.index, apply(operator, method.target, single)))

    def _write(self, target: ast.expr, value: Expression, scope: _Scope) -> None:
        place = self._expression(target, scope)
        if not isinstance(place, Read):
            self._refuse(target, scope, "only fields of the state and local names are assigned to")
        if self._is_clock(target, scope):
            self._refuse(target, scope, CLOCK_RULE)
        self._emit(Write(place.path, place.index, value))

    def _emit(self, statement: Statement) -> None:
        self._out[-1].append(statement)

    def _is_clock(self, target: ast.expr, scope: _Scope) -> bool:
        place = self._expression(target, scope)
        member = self.machine.state.members.get(place.path[0]) if isinstance(place, Read) else None
        return isinstance(member, Field) and member.kind is Kind.CLOCK

    # --- expressions --------------------------------------------------------------------------------------------------

    def _term(self, node: ast.expr, scope: _Scope) -> Expression:
        value = self._expression(node, scope)
        if isinstance(value, bool | int):
            return Int(int(value))
        if not isinstance(value, Expression):
            self._refuse(node, scope, "not a number, a truth value or a set")
        return value

    def _expression(self, node: ast.expr, scope: _Scope) -> Any:
        match node:
            case ast.Constant(value=bool() | int() as value):
                return Int(int(value))
            case ast.Name(id=name):
                return self._lookup(name, node, scope)
            case ast.Attribute(value=value, attr=name):
                return self._attribute(self._expression(value, scope), name, node, scope)
            case ast.Subscript(value=value, slice=index):
                return self._element(self._expression(value, scope), self._term(index, scope), node, scope)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.BitOr() as operator, right=right):
                return self._arithmetic(operator, self._term(left, scope), self._term(right, scope), node, scope)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return apply("not", self._condition(operand, scope))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return apply("-", Int(0), self._term(operand, scope))
            case ast.BoolOp(op=operator, values=values):
                return self._logic("and" if isinstance(operator, ast.And) else "or", values, scope)
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() as operator], comparators=[ast.Tuple(elts=listed)]):
                return self._is_listed(operator, left, listed, node, scope)
            case ast.Compare(left=left, ops=[*operators], comparators=rights) if is_in_order(operators):
                return self._compared([left, *rights], operators, node, scope)
            case ast.IfExp(test=test, body=then, orelse=otherwise):
                condition = self._condition(test, scope)
                if isinstance(condition, Int):
                    return self._expression(then if condition.value else otherwise, scope)
                return apply("if", condition, self._term(then, scope), self._term(otherwise, scope))
            case ast.Call():
                return self._call(node, scope)
        self._refuse(node, scope, "not an expression of the language")

    def _compared(
        self, compared: list[ast.expr], operators: list[ast.cmpop], node: ast.expr, scope: _Scope
    ) -> Expression:
        """One comparison, or a chain of them; what stands behind a known False is not looked at."""
        claims: list[Expression] = []
        right = self._term(compared[0], scope)
        for operator, following in zip(operators, compared[1:], strict=True):
            terms = (right, self._term(following, scope))
            kinds = {self._kind(term) for term in terms}
            if "set" in kinds and ("number" in kinds or not isinstance(operator, _EQUALITY)):
                self._refuse(node, scope, "a set is only compared with a set, by == or !=")
            claims.append(apply(COMPARISONS[type(operator)], *terms))
            if claims[-1] == FALSE:
                return FALSE
            right = terms[1]
        return apply("and", *claims)

    def _is_listed(
        self, operator: ast.cmpop, left: ast.expr, listed: list[ast.expr], node: ast.expr, scope: _Scope
    ) -> Expression:
        """Whether a number is one of some constants."""
        term, constants = self._term(left, scope), [self._term(each, scope) for each in listed]
        if not constants or "set" in map(self._kind, (term, *constants)):
            self._refuse(node, scope, "a tuple lists constants that are numbers")
        if not all(isinstance(constant, Int) for constant in constants):
            self._refuse(node, scope, "a tuple lists constants")
        claim = apply("or", *(apply("==", term, constant) for constant in constants))
        return claim if isinstance(operator, ast.In) else apply("not", claim)

    def _logic(self, operator: Operator, values: list[ast.expr], scope: _Scope) -> Expression:
        """Arguments after a known `False and` or `True or` are not looked at: they may be undefined."""
        terms: list[Expression] = []
        for value in values:
            term = self._condition(value, scope)
            if term == (FALSE if operator == "and" else TRUE):
                return term
            terms.append(term)
        return apply(operator, *terms)

    def _condition(self, node: ast.expr, scope: _Scope) -> Expression:
        """A term that is true or false; a set or a number has a truth in Python, and none in the other readings."""
        term = self._term(node, scope)
        if self._kind(term) != "truth" and term not in (TRUE, FALSE):
            self._refuse(node, scope, "neither true nor false; compare it with something")
        return term

    def _arithmetic(
        self, operator: ast.operator, left: Expression, right: Expression, node: ast.expr, scope: _Scope
    ) -> Expression:
        kinds = {self._kind(term) for term in (left, right) if term != EMPTY}
        if isinstance(operator, ast.Add | ast.Sub) and "set" not in kinds:
            return apply("+" if isinstance(operator, ast.Add) else "-", left, right)
        if isinstance(operator, ast.Add) or not kinds <= {"set"}:
            self._refuse(node, scope, "numbers have + and -, sets have | and -")
        return apply("union" if isinstance(operator, ast.BitOr) else "minus", left, right)

    def _kind(self, term: Expression) -> str:
        """`truth`, `set` or `number`. The empty set is folded to the number 0, which counts as either."""
        match term:
            case Local(name):
                return self._kinds[name]
            case Read(path, _):
                return self._kind_of_field(path)
            case Apply("if", (_, then, otherwise)):
                return self._kind(otherwise if isinstance(then, Int) else then)
            case Apply("only" | "union" | "minus", _):
                return "set"
        return "truth" if is_boolean(term) else "number"

    def _kind_of_field(self, path: tuple[str, ...]) -> str:
        return {Kind.FLAG: "truth", Kind.BITS: "set"}.get(self._declared(path).kind, "number")

    def _is_instant(self, path: tuple[str, ...]) -> bool:
        return self._declared(path).kind is Kind.INSTANT

    def _declared(self, path: tuple[str, ...]) -> Field:
        member = self.machine.state.members[path[0]]
        return member if isinstance(member, Field) else member.kind.fields[path[1]]

    def _lookup(self, name: str, node: ast.expr, scope: _Scope) -> Any:
        if name in scope.names:
            return scope.names[name]
        if name in scope.function.__globals__:
            value = scope.function.__globals__[name]
            return Int(int(value)) if isinstance(value, int) else value
        if name in ("any", "all", "sum", "range", "min", "max"):
            return name
        self._refuse(node, scope, f"{name} is not known here")

    def _attribute(self, value: Any, name: str, node: ast.expr, scope: _Scope) -> Any:
        if value is _C:
            if name in self.machine.switches:
                return Switch(name)
            return Int(int(getattr(self.constants, name)))
        if isinstance(value, _State):
            return self._member(value, name, node, scope)
        if isinstance(value, type) and issubclass(value, IntEnum):
            return Int(int(value[name]))
        if isinstance(value, Read | Local | Int) or (value is Bits and name == "only"):
            return _SetMethod(value, name)
        self._refuse(node, scope, f"{name} is not known here")

    def _member(self, value: _State, name: str, node: ast.expr, scope: _Scope) -> Any:
        members = self.machine.state.members if not value.path else cast("RecordDeclaration", value.member).kind.fields
        if isinstance(value.member, RecordDeclaration) and value.member.length is not None and value.index is None:
            self._refuse(node, scope, "an array of records wants an index")
        if name not in members:
            self._refuse(node, scope, f"the state has no {'.'.join((*value.path, name))}")
        member = members[name]
        if isinstance(member, RecordDeclaration) or member.length is not None:
            return _State((*value.path, name), value.index, member)
        return Read((*value.path, name), value.index)

    def _element(self, value: Any, index: Expression, node: ast.expr, scope: _Scope) -> Any:
        is_array = isinstance(value, _State) and value.member is not None and value.member.length is not None
        if not is_array or (value.index is not None and isinstance(value.member, RecordDeclaration)):
            self._refuse(node, scope, "only arrays of the state have elements")
        if isinstance(index, Int) and not 0 <= index.value < int(getattr(self.constants, value.member.length)):
            self._refuse(node, scope, f"the array has no place {index.value} in this instance")
        if isinstance(value.member, Field):
            return Read(value.path, index)
        return _State(value.path, index, value.member)

    def _call(self, node: ast.Call, scope: _Scope) -> Any:
        callee = self._expression(node.func, scope)
        if callee in ("any", "all", "sum"):
            return self._fold_over(callee, node, scope)
        if callee in ("min", "max") and len(node.args) == 2:
            return self._extreme(callee, node, scope)
        if callee is Bits and not node.args:
            return Int(0)
        if isinstance(callee, _SetMethod):
            if isinstance(callee.target, type):
                return apply("only", self._term(node.args[0], scope))
            if callee.name == "has":
                return apply("has", callee.target, self._term(node.args[0], scope))
            if callee.name == "is_empty":
                return apply("is_empty", callee.target)
        if inspect.isfunction(callee):
            return self._value_of(callee, [self._argument(a, scope) for a in node.args])
        self._refuse(node, scope, "not a function of the specification")

    def _extreme(self, name: str, node: ast.Call, scope: _Scope) -> Expression:
        first, second = (self._term(argument, scope) for argument in node.args)
        if {self._kind(first), self._kind(second)} != {"number"}:
            self._refuse(node, scope, f"{name} is of two numbers")
        return apply("if", apply("<=" if name == "min" else ">=", first, second), first, second)

    def _fold_over(self, name: str, node: ast.Call, scope: _Scope) -> Expression:
        match node.args:
            case [ast.GeneratorExp(elt=element, generators=[ast.comprehension(ast.Name(id=variable), over, [])])]:
                pass
            case _:
                self._refuse(node, scope, f"{name} takes one generator over a range")
        terms = [self._condition(element, scope.inner(**{variable: Int(i)})) for i in self._range(over, scope)]
        if name == "sum":
            total: Expression = Int(0)
            for term in terms:
                total = apply("+", total, apply("if", term, Int(1), Int(0)))
            return total
        return apply("and" if name == "all" else "or", *terms)

    def _range(self, node: ast.expr, scope: _Scope) -> Iterator[int]:
        match node:
            case ast.Call(func=ast.Name(id="range"), args=arguments):
                bounds = [self._term(a, scope) for a in arguments]
            case _:
                self._refuse(node, scope, "loops go over a range")
        if not all(isinstance(b, Int) for b in bounds):
            self._refuse(node, scope, "the bounds of a range are constants of the instance")
        return iter(range(*(b.value for b in bounds if isinstance(b, Int))))

    def _refuse(self, node: ast.stmt | ast.expr, scope: _Scope, why: str) -> NoReturn:
        file = inspect.getsourcefile(scope.function)
        line = scope.first_line + node.lineno - 1
        msg = f"{file}:{line}: {ast.unparse(node).splitlines()[0]}: {why}"
        raise NotInTheLanguage(msg)


def _flat(statements: Iterable[Statement]) -> Iterator[Statement]:
    """The statements and those in their branches."""
    for statement in statements:
        yield statement
        if isinstance(statement, If):
            yield from _flat((*statement.then, *statement.otherwise))


@cache
def _source(function: Callable[..., Any]) -> tuple[ast.FunctionDef, int]:
    lines, first_line = inspect.getsourcelines(function)
    tree = ast.parse(textwrap.dedent("".join(lines))).body[0]
    if not isinstance(tree, ast.FunctionDef):
        msg = f"{function.__name__} is not a plain function"
        raise NotInTheLanguage(msg)
    return tree, first_line
