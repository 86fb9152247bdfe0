"""Files are read through `files/` alone, which looks at their kind, size and depth; no other module opens one."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[2]
PACKAGES: Final = (
    "conformance", "document", "fuzz", "halfcheck", "model_check", "real_brokers", "reference", "report",
    "spark_trace_analysis", "spec", "traffic", "wire",
)  # fmt: skip

OF_MODULES: Final = {
    "gzip": {"open", "GzipFile", "decompress"},
    "io": {"open", "FileIO"},
    "json": {"load", "loads", "JSONDecoder"},
    "mmap": {"mmap"},
    "np": {"load", "memmap", "fromfile", "loadtxt", "genfromtxt"},
    "os": {"open", "fdopen"},
    "pa": {"memory_map", "OSFile", "input_stream"},
    "pd": {"read_csv", "read_json", "read_parquet"},
    "pickle": {"load", "loads", "Unpickler"},
    "pl": {"read_csv", "read_json", "read_ndjson", "read_parquet", "scan_parquet", "scan_csv", "scan_ndjson"},
    "pq": {"ParquetFile", "ParquetDataset", "read_metadata", "read_schema", "read_table"},
    "tomllib": {"load", "loads"},
    "zipfile": {"ZipFile"},
}
"""What reads a file, or parses what was read."""

OF_ANY: Final = {"read_text", "read_bytes"}

ACCEPTED: Final = {
    "halfcheck/app.py": "the null device in the place of a closed stream",
    "model_check/explicit/checkpoint.py": "a lock, and a folder that is flushed",
    "model_check/explicit/code_generation/text_cache.py": "what it has pickled for itself, held by a checksum",
    "model_check/explicit/state_store/reserved_memory.py": "memory without a file, and what the system says of memory",
    "model_check/explicit/state_store/regions.py": "files that a search makes for itself, read in place",
    "model_check/switches.py": "this package's own sources",
    "model_check/fingerprint.py": "this package's own sources",
    "model_check/verdicts/searches.py": "a line is appended behind one that may be torn",
    "reference/store/disk.py": "a broker's own files, written and read in place; its small ones come through the door",
    "spark_trace_analysis/audit/columns/stage_files.py": "Arrow's own files between the stages of one audit",
    "spark_trace_analysis/cluster/session.py": "the log of Spark's Java is written",
    "spark_trace_analysis/traces/whole_traces.py": "a file that is in memory",
    "wire/node/start.py": "a lock, which is written",
    "wire/remoting/command.py": "frames off the network, none of which is longer than a frame",
    "halfcheck/verify/processes.py": "what the main job has pickled for itself",
    "conformance/release_gate/__main__.py": "the null device in the place of standard output",
}
"""Modules that open something else than a file to be read, with what it is."""


def readers(module: str) -> Iterator[str]:
    """The calls of a module that read a file or parse one."""
    for node in ast.walk(ast.parse(module)):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id == "open" and reads(node, 1):
            yield f"{node.lineno}: open"
        if not isinstance(called, ast.Attribute):
            continue
        of, name = ast.unparse(called.value), called.attr
        if name in OF_MODULES.get(of, ()) and (is_of_memory(node) or only_writes(node)):
            continue
        if name in OF_MODULES.get(of, ()) or (name in OF_ANY and not of.startswith("resources.files(")):
            yield f"{node.lineno}: {of}.{name}"
        elif name == "open" and of not in OF_MODULES and is_of_a_path(node) and reads(node, 0):
            yield f"{node.lineno}: {of}.open"


def is_of_memory(call: ast.Call) -> bool:
    """Whether what is read stands in memory already."""
    return bool(call.args) and ast.unparse(call.args[0]).startswith(("pa.BufferReader(", "BytesIO("))


def only_writes(call: ast.Call) -> bool:
    """Whether the call names a mode in which a file is written."""
    return len(call.args) > 1 and not reads(call, 1)


def is_of_a_path(call: ast.Call) -> bool:
    """Whether ``x.open(…)`` is `Path.open`: without a place that is given, and at most with a mode."""
    return not call.args or (isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, str))


def reads(call: ast.Call, place: int) -> bool:
    """Whether the mode of a call of open is none that only writes."""
    modes = [*call.args[place : place + 1], *(each.value for each in call.keywords if each.arg == "mode")]
    return not modes or not isinstance(modes[0], ast.Constant) or bool(set(str(modes[0].value)) & set("r+"))


@pytest.mark.parametrize("package", PACKAGES)
def test_no_other_module_reads_files(package: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{reader}"
        for path in sorted((ROOT / package).rglob("*.py"))
        if str(path.relative_to(ROOT)) not in ACCEPTED
        for reader in readers(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_what_is_accepted_is_there_and_opens_something() -> None:
    assert [path for path in ACCEPTED if not list(readers((ROOT / path).read_text(encoding="utf-8")))] == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("path.open()", 1),
        ("path.open('rb')", 1),
        ("path.open(encoding='utf-8')", 1),
        ("path.open('r+b')", 1),
        ("path.open('w')", 0),
        ("open(path, mode='a')", 0),
        ("open(path)", 1),
        ("CommitLog.open(store)", 0),
        ("Path(path).read_text()", 1),
        ("resources.files('spec').joinpath('a.toml').read_text()", 0),
        ("json.loads(line)", 1),
        ("json.dumps(line)", 0),
        ("pq.ParquetFile(path)", 1),
        ("pq.ParquetFile(pa.BufferReader(content))", 0),
        ("gzip.open(path, 'wt')", 0),
        ("gzip.open(path, 'rt')", 1),
    ],
)
def test_a_reader_is_known_when_it_is_seen(text: str, count: int) -> None:
    assert len(list(readers(text))) == count
