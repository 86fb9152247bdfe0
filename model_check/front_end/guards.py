"""The conjuncts of an action's guard as they stand in the source, those of the functions that it calls included."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from model_check.front_end.source import CONJUNCTS, source_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spec.language import Refused


@dataclass(frozen=True, slots=True)
class WrittenConjunct:
    """A conjunct in the source.

    Attributes
    ----------
    kind, rule : str
        `require`, `assume` or `within`, and its words.
    place : tuple of int
        The line in the action's file, then the line in each function that the action calls for it.
    """

    kind: str
    rule: str
    place: tuple[int, ...]


def written_guard(function: Callable[..., Any]) -> tuple[WrittenConjunct, ...]:
    """The conjuncts of an action, in the order of the source, whether or not an instance ever comes to them."""
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
    source = source_of(function)
    for node in _statements(source.body):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=arguments) as call):
                place = (*calls, source.line_of(call))
                callee = function.__globals__.get(name)
                if callee in CONJUNCTS:
                    yield WrittenConjunct(CONJUNCTS[callee], ast.literal_eval(arguments[1]), place)
                elif inspect.isfunction(callee):
                    yield from _conjuncts(callee, place)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements in the order of the source, those of inner blocks included."""
    for statement in body:
        yield statement
        match statement:
            case ast.If(body=then, orelse=otherwise):
                yield from _statements([*then, *otherwise])
            case ast.For(body=inner):
                yield from _statements(inner)
