"""The one door says what a path is that can't be read as a file, and how large it is, before it reads."""

from __future__ import annotations

import gzip
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from files.content import read_json, read_toml
from files.errors import BadContentError, UnreadableFileError
from files.parquet import read_parquet
from files.reading import LINE_BYTES, map_file, read_bytes, read_lines, read_text

if TYPE_CHECKING:
    from collections.abc import Callable

READERS = (read_bytes, read_text, map_file, lambda path: list(read_lines(path)), read_parquet)


def pipe(path: Path) -> Path:
    os.mkfifo(path)
    return path


def loop(path: Path) -> Path:
    path.symlink_to(path)
    return path


def bound_socket(path: Path) -> Path:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))
    return path


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (pipe, "a pipe; a regular file was expected: name another file"),
        (bound_socket, "a socket; a regular file was expected: name another file"),
        (lambda _: Path("/dev/zero"), "/dev/zero: a device; a regular file was expected"),
        (loop, "Too many levels of symbolic links; a regular file was expected: name"),
        (lambda path: path.parent / ("x" * 300), "File name too long"),
        (lambda path: path / "a\0b", "not a name that a file can have: name another file"),
        (lambda path: path / "\ud800", "not a name that a file can have: name another file"),
    ],
)
def test_what_is_no_file_is_said_at_once(read, make, complaint: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UnreadableFileError, match=complaint) as refused:
        read(make(tmp_path / "one"))
    assert refused.value.exit_code == 150
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("read", READERS)
def test_what_is_not_there_and_a_folder_are_what_python_says(read, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "missing")
    with pytest.raises(IsADirectoryError):
        read(tmp_path)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(6 << 30)
    with pytest.raises(UnreadableFileError, match="6,442,450,944 bytes; a file of at most 1,048,576 was expected"):
        read_text(path, 1 << 20)
    with pytest.raises(BadContentError, match=f"large, line 1: longer than {LINE_BYTES:,} bytes"):
        list(read_lines(path))


def test_lines_come_out_of_what_gzip_made_and_its_damage_is_said(tmp_path: Path) -> None:
    path = tmp_path / "lines.gz"
    path.write_bytes(gzip.compress(b"one\ntwo\n" * 1_000))
    assert list(read_lines(path)) == [b"one\n", b"two\n"] * 1_000
    for damaged in (path.read_bytes()[:-9], path.read_bytes()[:10] + b"\xff" * 20):
        path.write_bytes(damaged)
        with pytest.raises(BadContentError, match=r"lines\.gz: not readable as gzip"):
            list(read_lines(path))
    path.write_bytes(b"no\rgzip\n\nat all")
    assert list(read_lines(path)) == [b"no\rgzip\n", b"\n", b"at all"]


@pytest.mark.parametrize("content", [b"PAR1", b"PAR1" * 3, b"PAR1" + b"\xff" * 100 + b"PAR1", b"", b"no"])
def test_what_begins_as_parquet_and_is_none_is_said(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "one.parquet"
    path.write_bytes(content)
    with pytest.raises(BadContentError, match=r"one\.parquet: not readable as Parquet \(.+\)"):
        read_parquet(path)


def test_what_was_never_written_at_the_end_of_a_file_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000000"
    with path.open("wb") as file:
        file.write(b"record")
        file.truncate(1 << 24)
    assert map_file(path)[:6] == b"record"
    assert 6 <= len(map_file(path)) <= 1 << 16
    with path.open("wb") as file:
        file.truncate(1 << 24)
    assert map_file(path) == bytes(4096)
    path.write_bytes(b"cut")
    assert bytes(map_file(path)) == b"cut"
    path.write_bytes(b"")
    assert map_file(path) == b""


@pytest.mark.parametrize(
    ("read", "content", "complaint"),
    [
        (read_text, b"\xff", "not UTF-8 text, from byte 0 on: write it in UTF-8, or name another file"),
        (lambda path: read_bytes(path, 3), b"four", "4 bytes; a file of at most 3 was expected: name another file"),
        (
            lambda path: list(read_lines(path)),
            b"x" * (LINE_BYTES + 1),
            "longer than 16,777,216 bytes: part it, or name",
        ),
        (lambda path: list(read_lines(path)), b"\x1f\x8b", ": pack it anew, or give it unpacked"),
        (read_parquet, b"PAR1", ": write it anew, or name another file"),
        (read_json, b"{", "not JSON: .*: mend it, or name another file"),
        (read_json, b"[" * 100, "nested deeper than 64: mend it, or name another file"),
        (read_toml, b"a", "not TOML: .*: mend it, or name another file"),
    ],
)
def test_what_a_file_holds_is_said_with_its_path_and_what_to_do(
    read: Callable[[Path], object], content: bytes, complaint: str, tmp_path: Path
) -> None:
    path = tmp_path / "one"
    path.write_bytes(content)
    with pytest.raises((BadContentError, UnreadableFileError), match=complaint) as refused:
        read(path)
    assert str(refused.value).startswith(f"{path}")
    assert "\n" not in str(refused.value)
