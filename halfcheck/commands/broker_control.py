"""``halfcheck broker control``: an order to a broker that runs."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Final

import typer

from halfcheck.errors import ExitCode
from halfcheck.options import print_json
from wire.control.controller import Controller, order_of_words
from wire.control.orders import ORDERS

if TYPE_CHECKING:
    from wire.order_arguments import OrderArgument

Words = Annotated[list[str] | None, typer.Argument(metavar="ORDER NAME=VALUE", help="The order, and what it takes.")]
At = Annotated[
    str | None,
    typer.Option(envvar="HALFCHECK_CONTROL", metavar="HOST:PORT", help="The control port, as the broker printed it."),
]
Token = Annotated[
    str | None, typer.Option(envvar="HALFCHECK_TOKEN", metavar="TOKEN", help="The token, as the broker printed it.")
]


def command(words: Words = None, at: At = None, token: Token = None) -> ExitCode:
    """Give one order to a broker that runs, and print its answer as JSON.

    The orders are those of the control port and of --order; docs/broker.md says more of each. A value is JSON or a bare
    text. In a command that halfcheck broker --exec runs, --at and --token may be left out.

    Examples
    --------
    halfcheck broker control status --at 127.0.0.1:41234 --token TOKEN
    halfcheck broker control push_clock ms=60000
    halfcheck broker control fault fault=lose_end key=order-7
    """
    name, arguments = order_of_words(words or [])
    if at is None or token is None:
        message = "--at HOST:PORT and --token TOKEN (or HALFCHECK_TOKEN) are missing; the broker printed both"
        raise typer.BadParameter(message)
    print_json(Controller(at, token).order(name, **arguments))
    return ExitCode.OK


def lines_of_orders() -> list[str]:
    """A line an order, and one for each thing that it takes: of the table that the control port goes by.

    Examples
    --------
    >>> [line for line in lines_of_orders() if line.startswith("crash")][1]
    'crash at_write=0: the number of a write from now on, or 0 for now'
    """
    lines: list[str] = []
    for name, order in ORDERS.items():
        lines.append(f"{name}: {order.about}")
        for word, argument in order.takes.items():
            lines.append(f"{name} {word}={_value(argument)}: {argument.about}")
    return lines


def _value(argument: OrderArgument) -> str:
    """What stands for a value: its default, its choices, or its type."""
    if argument.default is not None and argument.kind is not bool:
        return str(argument.default) or "TEXT"
    return "|".join(argument.choices) or _SHOWN[argument.kind]


_SHOWN: Final[dict[type, str]] = {int: "N", float: "X", str: "TEXT", bool: "true|false"}

command.__doc__ = "\n".join([inspect.getdoc(command) or "", "", "Orders", "------", *lines_of_orders()])
