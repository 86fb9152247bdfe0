"""The plan of the house holds: imports run in no circle."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT: Final = Path(__file__).parents[2]
PACKAGES: Final = (
    "benchmarks",
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


@cache
def sources() -> dict[str, str]:
    """The production code: path to text."""
    paths = (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in paths}


@cache
def module_of(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def imported(source: str, modules: Mapping[str, object]) -> set[str]:
    """The modules that a module imports when it runs, wherever in it the import stands; not what only types need."""
    found: set[str] = set()
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting += node.orelse
            continue
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found.update(names & modules.keys() or {node.module})
        waiting += ast.iter_child_nodes(node)
    return found & modules.keys()


def circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """The largest groups in which each one leads to each other one."""
    reached = {one: closure(graph, one) for one in graph}
    groups = {
        tuple(sorted(other for other in graph if other in reached[one] and one in reached[other])) for one in graph
    }
    return sorted(list(group) for group in groups if len(group) > 1)


def closure(graph: Mapping[str, set[str]], start: str) -> set[str]:
    """What can be reached from a node by at least one arrow."""
    found: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += graph[one]
    return found


@cache
def imports() -> dict[str, set[str]]:
    modules = {module_of(path): text for path, text in sources().items()}
    return {module: imported(text, modules) - {module} for module, text in modules.items()}


def folders_of(package: str) -> dict[str, set[str]]:
    """The folders of a package with the ones beside them that they import."""
    above = package.count(".") + 2
    graph: dict[str, set[str]] = {}
    for module, others in imports().items():
        if module.startswith(f"{package}.") and (ROOT / module.replace(".", "/")).parent != ROOT / package.replace(
            ".", "/"
        ):
            own = ".".join(module.split(".")[:above])
            beside = {".".join(other.split(".")[:above]) for other in others if other.startswith(f"{package}.")}
            graph.setdefault(own, set()).update(beside - {own})
    return {folder: beside & graph.keys() for folder, beside in graph.items()}


def test_modules_import_each_other_in_no_circle() -> None:
    assert circles(imports()) == []


def test_folders_side_by_side_import_each_other_in_no_circle() -> None:
    packages = {module_of(path) for path in sources() if path.endswith("__init__.py")}
    assert {package: found for package in packages if (found := circles(folders_of(package)))} == {}


def test_a_circle_is_found_and_an_import_for_types_is_none() -> None:
    modules = dict.fromkeys(["p.a", "p.b", "p.c"])
    lazy = imported("def f():\n    from p import b\n    import p.c", modules)
    for_types = imported("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.a import A\n", modules)
    assert (lazy, for_types) == ({"p.b", "p.c"}, set())
    assert circles({"p.a": {"p.b"}, "p.b": {"p.c"}, "p.c": {"p.b"}}) == [["p.b", "p.c"]]
