"""Files of a real HDFS: whole or not there, the first of a name told from the second, and a killed server in a line."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from files import hdfs as hdfs_module
from files import remote_path
from files.brought import bring
from files.parquet import read_parquet
from files.reading import read_bytes, size_of
from files.writing import appearing, create_whole, remove_folder, write_whole
from tests.files.places import hdfs, hdfs_server

if TYPE_CHECKING:
    from pathlib import Path

    from files.remote_path import RemotePath
    from tests.files.hdfs_server import HdfsServer

__all__ = ["hdfs", "hdfs_server"]

pytestmark = pytest.mark.sweep


def test_what_is_written_is_found_and_read(hdfs: RemotePath, tmp_path: Path) -> None:
    assert (hdfs.exists(), list(hdfs.iterdir())) == (False, [])
    write_whole(hdfs / "commitlog" / "0", b"12345678")
    write_whole(hdfs / "commitlog" / "0", b"87654321")
    write_whole(hdfs / "a", b"")
    assert [path.name for path in hdfs.iterdir()] == ["a", "commitlog"]
    assert (size_of(hdfs / "commitlog" / "0"), size_of(hdfs / "a"), size_of(hdfs / "b")) == (8, 0, None)
    assert (hdfs.is_dir(), (hdfs / "a").is_file(), (hdfs / "a").is_dir()) == (True, True, False)
    assert hdfs.system.read((hdfs / "commitlog" / "0").key, 2, 5) == b"654"
    brought = bring(hdfs, tmp_path / "here")
    assert (brought / "commitlog" / "0").read_bytes() == b"87654321"
    with appearing(hdfs / "rows.parquet") as unfinished:
        table = pa.table({"number": list(range(10_000))})
        pq.write_table(table, unfinished)
    assert read_parquet(hdfs / "rows.parquet") == table
    remove_folder(hdfs)
    assert not hdfs.exists()


def test_a_file_in_the_root_is_written_and_a_server_that_refuses_a_name_is_told_without_its_trace(
    hdfs: RemotePath,
) -> None:
    at = hdfs.parent / f"{hdfs.name}.html"
    assert "/" not in at.key
    write_whole(at, b"1")
    assert read_bytes(at) == b"1"
    at.unlink()
    with pytest.raises(OSError, match="Invalid path name") as failure:
        write_whole(hdfs / ".." / "a", b"2")
    assert "org.apache.hadoop.hdfs.server" not in str(failure.value)


def test_of_many_who_create_a_file_one_does(hdfs: RemotePath) -> None:
    with ThreadPoolExecutor(8) as threads:
        won = list(threads.map(lambda number: create_whole(hdfs / "owner", f"{number}"), range(8)))
    assert sum(won) == 1
    assert read_bytes(hdfs / "owner") == f"{won.index(True)}".encode()


def test_a_server_that_was_killed_is_told_in_a_line_and_goes_on(
    hdfs: RemotePath, hdfs_server: HdfsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hdfs_module, "ATTEMPTS", 2)
    remote_path._file_system.cache_clear()
    write_whole(hdfs / "a", b"1")
    hdfs_server.kill("namenode")
    with pytest.raises(OSError, match="HDFS does not answer as it should") as failure:
        write_whole(hdfs / "b", b"2")
    assert "\n" not in str(failure.value)
    hdfs_server.kill()
    hdfs_server.start()
    remote_path._file_system.cache_clear()
    write_whole(hdfs / "b", b"2")
    assert (read_bytes(hdfs / "a"), read_bytes(hdfs / "b")) == (b"1", b"2")
