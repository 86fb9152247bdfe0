"""The way of one level in docs/large-searches.md leads through functions that stand in the files it names."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXPLICIT = ROOT / "model_check" / "explicit"
SECTION = (
    (ROOT / "docs" / "large-searches.md")
    .read_text(encoding="utf-8")
    .partition("## The way of one level\n")[2]
    .partition("\n## ")[0]
)


@cache
def functions(path: Path) -> set[str]:
    return {
        node.name for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.FunctionDef)
    }


def files(names: str, folder: Path = EXPLICIT) -> list[Path]:
    """The files of a list of names; one without a folder lies beside the one before it."""
    found: list[Path] = []
    for name in names.split(", "):
        found.append((found[-1].parent if found and "/" not in name else folder) / name)
    return found


def missing(names: str, paths: list[Path]) -> set[str]:
    """The functions, perhaps behind their class, that none of the files has."""
    return {name.rpartition(".")[2] for name in names.split(", ")} - {
        name for path in paths for name in functions(path)
    }


def boxes() -> list[tuple[str, str]]:
    """Functions and files of each box of the diagram that names functions."""
    return [box for box in re.findall(r'\["([^"<]+)<br>([^"]+)"\]', SECTION) if box[1].endswith(".py")]


def rows() -> list[tuple[str, str]]:
    return [
        (", ".join(re.findall(r"`([^`]+)`", cells[1])), ", ".join(re.findall(r"`([^`]+)`", cells[2])))
        for line in SECTION.splitlines()
        if line.startswith("| ") and "`" in line and (cells := line.strip("| ").split(" | "))
    ]


def test_the_way_is_drawn_and_listed() -> None:
    assert len(boxes()) > 8
    assert len(rows()) > 10


@pytest.mark.parametrize(("names", "where"), [*boxes(), *rows()])
def test_the_functions_stand_in_these_files(names: str, where: str) -> None:
    assert missing(names, files(where)) == set()


def test_a_function_that_moved_is_found() -> None:
    assert missing("search, expand_level", files("state_store/store.py")) == {"expand_level"}
