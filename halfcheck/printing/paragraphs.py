"""Sentences on a console, as wide as it is: whole lines in a pipe without a width, folded at words elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from halfcheck.printing.counterexample_table import PIPE_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

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


def in_world(faults: Sequence[str]) -> str:
    """The environment of an answer, in words.

    Examples
    --------
    >>> in_world(["crash", "lose_end"]), in_world([])
    ('with crash, lose_end', 'in the quiet world')
    """
    return f"with {', '.join(faults)}" if faults else "in the quiet world"


def counted(number: int, what: str) -> str:
    """A number and what is counted.

    Examples
    --------
    >>> counted(1, "guarantee"), counted(2, "guarantee")
    ('1 guarantee', '2 guarantees')
    """
    return f"{number} {what}{'' if number == 1 else 's'}"
