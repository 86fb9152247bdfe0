"""The page of one sweep: what to change in words, the plots of what was swept, the tables; one file, nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from document.html import html
from files.writing import write_whole
from html_report.sweep_plots import draw_sweep
from html_report.templates import templates

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from document.parts import Part
    from traffic.sweep.sweep_answer import SweepAnswer


def write_sweep_page(
    title: str, parts: Sequence[Part], answer: SweepAnswer, remarks: Sequence[str], path: Path
) -> None:
    """Write the page; it appears when it is whole.

    Parameters
    ----------
    parts
        The answer as a document: sentences, then tables.
    remarks
        What bounds the answer.

    Raises
    ------
    UnwritableFileError
        It can't be written.
    """
    from document.parts import Heading

    first = next((place for place, part in enumerate(parts) if isinstance(part, Heading)), len(parts))
    page = (
        templates()
        .get_template("sweep_page.html.j2")
        .render(
            title=title,
            sentences=_kept_together(html(parts[:first])),
            tables=_kept_together(html(parts[first:])),
            remarks=remarks,
            plots=[(plot, Markup(drawing.svg)) for plot in draw_sweep(answer) for drawing in plot.drawings],  # noqa: S704
        )
    )
    write_whole(path, page)


def _kept_together(escaped: str) -> Markup:
    """A text that the document's renderer has escaped, with no line broken between a number and its %."""
    return Markup(escaped.replace(" %", "\N{NO-BREAK SPACE}%"))  # noqa: S704
