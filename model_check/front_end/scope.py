"""What a name of the source means while it is read: a part of the state, the constants, a method of a set, a value."""

from __future__ import annotations

import ast
import inspect
import textwrap
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from model_check.errors import NotInTheLanguage

if TYPE_CHECKING:
    from collections.abc import Callable

    from model_check.front_end.terms import Expression
    from spec.language import Bits
    from spec.language.fields import Field, RecordDeclaration


@dataclass(frozen=True, slots=True)
class StatePart:
    """The state, or a record of it, or an array in it that still wants its index."""

    path: tuple[str, ...]
    index: Expression | None
    member: Field | RecordDeclaration | None


@dataclass(frozen=True, slots=True)
class SetMethod:
    """`add`, `discard`, `has` or `is_empty` of a set, or `only` of `Bits`, that still wants to be called."""

    target: Expression | type[Bits]
    name: str


class TheConstants:
    """The object `c`."""


CONSTANTS: Final = TheConstants()
STATE: Final = StatePart((), None, None)


@dataclass
class Scope:
    """The body of one function: what its names mean."""

    function: Callable[..., Any]
    names: dict[str, Any]
    first_line: int

    def inner(self, **names: Any) -> Scope:
        """A block in it: what is named there is not known behind it."""
        return Scope(self.function, {**self.names, **names}, self.first_line)


@cache
def source_of_function(function: Callable[..., Any]) -> tuple[ast.FunctionDef, int]:
    """The function as a tree, and the line of its file where it begins.

    Raises
    ------
    NotInTheLanguage
        When it is a lambda, or `async`.
    """
    lines, first_line = inspect.getsourcelines(function)
    tree = ast.parse(textwrap.dedent("".join(lines))).body[0]
    if not isinstance(tree, ast.FunctionDef):
        msg = f"{function.__name__} is not a plain function"
        raise NotInTheLanguage(msg)
    return tree, first_line
