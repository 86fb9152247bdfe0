"""``halfcheck broker control``: one order to a broker that runs, and its answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import typer

from halfcheck.errors import ExitCode
from wire.control.controller import Controller, order_of_words

if TYPE_CHECKING:
    from halfcheck.broker.broker_options import BrokerOptions


def give_order(options: BrokerOptions) -> ExitCode:
    """Give the order that the words of the command line name."""
    first, *words = options.words or []
    if first != "control":
        message = f"{first!r}: expected nothing, to start a broker, or control and an order"
        raise typer.BadParameter(message)
    name, arguments = order_of_words(words)
    if options.at is None or options.token is None:
        message = "control: --at HOST:PORT and --token TOKEN (or HALFCHECK_TOKEN) are missing; the broker printed both"
        raise typer.BadParameter(message)
    print(json.dumps(Controller(options.at, options.token).order(name, **arguments), indent=2))
    return ExitCode.OK
