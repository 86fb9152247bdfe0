"""The page docs/generated/rules.md, made from docstrings: the model and the implementation of each Java method.

The specification names its sources behind "RocketMQ:", as ``Class#method`` or, of the same class, ``#method``. The
reference broker names them between double backticks; where no class stands before ``#method``, it is the first that an
enclosing docstring names. `make rules` writes the page.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.errors import ConformanceError
from document.markdown import markdown
from document.parts import Heading, Part, prose, tabulated
from files.reading import read_text
from files.writing import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "generated" / "rules.md"
_SOURCES: Final = ("spec", "reference")

_HEAD: Final = """# RocketMQ's rules, and where they stand here

Java classes and methods with the functions of the [specification](../../spec) that model them and the parts of the
[reference broker](../../reference) that implement them, as the docstrings say. Written by `make rules`.
"""
_SPEC_LINE: Final = re.compile(r"RocketMQ: (.*?)(?=\n\n|\Z)", re.DOTALL)
_DEFECT: Final = re.compile(r"\b[AB]\d\d\b")
_QUOTED: Final = re.compile(r"``([^`]+)``")
_NAME: Final = re.compile(
    r"(?<![\w#.])(?P<name>[A-Z]\w*[a-z]\w*[A-Z]\w*(?:\.[A-Z]\w*[a-z]\w*)*)?(?:\s*#(?P<method>[a-z]\w*)|(?=\W|$))"
)


class UnreadableSourceLineError(ConformanceError):
    """A line behind "RocketMQ:" names no class or method."""


@dataclass(frozen=True, order=True)
class Mention:
    """A module, class or function whose docstring names something of RocketMQ."""

    path: str
    name: str
    defects: tuple[str, ...] = ()
    """The ids of the catalogue that the docstring names."""


def rules() -> dict[tuple[str, str], list[Mention]]:
    """Where each Java class and method is named; the method is empty where the class alone is."""
    found: dict[tuple[str, str], list[Mention]] = defaultdict(list)
    for package in _SOURCES:
        for path in sorted((ROOT / package).rglob("*.py")):
            tree = ast.parse(read_text(path))
            where = path.relative_to(ROOT).as_posix()
            for name, docstring, enclosing in _docstrings(tree, "", ()):
                place = Mention(where, name, tuple(dict.fromkeys(_DEFECT.findall(docstring))))
                for java in dict.fromkeys(_named(place, docstring, enclosing)):
                    found[java].append(place)
    return found


def _docstrings(
    node: ast.Module | ast.ClassDef | ast.FunctionDef, name: str, enclosing: tuple[str, ...]
) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Name, docstring and enclosing docstrings (the inner one first) of a node and of each definition in it."""
    own = ast.get_docstring(node) or ""
    yield name, own, enclosing
    for before, part in pairwise([node, *node.body]):
        if isinstance(part, ast.ClassDef | ast.FunctionDef):
            yield from _docstrings(part, f"{name}.{part.name}".lstrip("."), (own, *enclosing))
        elif isinstance(before, ast.Assign | ast.AnnAssign) and isinstance(part, ast.Expr):
            target = before.target if isinstance(before, ast.AnnAssign) else before.targets[0]
            if isinstance(part.value, ast.Constant) and isinstance(part.value.value, str):
                yield f"{name}.{ast.unparse(target)}".lstrip("."), part.value.value, (own, *enclosing)


def _named(place: Mention, docstring: str, enclosing: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The Java classes and methods in a docstring."""
    if place.path.startswith("reference/"):
        around = " ".join([*(text.partition("\n")[0] for text in enclosing[:-1]), *enclosing[-1:]])
        outer = next((name for name, _ in _names(" ".join(_QUOTED.findall(around)), "")), "")
        yield from _names(" ".join(_QUOTED.findall(docstring)), outer)
        return
    for line in _SPEC_LINE.findall(docstring):
        names = list(_names(line, ""))
        if not names:
            message = f"{place.path}: {place.name or 'the module'} says {line!r} behind RocketMQ:, which names no class"
            raise UnreadableSourceLineError(message)
        yield from names


def _names(text: str, outer: str) -> Iterator[tuple[str, str]]:
    last = outer
    for match in _NAME.finditer(text):
        if match["name"] == "RocketMQ":
            continue
        last = match["name"] or last
        if last and match[0].strip():
            yield last, match["method"] or ""


def page() -> str:
    """The page's text."""
    found = rules()
    parts: list[Part] = [*prose(_HEAD)]
    for java in sorted({name for name, _ in found}):
        methods = sorted(method for name, method in found if name == java)
        rows = [
            (f"`{m}`" if m else "the class", *(_links(found[java, m], f"{package}/") for package in _SOURCES))
            for m in methods
        ]
        parts.append(Heading(java))
        parts.append(tabulated("method", "the specification", "the reference broker", rows=rows))
    return markdown(parts)


def _links(places: list[Mention], folder: str) -> str:
    links = (
        f"[`{place.name or Path(place.path).stem}`](../../{place.path})"
        for place in sorted(set(places))
        if place.path.startswith(folder)
    )
    return ", ".join(links) or "–"


def main() -> int:
    """Write the page."""
    write_whole(PAGE, page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
