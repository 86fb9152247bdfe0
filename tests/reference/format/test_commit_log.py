"""Damage in a commit log is found, named with file and offset, and does not hide what follows it."""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING

import pytest

from reference.format.commit_log import CommitLog
from reference.format.errors import CorruptRegion, NotAStoreError
from reference.format.record import MAGIC_V2, LogRecord
from tests.reference.format.store_writer import record_bytes

if TYPE_CHECKING:
    from pathlib import Path

FILE = "commitlog/00000000000000000000"
BLANK = 0xCBD43194


def write(folder: Path, *files: tuple[int, bytes]) -> CommitLog:
    (folder / "commitlog").mkdir()
    for start, raw in files:
        (folder / "commitlog" / f"{start:020d}").write_bytes(raw)
    return CommitLog.open(folder)


def three(bodies: tuple[bytes, ...] = (b"one", b"two", b"three")) -> tuple[bytearray, list[int]]:
    raw, starts = bytearray(), []
    for index, body in enumerate(bodies):
        starts.append(len(raw))
        raw += record_bytes(len(raw), "T", body, queue_offset=index)
    return raw, starts


def read(log: CommitLog) -> tuple[list[bytes], list[CorruptRegion]]:
    entries = list(log.read())
    bodies = [entry.body for entry in entries if isinstance(entry, LogRecord)]
    return bodies, [entry for entry in entries if isinstance(entry, CorruptRegion)]


def test_a_zero_tail_is_not_a_cut(tmp_path: Path) -> None:
    raw, _ = three()
    assert read(write(tmp_path, (0, bytes(raw) + bytes(5_000)))) == ([b"one", b"two", b"three"], [])


@pytest.mark.parametrize("written", [0, 1, 65_536, 200_000, 3_000_000])
def test_what_is_written_counts_whatever_room_it_takes_on_the_disk(tmp_path: Path, written: int) -> None:
    dense = write(tmp_path, (0, b"x" * 3_000_000), (3_000_000, b"x" * written + bytes(3_000_000 - written)))
    (tmp_path / "copy").mkdir()
    sparse = write(tmp_path / "copy", (0, b"x" * 3_000_000), (3_000_000, b"x" * written))
    os.truncate(sparse.files[1].path, 3_000_000)
    assert dense.stored_bytes == CommitLog.open(tmp_path / "copy").stored_bytes == 3_000_000 + written


def test_version_2_records_and_ipv6_hosts_are_read(tmp_path: Path) -> None:
    host = bytes(15) + b"\1"
    topic = "t" * 200
    raw = record_bytes(0, topic, magic=MAGIC_V2, sys_flag=16 | 32, born_host=host, store_host=host)
    raw += record_bytes(len(raw), "T", sys_flag=16, born_host=host)
    first, second = CommitLog.open(write(tmp_path, (0, raw)).files[0].path.parent.parent).records()
    assert (first.topic, first.born_host, first.store_host) == (topic, "[::1]:10911", "[::1]:10911")
    assert (second.born_host, second.store_host) == ("[::1]:4242", "127.0.0.1:10911")


def test_an_end_of_file_record_leads_to_the_next_file_whatever_bytes_follow_it(tmp_path: Path) -> None:
    first = record_bytes(0, "T", b"one")
    stale = record_bytes(0, "T", b"stale")
    filler = struct.pack(">II", 1_000 - len(first), BLANK) + stale
    log = write(tmp_path, (0, first + filler), (1_000, record_bytes(1_000, "T", b"two")))
    assert read(log) == ([b"one", b"two"], [])


def test_a_record_without_properties_survives_the_cut_of_its_zero_bytes(tmp_path: Path) -> None:
    raw = record_bytes(0, "T", b"one", "")
    assert raw.endswith(b"\0\0")
    assert read(write(tmp_path, (0, raw.rstrip(b"\0")))) == ([b"one"], [])


