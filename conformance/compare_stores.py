"""Two stores byte by byte: commit logs, consume queues and saved offsets; the first difference by its field's name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reference.format.commit_log import CommitLog
from reference.format.commit_log_file import CommitLogFile
from reference.format.consume_queue import ENTRY_BYTES, ConsumeQueue, open_consume_queues
from reference.format.consume_queue import FOLDER as CONSUME_QUEUE_FOLDER
from reference.format.consumer_offsets import load_consumer_offsets, read_consumer_offsets
from reference.format.frame import Frame
from reference.format.record import (
    BLANK_BYTES,
    BLANK_MAGIC,
    BORN_HOST_V6_FLAG,
    MAGIC_V2,
    STORE_HOST_V6_FLAG,
    CommitLogOffset,
)
from reference.format.store_paths import COMMIT_LOG as COMMIT_LOG_FOLDER
from reference.format.store_paths import StorePaths

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from mmap import mmap
    from pathlib import Path

    from reference.store.memory_disk import MemoryDisk

_PROGRESS_RECORDS = 10_000


@dataclass(frozen=True)
class StoreDifference:
    """The first place at which two stores differ."""

    record: str
    """Which record or entry: its number, place and topic."""
    field: str
    """The field's name, ``record`` if one side has none there."""
    left: str | None
    right: str | None
    """Both sides' bytes or texts; None where there is nothing."""


@dataclass(frozen=True)
class StoreComparison:
    """Result of a comparison of two stores."""

    records: int
    bytes: int
    """Records of the commit log and entries of consume queues are both counted in bytes, records only in the log."""
    difference: StoreDifference | None
    """The first one, None if there is none."""


@dataclass(frozen=True)
class StoreSide:
    """One store: its log, its queues, its saved offsets."""

    log: CommitLog
    queues: dict[tuple[str, int], ConsumeQueue]
    offsets: dict[str, dict[int, int]]

    @classmethod
    def of_directory(cls, store: Path | StorePaths) -> StoreSide:
        """A store directory, or where its files lie; raises `StoreError` for anything else."""
        root = store.root if isinstance(store, StorePaths) else store
        offsets = read_consumer_offsets(root).table
        return cls(CommitLog.open(store), open_consume_queues(root), {key: {**offsets[key]} for key in offsets})

    @classmethod
    def of_memory(cls, disk: MemoryDisk) -> StoreSide:
        """A store in memory."""
        from pathlib import Path

        logs, queues = [], {}
        files = disk.files()
        for name in disk.names(COMMIT_LOG_FOLDER):
            path = f"{COMMIT_LOG_FOLDER}/{name}"
            logs.append(CommitLogFile(Path(path), path, CommitLogOffset(int(name)), files[path]))
        for topic in disk.names(CONSUME_QUEUE_FOLDER):
            for queue in disk.names(f"{CONSUME_QUEUE_FOLDER}/{topic}"):
                folder = f"{CONSUME_QUEUE_FOLDER}/{topic}/{queue}"
                parts = [(int(name), _whole_entries(files[f"{folder}/{name}"])) for name in disk.names(folder)]
                queues[topic, int(queue)] = ConsumeQueue(topic, int(queue), parts)
        offsets = load_consumer_offsets(disk.read).table
        return cls(CommitLog(logs), queues, {key: {**offsets[key]} for key in offsets})


def compare_stores(
    left: StoreSide,
    right: StoreSide,
    *,
    masks_stale_bytes: bool = False,
    may_differ: Collection[tuple[str, str]] = (),
    on_progress: Callable[[int, int], None] | None = None,
) -> StoreComparison:
    """Compare the commit logs, then the consume queues, then the saved offsets.

    Parameters
    ----------
    masks_stale_bytes
        Whether what follows the first eight bytes of an end-of-file record counts, as 4.5.1 leaves stale bytes there.
    may_differ
        Fields of records that are not compared: a topic, or an empty text for all, and the field's name.
    on_progress
        Called now and then with the bytes of the left store that were compared, and all that it has.
    """
    log_bytes = left.log.size_bytes
    report = on_progress or (lambda _done, _total: None)
    total = log_bytes + sum(queue.end - queue.first for queue in left.queues.values()) * ENTRY_BYTES
    left_log, right_log = (_masked(side.log, may_differ) for side in (left, right))
    records, compared, difference = _compare_logs(
        left_log, right_log, lambda done: report(done, total), masks_stale_bytes=masks_stale_bytes
    )
    if difference is None:
        entry_bytes, difference = _compare_queues(
            left.queues, right.queues, lambda done: report(log_bytes + done, total)
        )
        compared += entry_bytes
    if difference is None:
        difference = _compare_offsets(left.offsets, right.offsets)
    return StoreComparison(records, compared, difference)


