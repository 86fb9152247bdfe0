"""A table for any width: the cells that carry the answer are never cut, sentences fold at words or go below their row.

Rich's own table shrinks every column alike, so that a narrow terminal gets a word a line, or an id that ends in an
ellipsis. Here a column either stands (an id, a verdict, a number) or may fold (a rule, a schedule).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console, ConsoleOptions, RenderableType

NARROWEST_SENTENCE = 28
"""Columns below which the longest sentence of a row does not fold beside it, but goes under it."""

NARROWEST_LIST = 12
"""The same for what else may fold; nowhere is a word cut in two while there is another form."""

_MUCH_LONGER = 1.25
_GAP = 2
_INDENT = 4


class FittingTable:
    """Rows that keep their answer in whatever width there is.

    From wide to narrow: all columns side by side; those that may fold, folded; those that may fold under their row,
    indented, also where that makes the table much shorter; each row a paragraph of its own, with the names of its
    columns. ``>`` before a heading aligns its column to the right; ``~`` says that it may fold.

    Examples
    --------
    >>> from rich.console import Console
    >>> table = FittingTable("clause", "verdict", ">depth", "~rule")
    >>> table.add_row("S1.lost_op", "holds", "", "A half is delivered once, whatever becomes of its op message.")
    >>> Console(width=64).print(table)  # doctest: +NORMALIZE_WHITESPACE
    clause      verdict  depth  rule
    S1.lost_op  holds           A half is delivered once, whatever
                                becomes of its op message.
    >>> Console(width=40).print(table)  # doctest: +NORMALIZE_WHITESPACE
    clause      verdict  depth
    S1.lost_op  holds
        A half is delivered once, whatever
        becomes of its op message.
    >>> Console(width=20).print(table)  # doctest: +NORMALIZE_WHITESPACE
    S1.lost_op
        verdict holds
        A half is
        delivered once,
        whatever becomes
        of its op
        message.
    """

    def __init__(self, *columns: str) -> None:
        self._headings = [column.lstrip(">~") for column in columns]
        self._to_the_right = [column.startswith(">") for column in columns]
        self._folds = [column.startswith("~") for column in columns]
        self._rows: list[list[Text]] = []
        self._natural = [len(heading) for heading in self._headings]

    def add_row(self, *cells: str | Text) -> None:
        """Add a row; cells that are left out are empty, and a plain string holds no markup."""
        texts = [cell if isinstance(cell, Text) else Text(cell) for cell in cells]
        self._rows.append([*texts, *(Text() for _ in self._headings[len(texts) :])])
        self._natural = [max(pair) for pair in zip(self._natural, map(_width, self._rows[-1]), strict=True)]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """Give the widest form for which there is room."""
        width = options.max_width
        standing = [natural for natural, folds in zip(self._natural, self._folds, strict=True) if not folds]
        least = self._least()
        beside = _shared_out(width, least, self._natural) if _side_by_side(least) <= width else None
        if beside is not None and not (standing and self._is_shorter_below(console, beside, width)):
            yield self._table(beside)
        elif standing and _side_by_side(standing) <= width:
            yield from self._with_sentences_below()
        else:
            yield from self._paragraphs()

    def _is_shorter_below(self, console: Console, widths: list[int], width: int) -> bool:
        """Whether sentences that are squeezed beside their rows make the table much longer than below them would."""
        beside = below = 0
        for row in self._rows:
            heights = [len(cell.wrap(console, column)) for cell, column in zip(row, widths, strict=True)]
            beside += max(heights, default=0)
            folding = self._folding(row)
            below += 1 + (len(folding.wrap(console, max(width - _INDENT, 1))) if folding else 0)
        return beside > _MUCH_LONGER * below

    def _least(self) -> list[int]:
        """How narrow each column may become before there is no reading it beside its row."""
        least = []
        sentence = max((width for width, folds in zip(self._natural, self._folds, strict=True) if folds), default=0)
        for number, (natural, folds) in enumerate(zip(self._natural, self._folds, strict=True)):
            if not folds:
                least.append(natural)
                continue
            words = [len(word) for row in self._rows for word in row[number].plain.split()]
            narrowest = NARROWEST_SENTENCE if natural == sentence else NARROWEST_LIST
            least.append(max(min(natural, narrowest), *words, len(self._headings[number])))
        return least

    def _table(self, widths: list[int]) -> Table:
        table = Table(box=None, pad_edge=False, show_edge=False)
        for heading, right, width in zip(self._headings, self._to_the_right, widths, strict=True):
            table.add_column(heading, justify="right" if right else "left", width=width, overflow="fold")
        for row in self._rows:
            table.add_row(*row)
        return table

    def _with_sentences_below(self) -> Iterator[RenderableType]:
        yield self._line([Text(heading, style="bold") for heading in self._headings])
        for row in self._rows:
            yield self._line(row)
            yield from self._below(row)

    def _line(self, cells: list[Text]) -> Text:
        """The standing cells of a row; one of several lines has them below each other."""
        parts = {number: cells[number].split("\n") for number, folds in enumerate(self._folds) if not folds}
        lines = []
        for level in range(max(len(part) for part in parts.values())):
            line = Text()
            for number, part in parts.items():
                cell = part[level].copy() if level < len(part) else Text()
                missing = self._natural[number] - cell.cell_len
                line = Text.assemble(line, " " * missing, cell) if self._to_the_right[number] else line + cell
                line = Text.assemble(line, " " * (_GAP if self._to_the_right[number] else missing + _GAP))
            line.rstrip()
            lines.append(line)
        return Text("\n").join(lines)

    def _below(self, row: list[Text]) -> Iterator[RenderableType]:
        folding = self._folding(row)
        if folding:
            yield _indented(folding)

    def _folding(self, row: list[Text]) -> Text:
        """The cells that may fold, each with its heading but the sentence, which comes first and needs none."""
        sentence = self._sentence()
        folding = [number for number, folds in enumerate(self._folds) if folds and row[number]]
        several = [
            row[number] if number == sentence else Text.assemble(f"{self._headings[number]}: ", row[number])
            for number in sorted(folding, key=lambda number: number != sentence)
        ]
        has_lines = any("\n" in one.plain for one in several)
        joined = several[0].copy() if several else Text()
        for before, cell in pairwise(several):
            joined = Text.assemble(joined, "\n" if has_lines or before.plain.endswith(".") else "; ", cell)
        return joined

    def _sentence(self) -> int:
        """The column that folds and is widest, if it is long enough for a sentence or alone; or else none (-1)."""
        widths = {number: width for number, width in enumerate(self._natural) if self._folds[number]}
        widest = max(widths, key=widths.__getitem__, default=-1)
        return widest if len(widths) == 1 or widths.get(widest, 0) >= NARROWEST_SENTENCE else -1

    def _paragraphs(self) -> Iterator[RenderableType]:
        for row in self._rows:
            yield _folded(row[0])
            standing = [
                Text.assemble(f"{heading} ", cell)
                for heading, cell, folds in zip(self._headings[1:], row[1:], self._folds[1:], strict=True)
                if cell and not folds
            ]
            if standing:
                yield _indented(Text(", ").join(standing))
            yield from self._below([Text(), *row[1:]])


def _side_by_side(widths: list[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _shared_out(width: int, least: list[int], natural: list[int]) -> list[int]:
    """The room that is left goes to the columns that want least more, so that few of them fold."""
    widths = list(least)
    spare = width - _side_by_side(least)
    for number in sorted(range(len(least)), key=lambda number: natural[number] - least[number]):
        more = min(spare, natural[number] - least[number])
        widths[number] += more
        spare -= more
    return widths


def _width(cell: Text) -> int:
    return max((line.cell_len for line in cell.split("\n")), default=0)


def _folded(cell: Text) -> Text:
    cell = cell.copy()
    cell.overflow = "fold"
    return cell


def _indented(cell: Text) -> Padding:
    return Padding(_folded(cell), (0, 0, 0, _INDENT), expand=False)
