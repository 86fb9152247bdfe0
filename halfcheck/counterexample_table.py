"""A counterexample as a numbered table with only what changed, for `check` and `replay`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from model_check.counterexample.steps import Event


PIPE_COLUMNS = 160
"""Columns of a table that no terminal shows: enough for the longest rule on one line."""


def wide_console() -> Console:
    """Standard output; as wide as the terminal, or `PIPE_COLUMNS` when there is none."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=PIPE_COLUMNS)


def counterexample_table(events: Iterable[Event]) -> Table:
    """A row a step: its number, the clock, the action with its parameters, and the fields that it changed."""
    table = Table(box=None, pad_edge=False, show_edge=False)
    table.add_column("step", justify="right")
    table.add_column("tick", justify="right")
    table.add_column("action", no_wrap=True)
    table.add_column("what changed")
    for event in events:
        changes = Text("\n".join(str(change) for change in event.changes))
        table.add_row(str(event.number), str(event.time), Text(str(event.step)), changes)
    return table
