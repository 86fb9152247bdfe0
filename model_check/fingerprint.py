"""Fingerprints of the sources from which verdicts were made: one number for their meaning.

Comments, docstrings and layout do not count, neither does the version of Python, nor what only names and explains a
clause: an edited sentence makes no table stale, an edited guard does.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_LEFT_OUT = {"ctx", "kind", "type_comment", "type_params", "lineno", "col_offset", "end_lineno", "end_col_offset"}
"""Fields of syntax trees that say nothing, or that only some versions of Python have."""

_DECIDES_NO_VERDICT = {
    "releases/__init__.py",
    "releases/broker_defaults.py",
    "language/memory.py",
    "chapters/others.py",
    "instances/crowd.toml",
    "instances/crowd_odd.toml",
    "instances/crowd_lasting.toml",
}
"""RocketMQ's defaults, for which no action, property or instance asks; how the CPython engine holds a state, which the
searched code knows nothing of: it is written from the actions' syntax trees and from the declared slots; and one
transaction among others, of which the table of verdicts does not speak (`model_check.any_number`)."""

_EXPLAINS_A_CLAUSE = {"needs", "resembles"}
"""Arguments of a clause's declaration for which no search asks: the tests hold both against the table of verdicts."""

_BESIDE_THE_ENGINE = ("check.py", "engines.py", "verdicts/searches.py")
"""The sources that make findings of the results of the compiled search, and cache them."""

_COMPARES = ("projection.py", "rows.py", "simulation.py")
"""The sources that compare one among others with many."""

_DIGITS = 16


def specification_fingerprint() -> str:
    """16 hexadecimal digits for `spec/`: its Python and its instances, without what decides no verdict."""
    parts = [
        (name, _meaning(name, file.read_text(encoding="utf-8")))
        for name, file in _files(resources.files("spec"))
        if name not in _DECIDES_NO_VERDICT
    ]
    return _digest(parts)


def fingerprint_among_others() -> str:
    """16 hexadecimal digits for all of `spec/`, one among others included, and for what compares it with many."""
    parts = [(name, _meaning(name, file.read_text(encoding="utf-8"))) for name, file in _files(resources.files("spec"))]
    return _digest([*parts, ("any_number", fingerprint_of_comparison())])


def fingerprint_of_comparison() -> str:
    """16 hexadecimal digits for what compares one among others with many."""
    compared = resources.files("model_check").joinpath("any_number")
    return _digest([(name, meaning_of(compared.joinpath(name).read_text("utf-8"))) for name in _COMPARES])


def engine_fingerprint() -> str:
    """16 hexadecimal digits for the sources of the compiled search, so that its cached results die with them."""
    root = resources.files("model_check")
    parts = [
        (f"{package}/{name}", file.read_text(encoding="utf-8"))
        for package in ("explicit", "front_end")
        for name, file in _files(root.joinpath(package))
    ]
    parts += [(name, root.joinpath(name).read_text(encoding="utf-8")) for name in _BESIDE_THE_ENGINE]
    return _digest(parts)


@cache
def meaning_of(source: str) -> str:
    r"""What a Python source says, without comments, docstrings, layout and what explains a clause.

    Examples
    --------
    >>> meaning_of("def f(c):\n  'Words.'\n  return c.crash") == meaning_of("def f(c): return c.crash  # more")
    True
    >>> meaning_of("x = 1") == meaning_of("x = 2")
    False
    """
    return _canonical(ast.parse(source))


def _digest(parts: list[tuple[str, str]]) -> str:
    return hashlib.sha256("\n".join(f"{name}\n{text}" for name, text in sorted(parts)).encode()).hexdigest()[:_DIGITS]


def _files(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        name = f"{prefix}{entry.name}"
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _files(entry, f"{name}/")
        elif entry.name.endswith((".py", ".toml")):
            yield name, entry


def _meaning(name: str, text: str) -> str:
    if name.endswith(".py"):
        return meaning_of(text)
    return "\n".join(line for line in (line.partition("#")[0].strip() for line in text.splitlines()) if line)


def _canonical(node: object) -> str:
    if isinstance(node, list):
        return f"[{' '.join(_canonical(item) for item in node)}]"
    if isinstance(node, ast.JoinedStr):
        return "text"  # words of a message; Python 3.12 reads them otherwise
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = []
    for name in sorted(set(node._fields) - _LEFT_OUT):
        value = getattr(node, name, None)
        if name == "keywords" and isinstance(node, ast.Call) and _is_clause(node.func):
            value = [keyword for keyword in node.keywords if keyword.arg not in _EXPLAINS_A_CLAUSE]
        if name == "body" and isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            value = [statement for statement in node.body if not _is_words(statement)]
        if value is not None and value != []:
            fields.append(f"{name}={_canonical(value)}")
    return f"{type(node).__name__}({' '.join(fields)})"


def _is_clause(called: ast.expr) -> bool:
    """Whether a call of this declares a clause."""
    return isinstance(called, ast.Name) and called.id == "always"


def _is_words(statement: ast.stmt) -> bool:
    """A docstring, of a name too."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
