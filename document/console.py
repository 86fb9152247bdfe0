"""A document on the console: as wide as it is, sentences folded at words where the width is known."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from document.fitting_table import FittingTable
from document.parts import Cell, Code, Details, Heading, List, Names, Paragraph, Part, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


PIPE_COLUMNS = 400
"""Columns of a table that no terminal shows, unless COLUMNS says otherwise: a row is a line, for grep to find."""

_NARROWEST = 20


def wide_console(*, stderr: bool = False) -> Console:
    """Standard output or error; as wide as COLUMNS says, else as the terminal is, or `PIPE_COLUMNS` without one."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return Console(highlight=False, stderr=stderr, width=max(int(columns), _NARROWEST))
    console = Console(highlight=False, stderr=stderr)
    return console if console.is_terminal else Console(highlight=False, stderr=stderr, width=PIPE_COLUMNS)


def show(parts: Iterable[Part], console: Console | None = None) -> None:
    """Print a document; its texts stand there as they are written."""
    console = wide_console() if console is None else console
    for number, part in enumerate(parts):
        if isinstance(part, Heading) and number:
            console.print()
        _show(console, part)


def _show(console: Console, part: Part) -> None:
    match part:
        case Heading(text):
            say(console, text, "bold")
        case Paragraph(text, tone, label):
            say(console, Text.assemble((f"{label}: ", "bold"), text) if label else text, tone.value)
        case List(items):
            for item in items:
                below(console, item)
        case Names(title, names):
            listed(console, title, names)
        case Code(text):
            console.print(Text(text), soft_wrap=True)
        case Table(columns, rows):
            fitting = FittingTable(*(column.replace("^", "") for column in columns))
            for row in rows:
                fitting.add_row(*map(_cell, row))
            console.print(fitting)
        case Details(summary, parts):
            say(console, summary, "bold")
            show(parts, console)


def _cell(cell: Cell) -> Text:
    return Text(cell.text, style=cell.tone.value) if isinstance(cell, Paragraph) else Text(cell)


_MARGIN = "    "
_LEAST_BESIDE = 24
"""Columns beside a margin; where there are fewer, the text begins at the left."""


def say(console: Console, text: str | Text, style: str = "") -> None:
    """A sentence."""
    console.print(Text(text, style=style) if isinstance(text, str) else text, soft_wrap=console.width >= PIPE_COLUMNS)


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
    """A text that belongs to the line above: four columns in."""
    beside(console, _MARGIN, text)


def listed(console: Console, title: str, names: Sequence[str]) -> None:
    """A title and names behind it, or below it where the line is too short."""
    line = f"{title}: {', '.join(names)}"
    if len(line) <= console.width:
        say(console, line)
        return
    say(console, f"{title}:")
    below(console, ", ".join(names))