def _masked(log: CommitLog, may_differ: Collection[tuple[str, str]]) -> CommitLog:
    """A log with zeros in fields of its records."""
    if not may_differ:
        return log
    files = []
    for file in log.files:
        data = bytearray(file.data)
        for entry in CommitLog([file]).read(lambda _: False):
            if isinstance(entry, Frame):
                at = entry.physical_offset - file.start
                fields = _fields(bytes(data[at : at + entry.total_size]))
                topic = next(data[at + a : at + b].decode(errors="replace") for name, a, b in fields if name == "topic")
                for name, begin, end in fields:
                    if ("", name) in may_differ or (topic, name) in may_differ:
                        data[at + begin : at + end] = bytes(end - begin)
        files.append(replace(file, data=bytes(data)))
    return CommitLog(files)


def _compare_logs(
    left: CommitLog, right: CommitLog, report: Callable[[int], None], *, masks_stale_bytes: bool
) -> tuple[int, int, StoreDifference | None]:
    records = compared = 0
    by_start = {file.start: file for file in right.files}
    for file in left.files:
        other = by_start.pop(file.start, None)
        data = b"" if other is None else other.data
        end = 0
        for entry in CommitLog([file]).read(lambda _: False):
            if not isinstance(entry, Frame):
                continue
            at, size = entry.physical_offset - file.start, entry.total_size
            ours, theirs = _slice(file.data, at, size), _slice(data, at, size)
            if ours != theirs:
                return records, compared, _field_difference(records, file.start + at, ours, _own(data, at, theirs))
            records += 1
            compared += size
            end = at + size
            if records % _PROGRESS_RECORDS == 0:
                report(entry.physical_offset - left.start)
        tail, other_tail = bytes(file.data[end:]).rstrip(b"\0"), bytes(data[end:]).rstrip(b"\0")
        if masks_stale_bytes and tail[4:8] == BLANK_MAGIC.to_bytes(4):
            tail, other_tail = tail[:BLANK_BYTES], other_tail[:BLANK_BYTES]
        if tail != other_tail:
            return records, compared, _tail_difference(records, file.start + end, tail, other_tail)
        compared += BLANK_BYTES if tail else 0
    for extra in by_start.values():
        if bytes(extra.data[:BLANK_BYTES]).strip(b"\0"):
            return records, compared, _tail_difference(records, extra.start, b"", bytes(extra.data))
    return records, compared, None


def _own(data: mmap | bytes, at: int, theirs: bytes) -> bytes:
    """The other side's record in its own length, if one begins there."""
    size = int.from_bytes(theirs[:4])
    return _slice(data, at, size) if len(theirs) < size < 1 << 24 else theirs


def _slice(data: mmap | bytes, at: int, size: int) -> bytes:
    return bytes(data[at : at + size]).ljust(size, b"\0")


def _field_difference(number: int, offset: int, left: bytes, right: bytes) -> StoreDifference:
    topic = next((left[a:b] for name, a, b in _fields(left) if name == "topic"), b"").decode(errors="replace")
    where = f"record {number} at {offset} ({topic})"
    if not right.strip(b"\0"):
        return StoreDifference(where, "record", _shown("record", left), None)
    theirs = {name: right[a:b] for name, a, b in _fields(right)}
    for name, begin, end in _fields(left):
        if left[begin:end] != theirs.get(name):
            return StoreDifference(where, name, _shown(name, left[begin:end]), _shown(name, theirs.get(name, b"")))
    return StoreDifference(where, "record", _shown("record", left), _shown("record", right))


