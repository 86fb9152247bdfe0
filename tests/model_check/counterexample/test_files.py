"""Files of a counterexample appear whole or not at all; what cannot be written is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from files.errors import UnwritableFileError
from model_check.answers.counterexample_files import WrittenFiles, write_files
from model_check.clauses import clauses_by_name
from model_check.verdicts.table import table_of_verdicts
from tests.model_check.checked import checked

if TYPE_CHECKING:
    from model_check.finding import Violated


@pytest.fixture(autouse=True, params=["tiny"])
def compiled_instance(request: pytest.FixtureRequest) -> str:
    """All tests here run on the worker that compiles it (see the root conftest.py)."""
    return str(request.param)


FORMS = ("itf", "svg", "mermaid", "pytest")


def row() -> Violated:
    violated = checked("5.3.3", "crash", "tiny").violated
    return violated[clauses_by_name()["S10.op_entry_dies_with_the_process"]]


def test_only_the_forms_that_are_asked_for_are_written(tmp_path: Path) -> None:
    write_files(row(), WrittenFiles())
    assert list(tmp_path.iterdir()) == []
    write_files(row(), WrittenFiles(svg=tmp_path / "a.svg"))
    assert [file.name for file in tmp_path.iterdir()] == ["a.svg"]


def test_each_counterexample_of_an_instance_has_a_well_formed_drawing(tmp_path: Path) -> None:
    finding = checked("5.3.3", "crash", "tiny")
    entry = table_of_verdicts().of(finding.world.profile, finding.world.instance)[finding.world.environment]
    assert finding.violated.keys() == entry.violated.keys()
    for row in finding.violated.values():
        write_files(row, WrittenFiles(svg=tmp_path / "a.svg"))
        root = ET.parse(tmp_path / "a.svg").getroot()  # noqa: S314 (our own output)
        groups = [g for g in root.iter("{http://www.w3.org/2000/svg}g") if g.get("data-step")]
        assert {int(g.get("data-step", "0")) for g in groups} == set(range(1, row.depth + 1))
        assert sum("violation" in (g.get("class") or "") for g in groups) == 1


@pytest.mark.parametrize("form", FORMS)
def test_a_file_is_replaced_and_not_written_into(form: str, tmp_path: Path) -> None:
    file, other = tmp_path / "file", tmp_path / "same file before"
    file.write_text("old", encoding="utf-8")
    other.hardlink_to(file)
    write_files(row(), WrittenFiles(**{form: file}))
    assert other.read_text(encoding="utf-8") == "old"
    assert len(file.read_text(encoding="utf-8")) > 300
    assert sorted(f.name for f in tmp_path.iterdir()) == ["file", "same file before"]


def test_what_fails_at_the_last_moment_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    file = tmp_path / "file"
    file.write_text("old", encoding="utf-8")
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(UnwritableFileError, match=r"file: cannot be written: No space left on device$"):
        write_files(row(), WrittenFiles(itf=file))
    assert file.read_text(encoding="utf-8") == "old"
    assert [f.name for f in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("target", "reason"),
    [("no/such/file", "No such file or directory"), ("folder", "it is a directory"), ("link", "it is a link, .*")],
)
def test_a_target_that_cannot_be_written_is_named(form: str, target: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("another")
    with pytest.raises(UnwritableFileError, match=rf"{target}: cannot be written: {reason}$"):
        write_files(row(), WrittenFiles(**{form: tmp_path / target}))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "link"]


def test_a_violation_of_which_only_the_depth_is_known_has_nothing_to_write(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"^S10\.op_entry_dies_with_the_process has no path that was replayed$"):
        write_files(replace(row(), path=(), replay=None), WrittenFiles(itf=tmp_path / "a"))
