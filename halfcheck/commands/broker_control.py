"""``halfcheck broker control``: an order to a broker that runs."""

from __future__ import annotations

from typing import Annotated

import typer

from halfcheck.errors import ExitCode
from halfcheck.options import print_json

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
    """
    from wire.control.controller import Controller, order_of_words

    name, arguments = order_of_words(words or [])
    if at is None or token is None:
        message = "--at HOST:PORT and --token TOKEN (or HALFCHECK_TOKEN) are missing; the broker printed both"
        raise typer.BadParameter(message)
    print_json(Controller(at, token).order(name, **arguments))
    return ExitCode.OK
