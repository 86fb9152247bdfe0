"""Files of a real S3 server: whole or not there, the first of a name told from the second, each failure in a line."""

from __future__ import annotations

import errno
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from files import object_store
from files.brought import bring
from files.object_store import RETRIES, RETRY_SECONDS
from files.parquet import read_parquet
from files.reading import read_bytes, read_lines, size_of, stamp_of
from files.remote_path import RemotePath, location
from files.writing import WrittenBehind, appearing, create_whole, remove_folder, write_whole
from tests.files.places import faulty_s3, s3, s3_server, use

if TYPE_CHECKING:
    from pathlib import Path

    from tests.files.faulty_proxy import Faults
    from tests.files.s3_server import S3Server

__all__ = ["faulty_s3", "s3", "s3_server"]


def test_what_is_written_is_found_and_read(s3: RemotePath) -> None:
    assert (s3.exists(), s3.is_dir(), list(s3.iterdir())) == (False, False, [])
    write_whole(s3 / "b" / "text", "two\nlines\n")
    write_whole(s3 / "a", b"12345678")
    assert [path.name for path in s3.iterdir()] == ["a", "b"]
    assert (s3.is_dir(), (s3 / "b").is_dir(), (s3 / "a").is_file(), (s3 / "a").is_dir()) == (True, True, True, False)
    assert (size_of(s3 / "a"), size_of(s3 / "c")) == (8, None)
    assert list(read_lines(s3 / "b" / "text")) == [b"two\n", b"lines\n"]
    assert (s3 / "a").system.read((s3 / "a").key, 2, 5) == b"345"
    assert list(s3.glob("*/text")) == [s3 / "b" / "text"]
    before = stamp_of(s3 / "a")
    write_whole(s3 / "a", b"87654321")
    assert stamp_of(s3 / "a") != before
    remove_folder(s3)
    assert not s3.exists()


def test_a_parquet_file_is_read_by_its_pieces(s3: RemotePath) -> None:
    table = pa.table({"number": list(range(10_000))})
    with appearing(s3 / "rows.parquet") as unfinished:
        pq.write_table(table, unfinished)
    assert read_parquet(s3 / "rows.parquet") == table


