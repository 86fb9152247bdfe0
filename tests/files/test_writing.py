"""A file appears by rename, whole or not at all, in one way that no other module copies."""

from __future__ import annotations

import ast
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from files.errors import UnwritableFileError
from files.writing import appearing, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[2]
PACKAGES: Final = (
    "benchmarks", "conformance", "document", "fuzz", "halfcheck", "model_check", "real_brokers", "reference",
    "spark_trace_analysis", "spec", "traffic", "wire",
)  # fmt: skip

ACCEPTED: Final = {
    "conformance/release_gate/jars.py": "a folder",
    "conformance/java/harness.py": "a jar",
    "conformance/releases/jars.py": "a folder",
    "real_brokers/rocketmq/archive.py": "a folder",
    "reference/broker/config_files.py": "a broker's own files, as RocketMQ renames them",
    "reference/broker/transaction/transaction_metrics.py": "a broker's own files, as RocketMQ renames them",
    "reference/store/disk.py": "a broker's own files",
    "spark_trace_analysis/audit/audit_folders.py": "a folder",
    "wire/node/crashing_disk.py": "a broker's own files",
}
"""Modules that rename something else than a file that they have written, with what it is."""

NO_PATHS: Final = {"fuzz/broker_side/broker_side.py": "a broker is replaced"}


def renames(module: str) -> Iterator[str]:
    """The calls of a module that give a file another name."""
    for node in ast.walk(ast.parse(module)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            of, name = ast.unparse(node.func.value), node.func.attr
            is_of_a_path = name == "replace" and len(node.args) == 1 and not node.keywords
            if name in ("rename", "renames") or (of, name) in (("os", "replace"), ("shutil", "move")) or is_of_a_path:
                yield f"{node.lineno}: {of}.{name}"


@pytest.mark.parametrize("package", PACKAGES)
def test_no_other_module_renames_what_it_writes(package: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{call}"
        for path in sorted((ROOT / package).rglob("*.py"))
        if str(path.relative_to(ROOT)) not in ACCEPTED | NO_PATHS
        for call in renames(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_what_is_accepted_is_there_and_renames_something() -> None:
    listed = ACCEPTED | NO_PATHS
    assert [path for path in listed if not list(renames((ROOT / path).read_text(encoding="utf-8")))] == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("os.replace(a, b)", 1),
        ("a.replace(b)", 1),
        ("Path(a).rename(b)", 1),
        ("shutil.move(a, b)", 1),
        ("'a'.replace('b', 'c')", 0),
        ("replace(record, field=1)", 0),
    ],
)
def test_a_rename_is_known_when_it_is_seen(text: str, count: int) -> None:
    assert len(list(renames(text))) == count


@pytest.mark.parametrize("content", ["a\n–", b"\0\xff"])
def test_the_file_holds_what_was_given_and_is_alone(content: str | bytes, tmp_path: Path) -> None:
    (tmp_path / "within").mkdir()
    write_whole(tmp_path / "one", "old")
    write_whole(tmp_path / "one", content, within=tmp_path / "within", is_lasting=True)
    assert (tmp_path / "one").read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["one", "within"]


def write_and_fail(path: Path) -> None:
    path.write_text("new")
    raise ZeroDivisionError


def test_a_block_that_fails_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("old")
    with pytest.raises(ZeroDivisionError), appearing(tmp_path / "one") as unfinished:
        write_and_fail(unfinished)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("one", "old")]


def test_a_pipe_a_link_and_a_folder_stay_what_they_are(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("another")
    (tmp_path / "folder").mkdir()
    for name, why in (("pipe", "a device or a pipe"), ("link", "a link, which the file would replace"),
                      ("folder", "a directory")):  # fmt: skip
        with pytest.raises(UnwritableFileError) as said:
            write_whole(tmp_path / name, "new")
        assert (str(said.value), said.value.exit_code) == (f"{tmp_path / name}: cannot be written: it is {why}", 150)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "link", "pipe"]


def test_a_name_that_cannot_be_written_is_said_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for name, why in (("no/such", "No such file or directory"), ("file/inside", "Not a directory")):
        with pytest.raises(UnwritableFileError, match=f"{name}: cannot be written: {why}$"):
            write_whole(tmp_path / name, "new")
