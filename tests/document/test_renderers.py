"""One document, three ways to show it: nothing is lost in any, and no text becomes markup that was none."""

from __future__ import annotations

from dataclasses import fields
from typing import get_args

import pytest
from rich.console import Console

from document.console import show
from document.html import html
from document.markdown import markdown
from document.parts import Code, Details, Heading, List, Names, Paragraph, Part, Table, Tone, prose, tabulated

EVERY = (
    Heading("Depths"),
    Paragraph("**S1** is broken by `crash`.", Tone.BAD, "why"),
    List(("one [link](page.md)", "two")),
    Names("never", ("three", "four")),
    Code("halfcheck replay <x>", "sh"),
    tabulated("clause", ">steps", "~rule", rows=[("S1|S2", 15, Paragraph("a < b", Tone.GOOD)), ("S3",)]),
    Details("more", (Paragraph("inside"),)),
)


def printed(width: int, *parts: Part) -> list[str]:
    console = Console(width=width, file=None, force_terminal=False, highlight=False)
    with console.capture() as capture:
        show(parts, console)
    return capture.get().splitlines()


def test_each_record_is_tried() -> None:
    assert {type(part) for part in EVERY} == set(get_args(Part))


def test_markdown_has_a_blank_line_between_parts_and_escapes_bars_in_cells_only() -> None:
    assert markdown(EVERY) == (
        "## Depths\n\n**why**: **S1** is broken by `crash`.\n\n- one [link](page.md)\n- two\n\nnever: three, four\n\n"
        "```sh\nhalfcheck replay <x>\n```\n\n| clause | steps | rule |\n|---|--:|---|\n| S1\\|S2 | 15 | a < b |\n"
        "| S3 |  |  |\n\n<details><summary>more</summary>\n\ninside\n\n</details>\n"
    )


def test_html_escapes_what_is_text_and_knows_the_inline_marks() -> None:
    told = html(EVERY)
    assert '<p class="bad"><b>why</b>: <b>S1</b> is broken by <code>crash</code>.</p>' in told
    assert '<li>one <a href="page.md">link</a></li>' in told
    assert "<pre><code>halfcheck replay &lt;x&gt;</code></pre>" in told
    cells = (
        '<td data-label="steps" class="number">15</td>\n<td data-label="rule"><span class="good">a &lt; b</span></td>'
    )
    assert cells in told
    assert "<details>\n<summary>more</summary>\n<p>inside</p>\n</details>" in told
    assert html([Paragraph("**`a`** 2 * 3 * 4 <b>")]) == "<p><b><code>a</code></b> 2 * 3 * 4 &lt;b&gt;</p>\n"


@pytest.mark.parametrize("width", [20, 80, 400])
def test_the_console_has_every_text_as_it_is_written(width: int) -> None:
    lines = printed(width, *EVERY)
    assert max(map(len, lines)) <= width or width == 20
    said = " ".join(" ".join(lines).split())
    for text in ("Depths", "why: **S1** is broken by `crash`.", "one [link](page.md)", "S1|S2", "a < b", "inside"):
        assert text in said
    assert printed(400, Heading("a"), Heading("b")) == ["a", "", "b"]


def test_prose_and_markdown_are_each_others_reverse() -> None:
    text = "# Title\n\nTwo\nlines.\n\n- a\n- b\n  c\n\n```sh\nhalfcheck\n\ndefects\n```\n\n## Next\n"
    assert markdown(prose(text)) == text


def test_records_can_stand_in_sets() -> None:
    assert len(set(EVERY)) == len(EVERY)
    assert [field.name for field in fields(Table)] == ["columns", "rows"]