@pytest.mark.parametrize(
    ("at", "byte", "bodies", "words"),
    [
        (0, 0x7F, [b"one", b"two", b"three"], "its length says"),
        (3, 0x01, [b"one", b"two", b"three"], "its length says"),
        (4, 0x00, [b"one", b"two", b"three"], "the magic code is 00A320A7"),
        (7, 0xAA, [b"one", b"two", b"three"], "the magic code is DAA320AA"),
        (8, 0x7F, [b"one", b"two", b"three"], "does not match its checksum"),
        (35, 0x09, [b"one", b"two", b"three"], "says that it stands at 9"),
        (87, 0x7F, [b"one", b"three"], "the lengths inside do not fit"),
        (87, 0x02, [b"one", b"three"], "the lengths inside do not fit"),
        (88, 0x00, [b"one", b"\0wo", b"three"], "does not match its checksum"),
        (91, 0xFE, [b"one", b"three"], "the lengths inside do not fit"),
        (92, 0xFF, [b"one", b"three"], "the topic is not UTF-8"),
        (94, 0x20, [b"one", b"three"], "its fields add up to"),
        (95, 0xFF, [b"one", b"three"], "the properties are not UTF-8"),
    ],
)
def test_a_wrong_byte_is_named_where_it_is(tmp_path: Path, at: int, byte: int, bodies: list[bytes], words: str) -> None:
    raw, starts = three()
    raw[starts[1] + at] = byte
    read_bodies, regions = read(write(tmp_path, (0, bytes(raw))))
    assert read_bodies == bodies
    assert [(region.file, region.offset) for region in regions] == [(FILE, starts[1])]
    assert words in regions[0].reason


def test_a_log_cut_inside_its_last_record_is_named_there(tmp_path: Path) -> None:
    raw, starts = three()
    for cut in range(starts[2] + 4, len(raw)):
        (tmp_path / str(cut)).mkdir()
        bodies, regions = read(write(tmp_path / str(cut), (0, bytes(raw[:cut]))))
        assert bodies == [b"one", b"two"], cut
        assert [(region.file, region.offset) for region in regions] == [(FILE, starts[2])], cut


def test_a_torn_record_followed_by_zeros_is_named(tmp_path: Path) -> None:
    raw, starts = three()
    bodies, regions = read(write(tmp_path, (0, bytes(raw[:-3]) + bytes(800))))
    assert bodies == [b"one", b"two"]
    assert [(region.offset, region.reason) for region in regions] == [
        (starts[2], "its properties end in zeros: the record was torn or cut; nothing readable follows")
    ]


def test_a_record_overwritten_with_zeros_is_named_and_the_next_is_found(tmp_path: Path) -> None:
    raw, starts = three()
    raw[starts[1] : starts[2]] = bytes(starts[2] - starts[1])
    bodies, regions = read(write(tmp_path, (0, bytes(raw))))
    assert bodies == [b"one", b"three"]
    assert [region.offset for region in regions] == [starts[1]]
    assert f"{starts[2] - starts[1]} bytes are passed over" in regions[0].reason


def test_a_file_that_ends_before_the_next_begins_is_named(tmp_path: Path) -> None:
    first = record_bytes(0, "T", b"one")
    _, regions = read(write(tmp_path, (0, first), (1_000, record_bytes(1_000, "T", b"two"))))
    assert [(region.file, region.offset) for region in regions] == [(FILE, len(first))]
    assert "without an end-of-file record" in regions[0].reason


def test_a_missing_file_between_two_others_is_named(tmp_path: Path) -> None:
    def filled(start: int) -> tuple[int, bytes]:
        raw = record_bytes(start, "T", b"x")
        return start, raw + struct.pack(">II", 500 - len(raw), BLANK)

    bodies, regions = read(write(tmp_path, filled(0), filled(500), (1_500, record_bytes(1_500, "T", b"y"))))
    assert bodies == [b"x", b"x", b"y"]
    assert [(region.file, region.offset) for region in regions] == [("commitlog/00000000000000001000", 0)]
    assert regions[0].reason == "the file is missing"


def test_a_log_may_begin_behind_zero_and_end_in_files_that_are_still_blank(tmp_path: Path) -> None:
    raw = record_bytes(1_000, "T", b"one")
    log = write(tmp_path, (1_000, raw.ljust(1_000, b"\0")), (2_000, bytes(1_000)))
    assert log.start == 1_000
    assert read(log) == ([b"one"], [])


def test_what_can_not_be_a_commit_log_is_refused_with_the_reason(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(NotAStoreError, match="is a file"):
        CommitLog.open(file)
    with pytest.raises(NotAStoreError, match="does not exist"):
        CommitLog.open(tmp_path / "nowhere")
    with pytest.raises(NotAStoreError, match="no commitlog/"):
        CommitLog.open(tmp_path)
    (tmp_path / "commitlog").mkdir()
    with pytest.raises(NotAStoreError, match="holds no files"):
        CommitLog.open(tmp_path)
    (tmp_path / "commitlog" / "0000").write_text("")
    with pytest.raises(NotAStoreError, match="not a 20-digit offset"):
        CommitLog.open(tmp_path)
