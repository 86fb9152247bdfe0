"""What parts of a job have found is found again, and by nobody else once anything that it depends on has changed."""

import math
from importlib import metadata
from pathlib import Path

import pytest

from files.reading import read_text
from halfcheck.verify import parts, processes
from halfcheck.verify.processes import ResultCache, project_fingerprint


def double(number: int) -> int:
    if number < 0:
        message = f"{number} is below 0"
        raise ValueError(message)
    return 2 * number


def triple(number: int) -> int:
    return 3 * number


def test_a_second_job_asks_only_what_the_first_did_not_finish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ResultCache(tmp_path, map)
    with pytest.raises(ValueError, match="-1 is below 0"):
        list(first(double, [4, 5, -1, 6]))
    second = ResultCache(tmp_path, map)
    monkeypatch.setattr(double, "__code__", triple.__code__)
    assert list(second(double, [6, 5, 7, 4])) == [18, 10, 21, 8]
    assert (second.found, first.found) == (2, 0)


def test_another_function_of_the_same_part_is_another_question(tmp_path: Path) -> None:
    kept = ResultCache(tmp_path, map)
    assert list(kept(double, [4])) == [8]
    assert list(kept(math.sqrt, [4])) == [2]


def test_nothing_is_found_when_a_file_of_the_project_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "package" / "data" / "store.bin"
    source.parent.mkdir(parents=True)
    (tmp_path / "package" / "__init__.py").touch()
    source.write_bytes(b"\x00\x01")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(processes, "PACKAGES", ("package",))
    before = project_fingerprint()
    compiled = source.parent / "__pycache__" / "kernel.nbc"
    compiled.parent.mkdir()
    compiled.write_bytes(b"\x01")
    assert project_fingerprint() == before
    source.write_bytes(b"\x00\x02")
    assert project_fingerprint() != before
    kept = ResultCache(tmp_path / "found", map)
    assert list(kept(double, [4])) == [8]
    source.write_bytes(b"\x00\x03")
    changed = ResultCache(tmp_path / "found", map)
    assert (list(changed(double, [4])), changed.found) == ([8], 0)


def test_every_package_that_a_part_may_use_is_part_of_the_fingerprint() -> None:
    """The report shows what parts have found; its page lies in the package's folder, where it is written."""
    project = Path(processes.__file__).parents[2]
    packages = {path.parent.name for path in project.glob("*/__init__.py")}
    assert set(processes.PACKAGES) == packages - {"tests", "benchmarks", "real_brokers", "html_report"}
    assert "html_report" not in read_text(Path(parts.__file__))


@pytest.mark.parametrize(("name", "changes"), [("halfcheck", False), ("unheard_of", True)])
def test_metadata_that_a_wheel_leaves_in_the_folder_changes_nothing(
    name: str, changes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "PACKAGES", ())
    before = project_fingerprint()
    left = tmp_path / f"{name}.egg-info" / "PKG-INFO"
    left.parent.mkdir()
    left.write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {metadata.version('halfcheck')}\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert (project_fingerprint() != before) == changes
