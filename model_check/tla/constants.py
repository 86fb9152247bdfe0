"""The constants of an instance: those that the configuration gives, and those that follow from them."""

from __future__ import annotations

import ast
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from model_check.errors import NotInTheLanguage
from model_check.front_end.source import Source, source_of
from spec.language import NONE

if TYPE_CHECKING:
    from collections.abc import Callable


def given_constants(constants: object) -> dict[str, Any]:
    """The constants that the instance gives, by their names, in the order of their declaration."""
    return {f.name: getattr(constants, f.name) for f in fields(constants)}  # type: ignore[arg-type]


def config_value(name: str, value: object) -> str:
    """The text behind the name of a constant in a configuration.

    `NotInTheLanguage` when a configuration cannot write it.
    """
    if isinstance(value, bool):
        return "= TRUE" if value else "= FALSE"
    if value == NONE:
        return "<- NONE"
    if isinstance(value, int) and value >= 0:
        return f"= {value}"
    if isinstance(value, tuple) and all(type(v) is int and v >= 0 for v in value):
        if len(set(value)) < len(value):
            msg = f"{name} = {value!r} lists a value twice, which is one way to go on in TLA+ and two elsewhere"
            raise NotInTheLanguage(msg)
        return "= {" + ", ".join(str(v) for v in value) + "}"
    msg = f"{name} = {value!r} cannot be written into a configuration of TLC"
    raise NotInTheLanguage(msg)


class Derived:
    """Derived constants: properties of the class of the constants, read from their source.

    `constant` and `note` name other constants, and the definitions that every module may have.
    """

    def __init__(self, constants: object, constant: Callable[[str], str], note: Callable[[str], str]) -> None:
        self._constants = constants
        self._constant = constant
        self._note = note

    def expression(self, name: str) -> str:
        """The text of a derived constant.

        `NotInTheLanguage` when it is more than sums, products and maxima of other constants.
        """
        derived = getattr(type(self._constants), name, None)
        if not isinstance(derived, property) or derived.fget is None:
            msg = f"{name} is neither a field nor a property of {type(self._constants).__name__}"
            raise NotInTheLanguage(msg)
        source = source_of(derived.fget)
        body = source.body
        if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is not None:
            return self._text(body[0].value, source)
        raise source.refusal(source.tree, "a derived constant is one expression")

    def _text(self, node: ast.expr, source: Source) -> str:
        match node:
            case ast.Constant(value=int() as value):
                return str(value)
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                return self._constant(name)
            case ast.Name(id=name) if source.function.__globals__.get(name) == NONE:
                return self._note(name)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() as operator, right=right):
                symbol = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}[type(operator)]
                return f"{self._operand(left, source)} {symbol} {self._operand(right, source)}"
            case ast.Call(func=ast.Name(id="max"), args=arguments, keywords=[]):
                return self._maximum(arguments, source)
        raise source.refusal(node, "a derived constant is a sum, a product or a maximum of others")

    def _operand(self, node: ast.expr, source: Source) -> str:
        text = self._text(node, source)
        return f"({text})" if isinstance(node, ast.BinOp) else text

    def _maximum(self, arguments: list[ast.expr], source: Source) -> str:
        single = [self._text(a, source) for a in arguments if not isinstance(a, ast.Starred)]
        sets = [self._text(a.value, source) for a in arguments if isinstance(a, ast.Starred)]
        if single:
            sets.append("{" + ", ".join(single) + "}")
        return f"{self._note('Max')}({' ∪ '.join(sets)})".replace("∪", "\\cup")
