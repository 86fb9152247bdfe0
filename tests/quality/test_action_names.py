"""An action is at home in few files: its name hardly stands as a string, since its records are Python names.

What is counted are strings that are an action's name and nothing more. Some actions have the name of a fault, as
`crash` has; where the fault is meant, the string is not counted.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

from spec.constants import FAULTS
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[2]
PACKAGES: Final = (
    "conformance",
    "document",
    "files",
    "fuzz",
    "halfcheck",
    "model_check",
    "real_brokers",
    "reference",
    "html_report",
    "spark_trace_analysis",
    "spec",
    "traffic",
    "wire",
)
ACTIONS: Final = [action.name for action in TRANSACTIONAL_MESSAGES.actions]
FAULTS_ONLY: Final = set(FAULTS) - set(ACTIONS)

NAMES_OF_FAULTS: Final = {"faults", "needs", "beside"}
"""Parameters that take faults."""

MEDIAN: Final = 3
MOST: Final = 5


def named(source: str) -> set[str]:
    """The actions whose names stand in a source as strings, those aside that name a fault."""
    found: set[str] = set()
    waiting: list[tuple[ast.AST, bool]] = [(ast.parse(source), False)]
    while waiting:
        node, is_of_faults = waiting.pop()
        if isinstance(node, ast.Constant) and node.value in ACTIONS and not (is_of_faults and node.value in FAULTS):
            found.add(node.value)
        is_of_faults = is_of_faults or tells_faults(node)
        waiting += [(child, is_of_faults) for child in ast.iter_child_nodes(node)]
    return found


def tells_faults(node: ast.AST) -> bool:
    """Whether the strings below are faults: of such a parameter, or of a collection with a fault that is no action."""
    if isinstance(node, ast.keyword):
        return node.arg in NAMES_OF_FAULTS
    return isinstance(node, (ast.Tuple, ast.List, ast.Set)) and not FAULTS_ONLY.isdisjoint(strings(node))


def strings(node: ast.AST) -> Iterator[str]:
    return (one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str))


def test_an_action_is_named_in_few_files() -> None:
    sources = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    files = Counter(name for path in sources for name in named(path.read_text(encoding="utf-8")))
    assert len(ACTIONS) == 112
    assert median(files[name] for name in ACTIONS) <= MEDIAN
    assert {name: count for name, count in files.items() if count > MOST} == {}


def test_a_name_is_counted_and_a_fault_of_that_name_is_not() -> None:
    assert named('TABLE = {"crash": 1, "tick": 2}') == {"crash", "tick"}
    assert named('of(needs=("lose_end",)); ENVIRONMENTS = ((), ("crash",), ("slow_local",))') == set()
    assert named('of(needs=("tick",), action="crash")') == {"tick", "crash"}
    assert named('"""A crash, or tick."""\nTEXT = "tick; crash"') == set()