def test_a_block_that_fails_leaves_no_file(s3: RemotePath) -> None:
    def fail() -> None:
        with appearing(s3 / "half") as unfinished:
            unfinished.write_bytes(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert not s3.exists()


def test_of_many_who_create_a_file_one_does(s3: RemotePath, tmp_path: Path) -> None:
    for folder in (s3, tmp_path):
        with ThreadPoolExecutor(8) as threads:
            place = folder / "owner"
            won = list(threads.map(lambda number, at=place: create_whole(at, f"{number}"), range(8)))
        assert sum(won) == 1
        assert read_bytes(place) == f"{won.index(True)}".encode()


def test_a_folder_is_brought_with_its_zeros_as_holes(s3: RemotePath, tmp_path: Path) -> None:
    content = b"x" + bytes(1 << 20) + b"y" + bytes(1 << 20)
    write_whole(s3 / "commitlog" / "0", content)
    write_whole(s3 / "config" / "offsets", b"{}")
    write_whole(s3 / "index" / "left", b"out")
    brought = bring(s3, tmp_path, lambda name: name != "index")
    assert sorted(str(path.relative_to(brought)) for path in brought.rglob("*") if path.is_file()) == [
        "commitlog/0", "config/offsets",
    ]  # fmt: skip
    assert (brought / "commitlog" / "0").read_bytes() == content
    assert (brought / "commitlog" / "0").stat().st_blocks * 512 < 1 << 19


@pytest.mark.parametrize(("variable", "value"), [("AWS_SECRET_ACCESS_KEY", "wrong"), ("AWS_ACCESS_KEY_ID", "nobody")])
def test_wrong_credentials_are_told_in_a_line(
    s3: RemotePath, s3_server: S3Server, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    use(monkeypatch, s3_server, **{variable: value})
    for what in (lambda: write_whole(s3 / "a", b""), lambda: read_bytes(s3 / "a"), lambda: create_whole(s3 / "a", b"")):
        with pytest.raises(PermissionError, match="the store refuses these credentials") as refusal:
            what()
        assert (refusal.value.errno, "\n" in str(refusal.value)) == (errno.EACCES, False)


def test_a_bucket_that_is_not_there_is_told_in_a_line(s3: RemotePath) -> None:
    with pytest.raises(FileNotFoundError, match="there is no such bucket"):
        list(location("s3://nobody-has-this/traces").iterdir())


def test_a_server_that_is_not_there_is_told_in_a_line(
    s3: RemotePath, s3_server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "RETRIES", 0)
    use(monkeypatch, s3_server, AWS_ENDPOINT_URL="http://127.0.0.1:9")
    with pytest.raises(OSError, match="the store does not answer as it should") as failure:
        write_whole(s3 / "a", b"")
    assert (failure.value.errno, "\n" in str(failure.value)) == (errno.EIO, False)


def test_what_is_written_behind_is_there_once_it_is_settled_and_its_failure_is_told(
    faulty_s3: tuple[RemotePath, Faults], tmp_path: Path
) -> None:
    place, faults = faulty_s3
    behind = WrittenBehind()
    for number in range(20):
        behind.write(place / f"{number}", f"{number}".encode())
    behind.write(tmp_path / "here", b"at once")
    assert (tmp_path / "here").read_bytes() == b"at once"
    behind.settle()
    assert [read_bytes(place / f"{number}") for number in range(20)] == [f"{number}".encode() for number in range(20)]
    faults.count, faults.method = 100, "PUT"
    behind.write(place / "late", b"")
    with pytest.raises(OSError, match="SlowDown"):
        behind.settle()
    behind.settle()


def test_a_server_that_is_busy_for_a_while_is_asked_again(faulty_s3: tuple[RemotePath, Faults]) -> None:
    place, faults = faulty_s3
    faults.count = 2
    write_whole(place / "a", b"12")
    faults.count = 2
    assert read_bytes(place / "a") == b"12"
    assert faults.count == 0


def test_a_server_that_is_away_for_some_seconds_is_asked_until_it_is_back(
    faulty_s3: tuple[RemotePath, Faults], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "RETRIES", RETRIES)
    monkeypatch.setattr(object_store, "RETRY_SECONDS", RETRY_SECONDS)
    place, faults = faulty_s3
    write_whole(place / "a", b"12")
    faults.count = 8
    assert (read_bytes(place / "a"), faults.count) == (b"12", 0)


def test_a_creation_that_was_carried_out_though_its_answer_was_lost_counts(
    faulty_s3: tuple[RemotePath, Faults],
) -> None:
    place, _ = faulty_s3
    assert create_whole(place / "owner", "mine")
    assert create_whole(place / "owner", "mine")
    assert not create_whole(place / "owner", "another's")


def test_a_request_without_an_answer_is_made_again_and_so_is_a_creation(faulty_s3: tuple[RemotePath, Faults]) -> None:
    place, faults = faulty_s3
    faults.hangs_up = True
    for request in (
        lambda: write_whole(place / "a", b"12"),
        lambda: read_bytes(place / "a"),
        lambda: create_whole(place / "owner", "mine"),
    ):
        faults.count = 2
        assert request() is not False
        assert faults.count == 0
    faults.count = 100
    with pytest.raises(OSError, match="the store does not answer as it should") as failure:
        create_whole(place / "another", "mine")
    assert "\n" not in str(failure.value)


@pytest.mark.parametrize(
    ("status", "code", "number", "message"),
    [
        (503, "SlowDown", errno.EIO, "SlowDown: by order of a test"),
        (507, "InsufficientStorage", errno.ENOSPC, "the store is full"),
    ],
)
def test_a_server_that_stays_busy_or_full_is_told_in_a_line(
    faulty_s3: tuple[RemotePath, Faults], status: int, code: str, number: int, message: str
) -> None:
    place, faults = faulty_s3
    faults.status, faults.code, faults.count = status, code, 100
    with pytest.raises(OSError, match=message) as failure:
        write_whole(place / "a", b"12")
    assert (failure.value.errno, "\n" in str(failure.value)) == (number, False)
    faults.count = 0
    assert not (place / "a").exists()


def test_a_server_that_is_too_slow_is_told_in_a_line(
    faulty_s3: tuple[RemotePath, Faults], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "REQUEST", "200ms")
    place, faults = faulty_s3
    faults.delay_seconds = 1
    with pytest.raises(OSError, match="the store does not answer as it should"):
        read_bytes(place / "a")


def test_a_uri_of_another_kind_or_without_a_bucket_is_refused() -> None:
    with pytest.raises(OSError, match=r"ftp://host/a: expected a path, file://, s3://"):
        location("ftp://host/a")
    with pytest.raises(OSError, match="it names no bucket"):
        location("s3:///a")
