"""The console: how wide it is, sentences on it (folded at words where the width is known), and a counterexample."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from halfcheck.printing.fitting_table import FittingTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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


def counterexample_table(events: Iterable[Event], most_changes: int | None = None) -> FittingTable:
    """A row a step: its number, the clock, the action with its parameters, and the fields that it changed.

    Parameters
    ----------
    most_changes
        So many of a step at most, in one line; how many more there are is said.
    """
    table = FittingTable(">step", ">tick", "action", "~what changed")
    for event in events:
        changes = [str(change) for change in event.changes]
        told = "\n".join(changes) if most_changes is None else _the_first(changes, most_changes)
        table.add_row(str(event.number), str(event.time), str(event.step), told)
    return table


def _the_first(changes: Sequence[str], most: int) -> str:
    """Some changes in a line, and how many more there are.

    Examples
    --------
    >>> _the_first(["half_length: 0 → 1", "a: 1 → 2", "b: 1 → 2"], 1)
    'half_length: 0 → 1 (and 2 more)'
    """
    more = len(changes) - most
    return "; ".join(changes[:most]) + (f" (and {more} more)" if more > 0 else "")


_MARGIN = "    "
_LEAST_BESIDE = 24
"""Columns beside a margin; where there are fewer, the text begins at the left."""


def say(console: Console, text: str, style: str = "") -> None:
    """A sentence."""
    console.print(Text(text, style=style), soft_wrap=console.width >= PIPE_COLUMNS)


def beside(console: Console, margin: str, text: str, style: str = "") -> None:
    """A text behind a margin, under which its further lines stay clear."""
    if console.width < len(margin) + _LEAST_BESIDE:
        say(console, f"{margin.lstrip()}{text}", style)
        return
    lines = Text(text, style=style).wrap(console, console.width - len(margin))
    for number, line in enumerate(lines):
        line.rstrip()
        console.print(Text.assemble(margin if number == 0 else " " * len(margin), line))


def below(console: Console, text: str) -> None:
    """What belongs to the line above: four columns in."""
    beside(console, _MARGIN, text)


def listed(console: Console, title: str, names: Sequence[str]) -> None:
    """A title and names behind it, or below it where the line is too short."""
    line = f"{title}: {', '.join(names)}"
    if len(line) <= console.width:
        say(console, line)
        return
    say(console, f"{title}:")
    below(console, ", ".join(names))


def first_of(names: Sequence[str], most: int = 3) -> str:
    """The first of some names, and how many more there are.

    Examples
    --------
    >>> first_of(["a", "b", "c", "d", "e"]), first_of(["a", "b"])
    ('a, b, c and 2 more', 'a, b')
    """
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def counted(number: int, what: str) -> str:
    """A number and what is counted.

    Examples
    --------
    >>> counted(1, "guarantee"), counted(2, "guarantee")
    ('1 guarantee', '2 guarantees')
    """
    return f"{number} {what}{'' if number == 1 else 's'}"
