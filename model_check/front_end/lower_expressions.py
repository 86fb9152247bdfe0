"""What an expression of the source is as a term: calls inlined, folds unrolled, constants of the instance folded.

The source is read with `ast`; what the language does not have (`spec.language`) is refused with the file and the line.
"""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

from model_check.errors import NotInTheLanguage
from model_check.front_end.open_expressions import COMPARISONS, is_in_order
from model_check.front_end.scope import CONSTANTS, STATE, Scope, SetMethod, StatePart, source_of_function
from model_check.front_end.terms import (
    EMPTY,
    FALSE,
    TRUE,
    Apply,
    Expression,
    Int,
    Local,
    Operator,
    Read,
    Switch,
    apply,
    is_boolean,
)
from spec.language import Bits, Kind, Machine
from spec.language.fields import Field, RecordDeclaration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_EQUALITY: Final = (ast.Eq, ast.NotEq)


@dataclass
class ExpressionLowering:
    """Lowers the functions of a machine that give a value, in one instance.

    Parameters
    ----------
    machine : Machine
    constants : object
        The instance; the machine's switches are left open.
    """

    machine: Machine
    constants: object
    _kinds: dict[str, str] = field(default_factory=dict)

    # --- functions ----------------------------------------------------------------------------------------------------

    def _scope(self, function: Callable[..., Any], arguments: list[Any]) -> tuple[Scope, list[ast.stmt]]:
        tree, first_line = source_of_function(function)
        names = [argument.arg for argument in tree.args.args]
        if len(names) != len(arguments):
            msg = f"{function.__name__} takes {len(names)} arguments, {len(arguments)} are given"
            raise NotInTheLanguage(msg)
        body = tree.body[1:] if ast.get_docstring(tree, clean=False) is not None else tree.body
        return Scope(function, dict(zip(names, arguments, strict=True)), first_line), body

    def _value_of(self, function: Callable[..., Any], arguments: list[Any]) -> Any:
        """Inline a function for its value: local names, then `if … return` as often as needed, then `return`."""
        scope, body = self._scope(function, arguments)
        return self._returned(body, scope)

    def _returned(self, body: list[ast.stmt], scope: Scope) -> Any:
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

    def _argument(self, argument: ast.expr, scope: Scope) -> Any:
        value = self._expression(argument, scope)
        if isinstance(value, StatePart) and value is not STATE:
            self._refuse(argument, scope, "a record is no argument: give the index")
        return value

    # --- expressions --------------------------------------------------------------------------------------------------

    def _term(self, node: ast.expr, scope: Scope) -> Expression:
        value = self._expression(node, scope)
        if isinstance(value, bool | int):
            return Int(int(value))
        if not isinstance(value, Expression):
            self._refuse(node, scope, "not a number, a truth value or a set")
        return value

    def _expression(self, node: ast.expr, scope: Scope) -> Any:
        match node:
            case ast.Name(id=name):
                return self._lookup(name, node, scope)
            case ast.Attribute(value=value, attr=name):
                return self._attribute(self._expression(value, scope), name, node, scope)
            case ast.Constant(value=bool() | int() as value):
                return Int(int(value))
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
        self, compared: list[ast.expr], operators: list[ast.cmpop], node: ast.expr, scope: Scope
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
        self, operator: ast.cmpop, left: ast.expr, listed: list[ast.expr], node: ast.expr, scope: Scope
    ) -> Expression:
        """Whether a number is one of some constants."""
        term, constants = self._term(left, scope), [self._term(each, scope) for each in listed]
        if not constants or "set" in map(self._kind, (term, *constants)):
            self._refuse(node, scope, "a tuple lists constants that are numbers")
        if not all(isinstance(constant, Int) for constant in constants):
            self._refuse(node, scope, "a tuple lists constants")
        claim = apply("or", *(apply("==", term, constant) for constant in constants))
        return claim if isinstance(operator, ast.In) else apply("not", claim)

    def _logic(self, operator: Operator, values: list[ast.expr], scope: Scope) -> Expression:
        """Arguments after a known `False and` or `True or` are not looked at: they may be undefined."""
        terms: list[Expression] = []
        for value in values:
            term = self._condition(value, scope)
            if term == (FALSE if operator == "and" else TRUE):
                return term
            terms.append(term)
        return apply(operator, *terms)

    def _condition(self, node: ast.expr, scope: Scope) -> Expression:
        """A term that is true or false; a set or a number has a truth in Python, and none in the other readings."""
        term = self._term(node, scope)
        if self._kind(term) != "truth" and term not in (TRUE, FALSE):
            self._refuse(node, scope, "neither true nor false; compare it with something")
        return term

    def _arithmetic(
        self, operator: ast.operator, left: Expression, right: Expression, node: ast.expr, scope: Scope
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

    def _declared(self, path: tuple[str, ...]) -> Field:
        member = self.machine.state.members[path[0]]
        return member if isinstance(member, Field) else member.kind.fields[path[1]]

    def _lookup(self, name: str, node: ast.expr, scope: Scope) -> Any:
        if name in scope.names:
            return scope.names[name]
        if name in scope.function.__globals__:
            value = scope.function.__globals__[name]
            return Int(int(value)) if isinstance(value, int) else value
        if name in ("any", "all", "sum", "range", "min", "max"):
            return name
        self._refuse(node, scope, f"{name} is not known here")

    def _attribute(self, value: Any, name: str, node: ast.expr, scope: Scope) -> Any:
        if value is CONSTANTS:
            if name in self.machine.switches:
                return Switch(name)
            return Int(int(getattr(self.constants, name)))
        if isinstance(value, StatePart):
            return self._member(value, name, node, scope)
        if isinstance(value, type) and issubclass(value, IntEnum):
            return Int(int(value[name]))
        if isinstance(value, Read | Local | Int) or (value is Bits and name == "only"):
            return SetMethod(value, name)
        self._refuse(node, scope, f"{name} is not known here")

    def _member(self, value: StatePart, name: str, node: ast.expr, scope: Scope) -> Any:
        members = self.machine.state.members if not value.path else cast("RecordDeclaration", value.member).kind.fields
        if isinstance(value.member, RecordDeclaration) and value.member.length is not None and value.index is None:
            self._refuse(node, scope, "an array of records wants an index")
        if name not in members:
            self._refuse(node, scope, f"the state has no {'.'.join((*value.path, name))}")
        member = members[name]
        if isinstance(member, RecordDeclaration) or member.length is not None:
            return StatePart((*value.path, name), value.index, member)
        return Read((*value.path, name), value.index)

    def _element(self, value: Any, index: Expression, node: ast.expr, scope: Scope) -> Any:
        is_array = isinstance(value, StatePart) and value.member is not None and value.member.length is not None
        if not is_array or (value.index is not None and isinstance(value.member, RecordDeclaration)):
            self._refuse(node, scope, "only arrays of the state have elements")
        if isinstance(index, Int) and not 0 <= index.value < int(getattr(self.constants, value.member.length)):
            self._refuse(node, scope, f"the array has no place {index.value} in this instance")
        if isinstance(value.member, Field):
            return Read(value.path, index)
        return StatePart(value.path, index, value.member)

    def _call(self, node: ast.Call, scope: Scope) -> Any:
        callee = self._expression(node.func, scope)
        if callee in ("any", "all", "sum"):
            return self._fold_over(callee, node, scope)
        if callee in ("min", "max") and len(node.args) == 2:
            return self._extreme(callee, node, scope)
        if callee is Bits and not node.args:
            return Int(0)
        if isinstance(callee, SetMethod):
            if isinstance(callee.target, type):
                return apply("only", self._term(node.args[0], scope))
            if callee.name == "has":
                return apply("has", callee.target, self._term(node.args[0], scope))
            if callee.name == "is_empty":
                return apply("is_empty", callee.target)
        if inspect.isfunction(callee):
            return self._value_of(callee, [self._argument(a, scope) for a in node.args])
        self._refuse(node, scope, "not a function of the specification")

    def _extreme(self, name: str, node: ast.Call, scope: Scope) -> Expression:
        first, second = (self._term(argument, scope) for argument in node.args)
        if {self._kind(first), self._kind(second)} != {"number"}:
            self._refuse(node, scope, f"{name} is of two numbers")
        return apply("if", apply("<=" if name == "min" else ">=", first, second), first, second)

    def _fold_over(self, name: str, node: ast.Call, scope: Scope) -> Expression:
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

    def _range(self, node: ast.expr, scope: Scope) -> Iterator[int]:
        match node:
            case ast.Call(func=ast.Name(id="range"), args=arguments):
                bounds = [self._term(a, scope) for a in arguments]
            case _:
                self._refuse(node, scope, "loops go over a range")
        if not all(isinstance(b, Int) for b in bounds):
            self._refuse(node, scope, "the bounds of a range are constants of the instance")
        return iter(range(*(b.value for b in bounds if isinstance(b, Int))))

    def _refuse(self, node: ast.stmt | ast.expr, scope: Scope, why: str) -> NoReturn:
        file = inspect.getsourcefile(scope.function)
        line = scope.first_line + node.lineno - 1
        msg = f"{file}:{line}: {ast.unparse(node).splitlines()[0]}: {why}"
        raise NotInTheLanguage(msg)
