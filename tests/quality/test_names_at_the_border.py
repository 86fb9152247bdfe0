"""Names of profiles, faults, instances and clauses become objects at the border; inside, nobody takes them as text."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[2]
PACKAGES: Final = (
    "conformance", "document", "files", "fuzz", "halfcheck", "model_check", "real_brokers", "reference", "html_report",
    "spark_trace_analysis", "spec", "traffic", "wire",
)  # fmt: skip

NAMES: Final = {
    "clause", "clauses", "environment", "environments", "fault", "faults", "instance", "instances", "profile",
    "profiles", "properties",
}  # fmt: skip
"""What a parameter or a field of one of these things is called."""

BORDER: Final = {
    "fuzz/lockstep/fuzzed_instances.py": "the instances of the fuzzer by their names",
    "fuzz/lockstep/pairing.py": "a pair by the names of its world",
    "fuzz/mutants/mutant.py": "the declarations of mutants, a line of text each",
    "model_check/question.py": "a question by the names of its world",
    "model_check/world.py": "profiles, environments and worlds by their names",
}
"""Where names are parsed, and which; beside these the modules of the command line that declare options."""

OPTIONS: Final = ("halfcheck/commands/", "halfcheck/options.py", "spec/")
"""Also where such things are declared."""

AS_WRITTEN: Final = {
    "model_check/defects/catalogue.py": ["Defect.properties: tuple[str, ...]"],
    "model_check/finding.py": ["Bounds.instance: str"],
    "model_check/remedies/advice.py": ["Part.faults: tuple[str, ...]"],
    "model_check/verdicts/table.py": ["TableOfVerdicts.faults: tuple[str, ...]"],
    "real_brokers/probe/outcomes.py": ["BrokerReplay.clause: str", "BrokerReplay.environment: str"],
    "wire/control/controller.py": ["fault(fault: str)"],
}
"""Records with the names that stand in their files or their JSON; and the wire's own faults, which are other ones."""


def is_border(path: str) -> bool:
    return path in BORDER or path.startswith(OPTIONS) or path.endswith("_options.py")


def texts(source: str) -> Iterator[str]:
    """The parameters and fields of a module that take such a thing as text."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            of = node.args
            for argument in (*of.posonlyargs, *of.args, *of.kwonlyargs):
                if argument.arg in NAMES and argument.annotation is not None and is_text(argument.annotation):
                    yield f"{node.name}({argument.arg}: {ast.unparse(argument.annotation)})"
        elif isinstance(node, ast.ClassDef):
            for field in node.body:
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                    name = field.target.id
                    if name in NAMES and is_text(field.annotation):
                        yield f"{node.name}.{name}: {ast.unparse(field.annotation)}"


def is_text(annotation: ast.expr) -> bool:
    """Whether an annotation is of texts; a mapping from names to something else is not."""
    named = [node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)]
    return "str" in named and not {"dict", "Mapping", "Callable"} & set(named)


def sources() -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


def test_inside_nobody_takes_a_name_for_a_thing() -> None:
    found = {path: list(texts(source)) for path, source in sources() if not is_border(path)}
    assert {path: names for path, names in found.items() if names} == AS_WRITTEN


def test_every_module_of_the_border_takes_names() -> None:
    found = {path for path, source in sources() if list(texts(source))}
    assert {path for path in BORDER if path not in found} == set()


def test_constants_are_made_of_a_world_alone() -> None:
    named = [path for path, source in sources() if "constants_for" in source]
    assert named == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("def f(profile: str) -> None: ...", ["f(profile: str)"]),
        ("def f(*, faults: Sequence[str] = ()) -> None: ...", ["f(faults: Sequence[str])"]),
        ("class C:\n    instance: str | None = None", ["C.instance: str | None"]),
        ("def f(profile: Profile, clauses: dict[str, Property]) -> None: ...", []),
    ],
)
def test_a_name_for_a_thing_is_found(source: str, found: list[str]) -> None:
    assert list(texts(source)) == found
