"""The source of a function of the specification: its place, its syntax tree, and the conjuncts of its guard."""

from __future__ import annotations

import ast
import inspect
import textwrap
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NoReturn

from model_check.errors import NotInTheLanguage
from spec.language import Kind, MachineState, Refused, assume, require, within
from spec.language.fields import Field
from spec.language.rules import ASSUME, REQUIRE, WITHIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from model_check.front_end.terms import Path


CONJUNCTS: Final = {require: REQUIRE, assume: ASSUME, within: WITHIN}
"""The functions whose calls are conjuncts of a guard, and the kinds of these."""

CLOCK_RULE: Final = "the clock only goes on by `+= 1`, or steps back by `-= 1`"


@dataclass(frozen=True, slots=True)
class Source:
    """A function's syntax tree, without its docstring, and its place in a file."""

    function: Callable[..., Any]
    file: str
    first_line: int
    tree: ast.FunctionDef

    @property
    def body(self) -> list[ast.stmt]:
        """The statements behind the docstring."""
        return self.tree.body[1:] if ast.get_docstring(self.tree, clean=False) is not None else self.tree.body

    def refuse(self, node: ast.stmt | ast.expr | ast.arg, why: str) -> NoReturn:
        """Say that a node is not part of the language.

        Raises
        ------
        NotInTheLanguage
            Always.
        """
        raise self.refusal(node, why)

    def refusal(self, node: ast.stmt | ast.expr | ast.arg, why: str) -> NotInTheLanguage:
        """The error for a node that is not part of the language, with the file and the line."""
        text = f"{self.tree.name if node is self.tree else ast.unparse(node).splitlines()[0]}: "
        return NotInTheLanguage(f"{self.file}:{self.line_of(node)}: {text}{why}")

    def line_of(self, node: ast.stmt | ast.expr | ast.arg) -> int:
        """The line of a node in its file."""
        return self.first_line + node.lineno - 1


class Origin:
    """The origin of a term."""

    __slots__ = ("_node", "_source")

    def __init__(self, source: Source, node: ast.stmt | ast.expr) -> None:
        self._source = source
        self._node = node

    @property
    def line(self) -> int:
        """The line in its file."""
        return self._source.line_of(self._node)

    def refuse(self, why: str) -> NoReturn:
        """See `Source.refuse`."""
        self._source.refuse(self._node, why)


@cache
def source_of(function: Callable[..., Any]) -> Source:
    """Read a function's source; `NotInTheLanguage` when it is not a plain function whose source can be read."""
    try:
        lines, first_line = inspect.getsourcelines(function)
    except (OSError, TypeError) as error:
        msg = f"{function!r} has no source that can be read"
        raise NotInTheLanguage(msg) from error
    tree = ast.parse(textwrap.dedent("".join(lines))).body[0]
    if not isinstance(tree, ast.FunctionDef):
        msg = f"{inspect.getsourcefile(function)}:{first_line}: {function.__name__} is not a plain function"
        raise NotInTheLanguage(msg)
    return Source(function, str(inspect.getsourcefile(function)), first_line, tree)


def without_slack(state: type[MachineState]) -> str | None:
    """The first instant of a state that has no slack, so that the clock may not step back; None when all have."""
    stiff = (path for path, field, _ in declared_fields(state) if field.kind is Kind.INSTANT and field.slack is None)
    return next((".".join(path) for path in stiff), None)


def declared_fields(state: type[MachineState]) -> Iterator[tuple[Path, Field, str | None]]:
    """Each field of the state with its path, in the order of declaration, and the length of its array of records."""
    for name, member in state.members.items():
        if isinstance(member, Field):
            yield (name,), member, None
        else:
            yield from (((name, inner), field, member.length) for inner, field in member.kind.fields.items())


@dataclass(frozen=True, slots=True)
class WrittenConjunct:
    """A conjunct in the source."""

    kind: str  # `require`, `assume` or `within`
    rule: str  # its words
    place: tuple[int, ...]  # the line in the action's file, then the line in each function that the action calls for it


def written_guard(function: Callable[..., Any]) -> tuple[WrittenConjunct, ...]:
    """The conjuncts of an action, those of the functions that it calls included, in the order of the source.

    Whether or not an instance ever comes to them.
    """
    return tuple(_conjuncts(function, ()))


def place_of_refusal(refused: Refused) -> tuple[int, ...]:
    """The place of the conjunct that refused a step: the lines between `spec.language.take` and the conjunct itself."""
    lines: list[int] = []
    traceback = refused.__traceback__
    while traceback is not None:
        lines.append(traceback.tb_lineno)
        traceback = traceback.tb_next
    return tuple(lines[1:-1])


def _conjuncts(function: Callable[..., Any], calls: tuple[int, ...]) -> Iterator[WrittenConjunct]:
    for name, line, words in _calls_in(function):
        callee = function.__globals__.get(name)  # as it is now: a mutant has another one
        if callee in CONJUNCTS:
            yield WrittenConjunct(CONJUNCTS[callee], words, (*calls, line))
        elif inspect.isfunction(callee):
            yield from _conjuncts(callee, (*calls, line))


@cache
def _calls_in(function: Callable[..., Any]) -> tuple[tuple[str, int, str], ...]:
    """The calls that are statements of a function: the name, the line, and the text that is the second argument."""
    source, found = source_of(function), list[tuple[str, int, str]]()
    for node in _statements(source.body):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=[_, ast.Constant(value=str(words)), *_]) as call):
                found.append((name, source.line_of(call), words))
            case ast.Expr(value=ast.Call(func=ast.Name(id=name)) as call):
                found.append((name, source.line_of(call), ""))
    return tuple(found)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements in the order of the source, those of inner blocks included."""
    for statement in body:
        yield statement
        match statement:
            case ast.If(body=then, orelse=otherwise):
                yield from _statements([*then, *otherwise])
            case ast.For(body=inner):
                yield from _statements(inner)
