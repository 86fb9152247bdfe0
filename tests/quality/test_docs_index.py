"""docs/index.md leads to every page, and each kind of reader to eight of them at most."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
INDEX = (DOCS / "index.md").read_text(encoding="utf-8")
READERS = (
    "You run RocketMQ",
    "You write an application",
    "You change RocketMQ, or write a broker or a client",
    "You study protocols",
)


def links(text: str) -> list[str]:
    return re.findall(r"\]\(([^)#]+)[^)]*\)", text)


def orphans(index: str) -> set[str]:
    """The pages that an index does not lead to."""
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    return pages - {*links(index), "index.md"}


def test_every_page_is_led_to() -> None:
    assert orphans(INDEX) == set()
    assert orphans(INDEX.replace("](audit.md)", "](broker.md)")) == {"audit.md"}


def test_each_reader_finds_at_most_eight_links() -> None:
    sections = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", INDEX, re.DOTALL | re.MULTILINE))
    assert tuple(sections)[:-1] == READERS
    assert {reader: len(links(sections[reader])) for reader in READERS if len(links(sections[reader])) > 8} == {}
    assert all(links(sections[reader]) for reader in READERS)
