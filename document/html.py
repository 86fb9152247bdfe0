"""A document as HTML, for a page that has its own head and style."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from document.parts import Cell, Code, Details, Heading, List, Names, Paragraph, Part, Table, Tone

if TYPE_CHECKING:
    from collections.abc import Iterable


_MARK = re.compile(
    r"`(?P<code>[^`]+)`|\*\*(?P<b>.+?)\*\*|\*(?P<em>[^*\s][^*]*)\*|\[(?P<a>[^]]+)]\((?P<target>[^)\s]+)\)"
)


def html(parts: Iterable[Part]) -> str:
    """The elements of the parts; their texts are escaped, and Markdown's inline marks become elements.

    Examples
    --------
    >>> print(html([Heading("Depths"), Paragraph("**S1** is *not* `a < b`.")]), end="")
    <h2>Depths</h2>
    <p><b>S1</b> is <em>not</em> <code>a &lt; b</code>.</p>
    """
    return "".join(f"{_element(part)}\n" for part in parts)


def _element(part: Part) -> str:
    match part:
        case Heading(text, level):
            return f"<h{level}>{_inline(text)}</h{level}>"
        case Paragraph(text, label=label):
            return f"<p{_class(part)}>{f'<b>{escape(label)}</b>: ' if label else ''}{_inline(text)}</p>"
        case List(items):
            return f"<ul>{''.join(f'<li>{_inline(item)}</li>' for item in items)}</ul>"
        case Names(title, names):
            return f"<p>{_inline(title)}: {', '.join(map(_inline, names))}</p>"
        case Code(text):
            return f"<pre><code>{escape(text)}</code></pre>"
        case Details(summary, parts):
            return f"<details>\n<summary>{_inline(summary)}</summary>\n{html(parts)}</details>"
        case Table():
            return _table(part)


def _table(table: Table) -> str:
    """A table that a narrow page stacks, as each cell bears its heading."""
    numeric = [' class="number"' * column.startswith(">") for column in table.columns]
    names = [_inline(column.lstrip(">^~")) for column in table.columns]
    head = "".join(f"<th{number}>{name}</th>" for number, name in zip(numeric, names, strict=True))
    rows = []
    for row in table.rows:
        cells = zip(row, numeric, names, strict=False)
        rows.append("\n".join(f'<td data-label="{name}"{number}>{_cell(cell)}</td>' for cell, number, name in cells))
    body = "\n".join(f"<tr>\n{row}\n</tr>" for row in rows)
    return f'<table class="stack">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>'


def _cell(cell: Cell) -> str:
    return f"<span{_class(cell)}>{_inline(cell.text)}</span>" if isinstance(cell, Paragraph) else _inline(cell)


def _class(paragraph: Paragraph) -> str:
    return "" if paragraph.tone is Tone.PLAIN else f' class="{paragraph.tone.name.lower()}"'


def _inline(text: str) -> str:
    return _MARK.sub(_marked, escape(text))


def _marked(found: re.Match[str]) -> str:
    if found["a"]:
        return f'<a href="{found["target"]}">{found["a"]}</a>'
    if found["code"]:
        return f"<code>{found['code']}</code>"
    return f"<b>{_MARK.sub(_marked, found['b'])}</b>" if found["b"] else f"<em>{found['em']}</em>"
