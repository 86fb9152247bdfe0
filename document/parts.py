"""The records that a document is a sequence of, and a document out of a text.

A text may hold Markdown's inline marks: ```code```, ``**bold**``, ``*emphasis*`` and ``[text](target)``. The console
shows it as it is written, Markdown passes it on, HTML makes elements of the marks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Tone(Enum):
    """How a text is meant; the console and the browser colour it, Markdown does not."""

    PLAIN = ""
    TITLE = "bold"
    BAD = "bold red"
    GOOD = "green"
    WARNING = "yellow"


@dataclass(frozen=True, slots=True)
class Heading:
    """The title of what follows; a page has one of level 1."""

    text: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Sentences, whose line breaks are no more than blanks, perhaps behind a label; also a cell that has a tone."""

    text: str
    tone: Tone = Tone.PLAIN
    label: str = ""


@dataclass(frozen=True, slots=True)
class List:
    """Items below each other, or what belongs to the line above."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Names:
    """A title and names behind it, or below it where the line is too short."""

    title: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """Lines that stay as they are: a command, a schedule."""

    text: str
    language: str = ""


Cell: TypeAlias = str | Paragraph


@dataclass(frozen=True, slots=True)
class Table:
    """Rows below headings; cells that are left out at the end of a row are empty.

    ``>`` before a heading aligns its column to the right, ``^`` to the middle; ``~`` says that the column may fold on a
    narrow console.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Details:
    """Parts below a summary, which a reader unfolds."""

    summary: str
    parts: tuple[Part, ...]


Part: TypeAlias = Heading | Paragraph | List | Names | Code | Table | Details


def tabulated(*columns: str, rows: Iterable[Iterable[object]]) -> Table:
    """A table of texts and of whatever says as a text what it is.

    Examples
    --------
    >>> tabulated("clause", ">steps", rows=[("S1.lost_op", 15)]).rows
    (('S1.lost_op', '15'),)
    """
    return Table(columns, tuple(tuple(c if isinstance(c, Paragraph) else str(c) for c in row) for row in rows))


_BLOCKS = re.compile(r"```(\w*)\n(.*?)\n```|((?:(?!```)[^\n]+\n?)+)", re.DOTALL)
_HEADING = re.compile(r"(#+) (.*)")


def prose(text: str) -> Iterator[Part]:
    r"""The parts of a text in Markdown: headings, paragraphs, lists whose items begin with ``-``, and fenced code.

    Examples
    --------
    >>> list(prose("# Title\n\n- a\n- b\n  c\n"))
    [Heading(text='Title', level=1), List(items=('a', 'b\n  c'))]
    """
    for language, code, block in _BLOCKS.findall(text):
        heading = _HEADING.fullmatch(block.strip())
        if not block:
            yield Code(code, language)
        elif heading:
            yield Heading(heading[2], len(heading[1]))
        elif block.startswith("- "):
            yield List(tuple(block.strip().removeprefix("- ").split("\n- ")))
        else:
            yield Paragraph(block.strip())