def _tail_difference(number: int, offset: int, left: bytes, right: bytes) -> StoreDifference:
    """One log goes on where the other ends."""
    is_blank = BLANK_MAGIC.to_bytes(4) in (left[4:8], right[4:8])
    name = "end_of_file_record" if is_blank else "record"
    texts = [_shown(name, part[: min(len(part), int.from_bytes(part[:4]))]) if part else None for part in (left, right)]
    return StoreDifference(f"record {number} at {offset}", name, *texts)


_FIXED = (
    ("total_size", 4), ("magic_code", 4), ("body_crc", 4), ("queue_id", 4), ("flag", 4), ("queue_offset", 8),
    ("physical_offset", 8), ("sys_flag", 4), ("born_timestamp", 8),
)  # fmt: skip
_NUMBERS = {name for name, _ in _FIXED} | {
    "store_timestamp", "reconsume_times", "prepared_transaction_offset", "body_length", "topic_length",
    "properties_length",
}  # fmt: skip


def _fields(raw: bytes) -> list[tuple[str, int, int]]:
    """Name, begin and end of each field of a record."""
    fields, at = [], 0
    sys_flag = int.from_bytes(raw[36:40])

    def add(name: str, size: int) -> int:
        nonlocal at
        fields.append((name, at, at + size))
        at += size
        return int.from_bytes(raw[at - size : at])

    for name, size in _FIXED:
        add(name, size)
    add("born_host", 20 if sys_flag & BORN_HOST_V6_FLAG else 8)
    add("store_timestamp", 8)
    add("store_host", 20 if sys_flag & STORE_HOST_V6_FLAG else 8)
    add("reconsume_times", 4)
    add("prepared_transaction_offset", 8)
    add("body", min(add("body_length", 4), len(raw)))
    add("topic", add("topic_length", 2 if raw[4:8] == MAGIC_V2.to_bytes(4) else 1))
    add("properties", add("properties_length", 2))
    return fields


def _shown(name: str, raw: bytes) -> str:
    if name in _NUMBERS:
        return str(int.from_bytes(raw, signed=name not in ("magic_code", "topic_length"))) if raw else ""
    if name in ("topic", "properties", "body"):
        return raw.decode(errors="backslashreplace")
    return raw.hex()


def _compare_queues(
    left: dict[tuple[str, int], ConsumeQueue], right: dict[tuple[str, int], ConsumeQueue], report: Callable[[int], None]
) -> tuple[int, StoreDifference | None]:
    compared = 0
    for key in sorted(left.keys() | right.keys()):
        ours, theirs = left.get(key), right.get(key)
        ends = tuple(0 if queue is None else queue.end for queue in (ours, theirs))
        for offset in range(max(ends)):
            pair = tuple(None if queue is None else queue.entry(offset) for queue in (ours, theirs))
            if pair[0] == pair[1]:
                compared += ENTRY_BYTES
                if offset % _PROGRESS_RECORDS == 0:
                    report(compared)
                continue
            where = f"consume queue {key[0]}/{key[1]}, entry {offset}"
            if pair[0] is None or pair[1] is None:
                return compared, StoreDifference(where, "entry", *(None if e is None else str(tuple(e)) for e in pair))
            names = ("commit_log_offset", "size", "tags_code")
            name, a, b = next((n, a, b) for n, a, b in zip(names, pair[0], pair[1], strict=True) if a != b)
            return compared, StoreDifference(where, name, str(a), str(b))
    return compared, None


def _compare_offsets(left: dict[str, dict[int, int]], right: dict[str, dict[int, int]]) -> StoreDifference | None:
    for key in sorted(left.keys() | right.keys()):
        for queue in sorted(left.get(key, {}).keys() | right.get(key, {}).keys()):
            a, b = left.get(key, {}).get(queue), right.get(key, {}).get(queue)
            if a != b:
                texts = (None if offset is None else str(offset) for offset in (a, b))
                return StoreDifference(f"consumerOffset.json, {key}, queue {queue}", "offset", *texts)
    return None


def _whole_entries(raw: bytes) -> bytes:
    """A queue's bytes without the zero tail, but with the zeros of its last entry."""
    return raw.ljust(-(-len(raw) // ENTRY_BYTES) * ENTRY_BYTES, b"\0")
