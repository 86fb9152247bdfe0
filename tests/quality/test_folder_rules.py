"""The specification must stay readable by every engine, so it may use the standard library and itself, nothing else."""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def imported_packages(source: str) -> set[str]:
    """The top-level names that a module imports, wherever in it the import stands."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").partition(".")[0])
    return names


def test_spec_imports_the_standard_library_and_itself_only() -> None:
    modules = sorted((ROOT / "spec").rglob("*.py"))
    assert modules, "spec/ has no modules"
    foreign = {
        f"{module.relative_to(ROOT)} imports {name}"
        for module in modules
        for name in imported_packages(module.read_text(encoding="utf-8"))
        if name != "spec" and name not in sys.stdlib_module_names
    }
    assert foreign == set()


def test_an_import_inside_a_function_is_seen() -> None:
    assert imported_packages("def f():\n    from numba.core import types\n    import os.path") == {"numba", "os"}
