"""docs/specification.md lists what the specification leaves out: Java without a model in docs/generated/rules.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from model_check.defects.catalogue import Where, catalogue

DOCS = Path(__file__).parents[2] / "docs"
RULES = (DOCS / "generated" / "rules.md").read_text(encoding="utf-8")
LIST = (
    (DOCS / "specification.md")
    .read_text(encoding="utf-8")
    .partition("\n## What is left out\n")[2]
    .partition("\n## ")[0]
)
CLASS = "the class"


class Row(NamedTuple):
    """A row of the page of rules."""

    java: str
    method: str
    is_modelled: bool


def rows(page: str) -> list[Row]:
    found = []
    for section in page.split("\n## ")[1:]:
        java, _, table = section.partition("\n")
        for method, model, _ in re.findall(r"^\| (`\w+`|the class) \| (.+?) \| (.+) \|$", table, re.MULTILINE):
            found.append(Row(java, method.strip("`"), model != "–"))
    return found


def unmodelled(page: str) -> set[tuple[str, str]]:
    """Methods without a model, and classes without one of which the page names no method."""
    with_methods = {row.java for row in rows(page) if row.method != CLASS}
    return {
        (row.java, row.method)
        for row in rows(page)
        if not row.is_modelled and (row.method != CLASS or row.java not in with_methods)
    }


def entries(text: str) -> list[str]:
    return [" ".join(entry.split()) for entry in text.split("\n- ")[1:]]


def named(entry: str) -> set[tuple[str, str]]:
    """The classes and methods of an entry; the method is empty where the class stands for all that is left of it."""
    names = re.findall(r"`([A-Z][\w.]*)(?:#(\w+))?`", entry)
    return {(java, method) for java, method in names}


def covered(name: tuple[str, str], page: str) -> set[tuple[str, str]]:
    java, method = name
    return {row for row in unmodelled(page) if row[0] == java and method in ("", row[1])}


def test_each_method_without_a_model_is_listed() -> None:
    listed = {row for entry in entries(LIST) for name in named(entry) for row in covered(name, RULES)}
    assert unmodelled(RULES) - listed == set()


def test_each_entry_names_what_is_not_modelled_and_nothing_stands_twice() -> None:
    names = [name for entry in entries(LIST) for name in sorted(named(entry))]
    assert [name for name in names if not covered(name, RULES)] == []
    shown = [row for name in names for row in covered(name, RULES)]
    assert sorted({row for row in shown if shown.count(row) > 1}) == []


def test_each_defect_of_an_entry_is_one_that_no_search_finds() -> None:
    named_ids = [number for entry in entries(LIST) for number in re.findall(r"\b[AB]\d\d\b", entry)]
    assert len(named_ids) > 30
    found = {one.identifier: one.where for one in catalogue().values()}
    assert [number for number in named_ids if found[number] is Where.SEARCH] == []


def test_a_method_that_is_listed_nowhere_and_one_that_is_modelled_are_found() -> None:
    page = "\n## A\n\n| method |\n| the class | – | [`a`](a) |\n| `f` | [`b`](b) | – |\n| `g` | – | [`c`](c) |\n"
    assert unmodelled(page) == {("A", "g")}
    assert covered(("A", "f"), page) == set()
    assert covered(("A", ""), page) == {("A", "g")}
    assert named("- **Much.** `A`, `B.C#d`") == {("A", ""), ("B.C", "d")}
