"""Every kind of damage to a run on disk gets one line that names the file, and exit code 150."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from spark_trace_analysis.errors import BadTracesError
from spark_trace_analysis.traces.manifest import TraceRun, read_manifest, write_manifest
from spark_trace_analysis.traces.run_layout import MANIFEST
from spark_trace_analysis.traces.runs import find_runs

WriteRun = Callable[[Path, Sequence[Sequence[tuple[Any, ...]]]], TraceRun]


def change_manifest(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    manifest = json.loads((folder / MANIFEST).read_text())
    change(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest))


def make_manifest_fit(folder: Path) -> None:
    """Only the size is made to fit, so that what comes after the size is looked at."""
    size = (folder / "traces.parquet").stat().st_size
    change_manifest(folder, lambda manifest: manifest["files"][0].update(size_bytes=size))


def drop_column(folder: Path) -> None:
    path = folder / "traces.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["transaction"]), path)
    make_manifest_fit(folder)


def add_column(folder: Path) -> None:
    path = folder / "traces.parquet"
    table = pq.read_table(path)
    pq.write_table(table.append_column("mood", table["step"]), path)
    make_manifest_fit(folder)


def change_type(folder: Path) -> None:
    path = folder / "traces.parquet"
    table = pq.read_table(path)
    pq.write_table(table.set_column(1, "step", table["step"].cast("int64")), path)
    make_manifest_fit(folder)


def cut(folder: Path) -> None:
    path = folder / "traces.parquet"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def cut_and_fit(folder: Path) -> None:
    cut(folder)
    make_manifest_fit(folder)


def add_file(folder: Path) -> None:
    shutil.copy(folder / "traces.parquet", folder / "more.parquet")


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "no manifest": (lambda folder: (folder / MANIFEST).unlink(), "no _manifest.json"),
    "manifest is no JSON": (lambda folder: (folder / MANIFEST).write_text("{"), "manifest.json: not JSON"),
    "manifest is a list": (lambda folder: (folder / MANIFEST).write_text("[]"), "schema version None"),
    "other schema version": (
        lambda folder: change_manifest(folder, lambda manifest: manifest.update(schema_version=99)),
        "schema version 99",
    ),
    "key missing": (lambda folder: change_manifest(folder, lambda manifest: manifest.pop("files")), "'files'"),
    "parameter unknown": (
        lambda folder: change_manifest(folder, lambda manifest: manifest["parameters"].update(mood=1)),
        "mood",
    ),
    "file missing": (lambda folder: (folder / "traces.parquet").unlink(), "it is missing"),
    "file cut in half": (cut, "the file was cut or changed"),
    "file cut in half, manifest too": (cut_and_fit, "not readable as Parquet"),
    "column missing": (drop_column, "has no column 'transaction'"),
    "column added": (add_column, "a column 'mood'"),
    "column of another type": (change_type, "column 'step' as int64, expected int32"),
    "rows missing": (
        lambda folder: change_manifest(folder, lambda manifest: manifest["files"][0].update(events=99)),
        "has 3 rows, the manifest says 99",
    ),
    "file of another run": (add_file, "more.parquet: not in the manifest"),
}


@pytest.mark.parametrize(("damage", "message"), DAMAGES.values(), ids=DAMAGES.keys())
def test_damage_is_named_in_one_line(
    write_run: WriteRun, tmp_path: Path, damage: Callable[[Path], object], message: str
) -> None:
    folder = tmp_path / "run"
    write_run(folder, [[("half_stored", 0), ("message_delivered", 0)], [("crashed", -1)]])
    damage(folder)
    with pytest.raises(BadTracesError) as found:
        find_runs(folder)
    assert message in str(found.value)
    assert str(folder) in str(found.value)
    assert "\n" not in str(found.value)
    assert found.value.exit_code == 150


def test_a_missing_folder_a_file_and_an_empty_folder_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    for name, message in (("missing", "no such folder"), ("file", "not a folder"), ("empty", "the folder is empty")):
        with pytest.raises(BadTracesError, match=message):
            find_runs(tmp_path / name)


def test_the_runs_of_a_folder_come_in_the_order_of_their_names(write_run: WriteRun, tmp_path: Path) -> None:
    for name in ("b", "a", ".half-done.partial"):
        write_run(tmp_path / name, [[("crashed", -1)]])
    assert [run.folder.name for run in find_runs(tmp_path)] == ["a", "b"]


def test_a_manifest_is_read_back_as_it_was_written(write_run: WriteRun, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [[("crashed", -1)]])
    write_manifest(tmp_path, run.manifest)
    assert read_manifest(tmp_path) == run.manifest
    assert read_manifest(tmp_path).parameters.command == (
        "halfcheck simulate --traces 1 --profile 5.3.3 --instance tiny --steps 9 --seed 0"
    )
