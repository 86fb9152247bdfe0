"""A counterexample as a numbered table with only what changed, for `check` and `replay`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rich.console import Console

from halfcheck.printing.fitting_table import FittingTable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from model_check.counterexample.steps import Event

PIPE_COLUMNS = 400
"""Columns of a table that no terminal shows, unless COLUMNS says otherwise: a row is a line, for grep to find."""

_NARROWEST = 20


def wide_console() -> Console:
    """Standard output; as wide as COLUMNS says, otherwise as the terminal is, or `PIPE_COLUMNS` when there is none."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return Console(highlight=False, width=max(int(columns), _NARROWEST))
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=PIPE_COLUMNS)


def counterexample_table(events: Iterable[Event]) -> FittingTable:
    """A row a step: its number, the clock, the action with its parameters, and the fields that it changed."""
    table = FittingTable(">step", ">tick", "action", "~what changed")
    for event in events:
        changes = "\n".join(str(change) for change in event.changes)
        table.add_row(str(event.number), str(event.time), str(event.step), changes)
    return table
