"""A table keeps its answer in every width: nothing is cut, and no sentence is folded to a word a line."""

from __future__ import annotations

import pytest
from rich.console import Console

from document.console import PIPE_COLUMNS, wide_console
from document.fitting_table import NARROWEST_SENTENCE, FittingTable

RULE = "A commit inside the immunity of a half that was put back for it is the last word: its copy is not delivered."
ROWS = (
    ("S1", "immune_half", "violated", "15", "A16 B01", RULE),
    ("S10", "op_entry_dies_with_the_process", "unknown", "1,234", "", RULE.replace("[", "").upper()),
)


def shown(width: int, *columns: str) -> list[str]:
    table = FittingTable(*columns)
    for row in ROWS:
        table.add_row(*row)
    console = Console(width=width, file=None, force_terminal=False)
    with console.capture() as capture:
        console.print(table)
    return capture.get().splitlines()


@pytest.mark.parametrize("width", [48, 60, 80, 100, 160, 250])
def test_no_cell_that_carries_the_answer_is_cut(width: int) -> None:
    lines = shown(width, "property", "clause", "verdict", ">depth", "resembles", "~rule")
    assert max(map(len, lines)) <= width
    text = " ".join(" ".join(lines).split())
    for row in ROWS:
        for cell in row[:5]:
            assert cell in text
        assert "…" not in text
    assert set(RULE.split()) <= set(text.split())


@pytest.mark.parametrize("width", range(70, 130))
def test_a_sentence_has_room_for_several_words_a_line_or_goes_under_its_row(width: int) -> None:
    lines = shown(width, "property", "clause", "verdict", ">depth", "resembles", "~rule")
    heading = lines[0]
    beside = heading.find("rule")
    assert beside == -1 or width - beside >= NARROWEST_SENTENCE
    assert beside != -1 or lines[2].startswith("    A commit inside the immunity")


def test_several_sentences_stand_under_their_row_with_their_names() -> None:
    table = FittingTable("id", "~defect", "~why", ">depth")
    table.add_row("B01", RULE, "of the order of two questions", "15")
    console = Console(width=30)
    with console.capture() as capture:
        console.print(table)
    text = " ".join(capture.get().split())
    assert text == f"id depth B01 15 {RULE} why: of the order of two questions"


@pytest.mark.parametrize(("width", "lines"), [(200, 2), (80, 4), (60, 4)])
def test_sentences_that_beside_their_row_would_be_long_columns_stand_below_it(width: int, lines: int) -> None:
    table = FittingTable("clause that is broken", "resembles", ">after", "~what happens, and what to do")
    table.add_row("S8.parked_although_settled", "A10", "426.001 s", RULE)
    console = Console(width=width)
    with console.capture() as capture:
        console.print(table)
    assert len(capture.get().splitlines()) == lines


def test_only_what_is_no_sentence_has_its_heading_below_a_row() -> None:
    table = FittingTable("transaction", "~group", "~topic", "state")
    table.add_row("C0000202575B4E0E2F2A7142A14C0006", "late-group", "TopicLate", "doubled")
    console = Console(width=44)
    with console.capture() as capture:
        console.print(table)
    assert "    group: late-group; topic: TopicLate" in capture.get()


@pytest.mark.parametrize("width", [200, 80, 60, 40, 20])
def test_a_table_of_sentences_alone_is_shown_in_any_width(width: int) -> None:
    table = FittingTable("~change", "~mends", "~costs")
    table.add_row("transactionTimeOut 12 s", "S1.late_op, S9.late_op, S9.overslept_op, S9.stale_op_end", RULE)
    console = Console(width=width)
    with console.capture() as capture:
        console.print(table)
    text = " ".join(capture.get().split())
    assert all(text.count(words) == 1 for words in ("transactionTimeOut 12 s", "S9.stale_op_end")) or width == 20
    assert set(RULE.split()) <= set(text.split())


def test_markup_in_a_cell_stays_text() -> None:
    table = FittingTable("field")
    table.add_row("half[0].born_at [red]")
    console = Console(width=60)
    with console.capture() as capture:
        console.print(table)
    assert "half[0].born_at [red]" in capture.get()


@pytest.mark.parametrize(
    ("columns", "width"),
    [("60", 60), ("250", 250), ("3", 20), ("0", PIPE_COLUMNS), ("many", PIPE_COLUMNS), ("", PIPE_COLUMNS)],
)
def test_piped_output_is_as_wide_as_columns_says(monkeypatch: pytest.MonkeyPatch, columns: str, width: int) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert wide_console().width == width
