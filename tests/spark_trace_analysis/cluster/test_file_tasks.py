"""Files that tasks make: those that are there are found, a killed worker is replaced, a full disk ends the job."""

from __future__ import annotations

import errno
import os
import signal
from typing import TYPE_CHECKING

import pytest

from spark_trace_analysis.cluster.file_tasks import make_files

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


def test_a_worker_that_is_killed_leaves_no_file_out(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "3").touch()

    def find_or_make(place: int) -> bool:
        if (tmp_path / str(place)).exists():
            return True
        if place == 5:
            try:
                (tmp_path / "killed").touch(exist_ok=False)
                os.kill(os.getpid(), signal.SIGKILL)
            except FileExistsError:
                pass
        (tmp_path / str(place)).touch()
        return False

    assert make_files(spark, 8, find_or_make, 2) >= 1
    assert {path.name for path in tmp_path.iterdir()} == {*map(str, range(8)), "killed"}
    assert make_files(spark, 8, find_or_make, 2) == 8, "all are found"


def test_a_full_disk_is_said_and_not_tried_again(spark: SparkSession, tmp_path: Path) -> None:
    def find_or_make(place: int) -> bool:
        (tmp_path / f"{place}.{os.urandom(4).hex()}").touch()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match="No space left on device"):
        make_files(spark, 2, find_or_make, 2)
    assert len(list(tmp_path.iterdir())) == 2
