"""docs/properties.md is what `spec/properties/` and the clauses' wording say."""

from __future__ import annotations

import re

from docs.properties import PAGE, page
from model_check.clauses import clauses_by_name
from model_check.wording.clauses import meaning_of


def test_the_page_is_what_the_specification_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "make properties writes it anew"


def test_each_clause_stands_under_its_property_with_what_it_does_to_a_message() -> None:
    sections = dict(re.findall(r"^## ([SLR]\d+): [^\n]+\n(.*?)(?=^## |\Z)", page(), re.DOTALL | re.MULTILINE))
    shown = {
        f"{identifier}.{clause}": harm
        for identifier, section in sections.items()
        for clause, harm in re.findall(r"^\| \[(\w+)\]\([^)]+\) \| (.+?) \|", section, re.MULTILINE)
    }
    assert shown == {name: meaning_of(clause).harm for name, clause in clauses_by_name().items()}
    assert {"S1.read_for_another", "S9.read_for_another", "R1.read_for_another"} <= shown.keys()


def test_a_property_of_two_paragraphs_has_both() -> None:
    words = " ".join(page().split())
    assert "in time and before any check is never checked. In time: at an age of at most the timeout" in words
