"""A command of which a test asks is given a size: where a refusal is missing, no run of the usual size begins."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from halfcheck.app import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

TESTS: Final = Path(__file__).parents[1]

SIZES: Final = {
    "simulate": {"--traces", "--trace"},
    "verify": {"--traces"},
    "fuzz": {"--examples", "--every-transition", "--mutants"},
    "judge-jar": {"--minutes"},
}
"""Commands that run for minutes by themselves, and the options that say for how long."""


def texts(node: ast.AST, known: dict[str, list[str]]) -> list[str]:
    """The texts in an expression, those of the names in it included."""
    found = []
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            found.append(part.value)
        elif isinstance(part, ast.Name):
            found += known.get(part.id, ())
    return found


def command_lines(tree: ast.AST) -> Iterator[tuple[int, list[str]]]:
    """The lines on which words of a command line stand, with the words: one text, a list, a tuple, or arguments."""
    known: dict[str, list[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            known.setdefault(node.targets[0].id, []).extend(texts(node.value, {}))
    for node in ast.walk(tree):
        match node:
            case (
                ast.List(elts=[ast.Constant(value=str(first)), *rest])
                | ast.Tuple(elts=[ast.Constant(value=str(first)), *rest])
            ):
                yield node.lineno, [first, *(text for part in rest for text in texts(part, known))]
            case ast.Call(args=[ast.Constant(value=str(first)), ast.Constant(value=str(second)), *rest]):
                yield node.lineno, [first, second, *(text for part in rest for text in texts(part, known))]
            case ast.Constant(value=str(text)) if " --" in text:
                yield node.lineno, text.split()


def without_a_size(tree: ast.AST) -> list[int]:
    """The lines of commands that run for minutes and are not told for how long; pages of help run nothing."""
    return [
        line
        for line, (command, *words) in command_lines(tree)
        if command in SIZES
        and (not words or any(word.startswith("--") for word in words))
        and not {"--help", *SIZES[command]} & set(words)
    ]


def complaints(files: Iterable[Path]) -> list[str]:
    return [
        f"{file.relative_to(TESTS)}:{line}: say for how long it may run, by one of {SIZES}"
        for file in files
        for line in without_a_size(ast.parse(file.read_text(encoding="utf-8")))
    ]


def test_no_test_asks_for_a_run_of_the_usual_size() -> None:
    assert complaints(sorted(TESTS.rglob("*.py"))) == []


def test_these_are_commands() -> None:
    assert COMMANDS.keys() >= SIZES.keys()


@pytest.mark.parametrize(
    "code",
    [
        'run(["simulate", "--out", "new"])',
        'run(("verify", "--json", *more))',
        'run("verify", "--out", "new")',
        'halfcheck("simulate --instance tiny --out new")',
        'run(["simulate"])',
        'MORE = ("--steps", "3")\nrun(["fuzz", *MORE])',
    ],
)
def test_a_command_without_a_size_is_seen(code: str) -> None:
    assert without_a_size(ast.parse(code)) == [code.count("\n") + 1]


@pytest.mark.parametrize(
    "code",
    [
        'run(["simulate", "--traces", "5"])',
        'halfcheck("simulate --trace 3 --instance tiny")',
        'FEW = ("--traces", "5")\nrun(["simulate", *FEW, "--out", "new"])',
        'run("fuzz", "--help")',
        'PACKAGES = ("fuzz", "spec")',
    ],
)
def test_a_size_is_seen(code: str) -> None:
    assert without_a_size(ast.parse(code)) == []
