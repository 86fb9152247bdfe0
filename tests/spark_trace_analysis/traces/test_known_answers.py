"""What was said of a file is said again of that file alone: one of another size, time or content is looked at anew."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from files.writing import WrittenBehind
from spark_trace_analysis.traces.over_files import _LookCache

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ROWS: list[Mapping[str, Any]] = [{"violations": 1}]


def test_a_file_that_was_changed_in_any_way_is_looked_at_again(tmp_path: Path) -> None:
    file, known = tmp_path / "traces.parquet", _LookCache(tmp_path, "asked")
    file.write_bytes(b"12345678")
    os.utime(file, ns=(7, 7))
    known.store(file, "sha", ROWS, WrittenBehind())
    assert known.find(file, "sha") == ROWS
    assert known.find(file, "another sha") is None
    assert _LookCache(tmp_path, "asked otherwise").find(file, "sha") is None
    file.write_bytes(b"123456789")
    os.utime(file, ns=(7, 7))
    assert known.find(file, "sha") is None
    file.write_bytes(b"12345678")
    os.utime(file, ns=(8, 8))
    assert known.find(file, "sha") is None
    os.utime(file, ns=(7, 7))
    assert known.find(file, "sha") == ROWS
