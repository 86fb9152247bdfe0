"""A document as Markdown, as GitHub shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from document.parts import Cell, Code, Details, Heading, List, Names, Paragraph, Part, Table

if TYPE_CHECKING:
    from collections.abc import Iterable


_BAR = r"\|"
_ALIGNED = {">": "--:", "^": ":-:"}


def markdown(parts: Iterable[Part]) -> str:
    r"""The text of a page.

    Examples
    --------
    >>> print(markdown([Heading("Depths"), Table(("clause", ">steps"), (("S1|S2", "15"), ("S3",)))]), end="")
    ## Depths
    <BLANKLINE>
    | clause | steps |
    |---|--:|
    | S1\|S2 | 15 |
    | S3 |  |
    """
    return "\n\n".join(map(_block, parts)) + "\n"


def _block(part: Part) -> str:
    match part:
        case Heading(text, level):
            return f"{'#' * level} {text}"
        case Paragraph(text, label=label):
            return f"**{label}**: {text}" if label else text
        case List(items):
            return "\n".join(f"- {item}" for item in items)
        case Names(title, names):
            return f"{title}: {', '.join(names)}"
        case Code(text, language):
            return f"```{language}\n{text}\n```"
        case Table(columns, rows):
            ruler = "|".join(_ALIGNED.get(column[:1], "---") for column in columns)
            wide = [(*row, *[""] * (len(columns) - len(row))) for row in rows]
            return "\n".join([_row([column.lstrip(">^~") for column in columns]), f"|{ruler}|", *map(_row, wide)])
        case Details(summary, parts):
            return f"<details><summary>{summary}</summary>\n\n{markdown(parts)}\n</details>"


def _row(cells: Iterable[Cell]) -> str:
    texts = (cell.text if isinstance(cell, Paragraph) else cell for cell in cells)
    return f"| {' | '.join(text.replace('|', _BAR) for text in texts)} |"
