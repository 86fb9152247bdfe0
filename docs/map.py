"""The page docs/map.md: what is in each package, out of the docstrings of the packages; `make map` writes it."""

from __future__ import annotations

import ast
import re
import sys
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from files.reading import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "map.md"

_HEAD: Final = """\
# Where things are

A package says in its docstring what is in it; `make map` writes this page of them. A file is named like the rule that
it holds, in RocketMQ's own words or the field's, and its first line says what it is for.

Arrows go down only: `make lint` holds what may import what, this table says what does. Besides, `tests/` has
[a map of its own](../tests/README.md), `setup/` builds `.venv`, and `control_clients/` holds
[clients that are not Python](../control_clients/README.md).

| package | what it is | imports |
|---|---|---|
"""


class NoDocstringError(ValueError):
    """A folder with Python files has no `__init__.py`, or one without a docstring."""


def packages() -> dict[str, str]:
    """Each package by its folder, below `docs/` and `tests/` none, with its docstring.

    Raises
    ------
    NoDocstringError
        A folder holds Python files and says nowhere what they are.
    """
    found = {}
    for top in _top_packages():
        for folder in sorted({path.parent for path in top.rglob("*.py")}):
            initial = folder / "__init__.py"
            docstring = ast.get_docstring(ast.parse(read_text(initial))) if initial.exists() else None
            if not docstring:
                message = f"{initial.relative_to(ROOT)}: no docstring; expected what is in the package, for docs/map.md"
                raise NoDocstringError(message)
            found[folder.relative_to(ROOT).as_posix()] = docstring.replace("``", "`")
    return found


def _top_packages() -> list[Path]:
    return sorted(path.parent for path in ROOT.glob("*/__init__.py"))


def imports() -> dict[str, set[str]]:
    """Which others each package of the first level imports, wherever the import stands."""
    names = {path.name for path in _top_packages()}
    return {
        top.name: {name for path in top.rglob("*.py") for name in _imported(read_text(path))} & names - {top.name}
        for top in _top_packages()
    }


def _imported(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def page() -> str:
    """The page's text: packages in the order in which they are built on each other."""
    graph, texts, order = imports(), packages(), list[str]()
    sorter = TopologicalSorter(graph)
    sorter.prepare()
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        order += ready
        sorter.done(*ready)
    rows = [
        f"| [`{name}/`](#{name}) | {texts[name].splitlines()[0]} | "
        f"{', '.join(f'`{other}`' for other in order if other in graph[name]) or '–'} |"
        for name in order
    ]
    parts = [_HEAD + "\n".join(rows)]
    for name in order:
        for folder in (name, *sorted(other for other in texts if other.startswith(f"{name}/"))):
            level = "##" if folder == name else "###"
            text = re.sub(r"docs/([\w/-]+\.md)", r"[\1](\1)", texts[folder])
            parts.append(f"{level} [`{folder}/`](../{folder})\n\n{text}")
    return "\n\n".join(parts) + "\n"


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
