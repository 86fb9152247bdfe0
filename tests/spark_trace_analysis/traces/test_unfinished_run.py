"""A file of a run that is being written appears whole or not at all, and leaves nothing behind where it can't."""

from __future__ import annotations

import errno
import io
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from model_check.world import World
from spark_trace_analysis.traces.manifest import Parameters
from spark_trace_analysis.traces.unfinished_run import locked_run

PARAMETERS = Parameters(World.of("5.3.3", ("crash",), "tiny"), seed=3, traces=1, steps=3)


class FullDisk(io.FileIO):
    """A file of which half is written."""

    def write(self, content: Any) -> int:
        super().write(memoryview(content)[: len(memoryview(content)) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.name))


def test_a_file_that_is_written_in_half_does_not_appear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "run"
    with locked_run(folder) as run:
        run.begin(PARAMETERS, "sources")
        there = files_of(folder)
        monkeypatch.setattr(Path, "open", lambda path, mode: FullDisk(path, mode))  # noqa: PLW0108 (a method)
        with pytest.raises(OSError, match="No space left"):
            run.write("traces-0.parquet", pa.py_buffer(b"sixteen bytes ok"), 0, 1, 1)
        assert files_of(folder) == there


def files_of(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
