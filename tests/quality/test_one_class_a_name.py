"""A class has its name for itself in the whole tree, private classes among them."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
NOT_OF_THE_PRODUCT: Final = {"tests", "benchmarks"}

SHARED: Final = {"Kind"}
"""The one name that two classes bear, of a field and of a message, both in `spec/`: another one would change the
specification's fingerprint, and so date every table of verdicts and each cached search, for no other verdict."""


def homes_of_classes() -> dict[str, list[str]]:
    """Each class's name with the files that define it, a file as often as it does."""
    homes: dict[str, list[str]] = {}
    for package in sorted(ROOT.glob("*/__init__.py")):
        if package.parent.name not in NOT_OF_THE_PRODUCT:
            for path in sorted(package.parent.rglob("*.py")):
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                    if isinstance(node, ast.ClassDef):
                        homes.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    return homes


def test_no_two_classes_bear_one_name_but_those_that_still_do() -> None:
    shared = {name: homes for name, homes in homes_of_classes().items() if len(homes) > 1}
    assert {name: homes for name, homes in shared.items() if name not in SHARED} == {}
    assert set(shared) >= SHARED, "take the name out of SHARED: one class bears it now"
