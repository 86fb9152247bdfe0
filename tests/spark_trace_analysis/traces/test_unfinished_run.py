"""A file of a run that is being written appears whole or not at all, and leaves nothing behind where it can't."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pyarrow as pa
import pytest

from spark_trace_analysis.traces.manifest import Parameters
from spark_trace_analysis.traces.unfinished_run import locked_run

PARAMETERS = Parameters("5.3.3", ("crash",), "tiny", seed=3, traces=1, steps=3)


def half(path: Path, content: pa.Buffer) -> int:
    with path.open("wb") as file:
        file.write(memoryview(content)[: content.size // 2])
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


def test_a_file_that_is_written_in_half_does_not_appear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with locked_run(tmp_path / "run") as run:
        run.begin(PARAMETERS, "sources")
        there = files_of(run.folder)
        monkeypatch.setattr(Path, "write_bytes", half)
        with pytest.raises(OSError, match="No space left"):
            run.write("traces-0.parquet", pa.py_buffer(b"sixteen bytes ok"), 0, 1, 1)
        assert files_of(run.folder) == there


def files_of(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
