"""A log that a broker writes while it is read: judged up to where it was whole, said once, and never called damaged."""

from __future__ import annotations

import mmap
import struct
import threading
from typing import TYPE_CHECKING, Any

import pytest

from reference.format import commit_log_file
from reference.format.commit_log import CommitLog
from reference.format.consume_queue import ENTRY_BYTES, ConsumeQueue
from spark_trace_analysis.audit import staged_audit
from spark_trace_analysis.audit.audit_store import audit_store
from spark_trace_analysis.audit.moving_store import tail_of
from spark_trace_analysis.records.store_splits import splits_of
from tests.reference.format.store_writer import StoreWriter
from tests.spark_trace_analysis.audit.both_audits import NO_TRACE, in_stages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from reference.format.frame import Frame
    from spark_trace_analysis.audit.audit import Audit
    from spark_trace_analysis.records.store_splits import Split

FILE_BYTES = 1 << 20
MANY: dict[str, Any] = {"split_bytes": 5_000, "bucket_bytes": FILE_BYTES // 5}
"""Splits of a whole file, also of one that is mostly empty, and few buckets."""

LOG = f"commitlog/{0:020d}"


def written(transactions: int) -> tuple[StoreWriter, list[int]]:
    """A store of committed transactions, and where the records of its log end."""
    writer, ends = StoreWriter(), []
    for number in range(transactions):
        half = writer.half(f"K{number}", body=b"%06d" % number)
        ends.append(len(writer.log))
        writer.deliver(half)
        ends.append(len(writer.log))
        writer.op(half.offset)
        ends.append(len(writer.log))
    return writer, ends


def cut_to(store: Path, log: bytes, *, is_full_size: bool) -> None:
    """Let the log end there: in a file of its full size, as RocketMQ makes it, or in a shorter one."""
    (store / LOG).write_bytes(log.ljust(FILE_BYTES, b"\0") if is_full_size else log)


def write_at(store: Path, offset: int, content: bytes) -> None:
    with (store / LOG).open("r+b") as file:
        file.seek(offset)
        file.write(content)


@pytest.fixture
def while_it_is_read(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Have something done once, when the first record has been read."""

    def arrange(act: Callable[[], None]) -> None:
        acts, plain = [act], CommitLog.read

        def read(log: CommitLog, wants: Callable[[Frame], bool] | None = None) -> Iterator[object]:
            for entry in plain(log, wants):
                yield entry
                while acts:
                    acts.pop()()

        monkeypatch.setattr(CommitLog, "read", read)

    return arrange


def notes_of_growth(audit: Audit) -> list[str]:
    return [note for note in audit.notes if "grew" in note]


@pytest.mark.parametrize("is_full_size", [True, False])
@pytest.mark.parametrize("torn_bytes", [0, 4, 20, 60, 200])
def test_what_is_on_its_way_is_no_damage(
    tmp_path: Path, while_it_is_read: Callable[[Callable[[], None]], None], torn_bytes: int, *, is_full_size: bool
) -> None:
    writer, ends = written(20)
    store = writer.write(tmp_path / "s")
    whole = ends[29]
    cut_to(store, bytes(writer.log[: whole + torn_bytes]), is_full_size=is_full_size)
    more = ends[40] + 77
    while_it_is_read(lambda: write_at(store, whole + torn_bytes, bytes(writer.log[whole + torn_bytes : more])))
    audit = audit_store(store, question=NO_TRACE)
    assert audit.damage == 0, audit.corrupt
    assert notes_of_growth(audit) == [f"the log grew while it was read; it is judged up to offset {whole}"]
    assert (audit.records, dict(audit.counts)["delivered"]) == (30, 10)


def test_a_torn_record_in_a_log_that_nobody_writes_is_damage(tmp_path: Path) -> None:
    writer, ends = written(3)
    store = writer.write(tmp_path / "s", has_queues=False)
    cut_to(store, bytes(writer.log[: ends[5] + 60]), is_full_size=True)
    for audit in (audit_store(store, question=NO_TRACE), in_stages(store, **MANY)):
        assert audit.damage
        assert notes_of_growth(audit) == []


def test_the_stages_judge_up_to_where_the_log_was_whole_when_it_was_shared_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, ends = written(60)
    store = writer.write(tmp_path / "s")
    whole, more = ends[29], ends[100] + 33
    cut_to(store, bytes(writer.log[: whole + 50]), is_full_size=True)

    def shared_out(log: CommitLog, split_bytes: int) -> list[Split]:
        found = splits_of(log, split_bytes)
        write_at(store, whole, bytes(writer.log[whole:more]))
        return found

    monkeypatch.setattr(staged_audit, "splits_of", shared_out)
    audit = in_stages(store, out=tmp_path / "rows", **MANY)
    assert audit.damage == 0, audit.corrupt
    assert notes_of_growth(audit) == [f"the log grew while it was read; it is judged up to offset {whole}"]
    assert (audit.records, audit.counts["delivered"]) == (30, 10)
    assert (tmp_path / "rows" / "_audit.json").exists()


def test_a_thread_that_appends_in_pieces_is_said_once_and_damages_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, ends = written(300)
    store = writer.write(tmp_path / "s", half=0, op=0)
    cut_to(store, bytes(writer.log[: ends[29]]), is_full_size=True)
    stop, moved, plain = threading.Event(), threading.Event(), CommitLog.read

    def append() -> None:
        at = ends[29]
        while at < ends[-1] and not stop.is_set():
            write_at(store, at, bytes(writer.log[at : at + 97]))
            at += 97
            moved.set()
        stop.set()
        moved.set()

    def read(log: CommitLog, wants: Callable[[Frame], bool] | None = None) -> Iterator[object]:
        moved.clear()
        while not stop.is_set() and not moved.wait(0.01):
            continue
        yield from plain(log, wants)

    monkeypatch.setattr(CommitLog, "read", read)
    thread = threading.Thread(target=append)
    thread.start()
    grown = []
    while not stop.is_set():
        audit = audit_store(store, question=NO_TRACE)
        assert audit.damage == 0, audit.corrupt[:3]
        assert audit.counts["lost"] == audit.counts["unknown"] == 0
        grown.append(len(notes_of_growth(audit)))
        if len(grown) == 5:
            stop.set()
    thread.join()
    assert max(grown) == 1


def test_the_end_of_a_log_is_behind_its_last_whole_record(tmp_path: Path) -> None:
    writer, ends = written(4)
    store = writer.write(tmp_path / "s")
    size = ends[-1] - ends[-2]
    for torn_bytes in range(1, size):
        cut_to(store, bytes(writer.log[: ends[-2] + torn_bytes]), is_full_size=torn_bytes % 2 == 0)
        tail = tail_of(CommitLog.open(store))
        assert tail.end == ends[-2], torn_bytes
        assert tail.rest == bytes(writer.log[ends[-2] : ends[-2] + torn_bytes]).rstrip(b"\0")
    cut_to(store, bytes(writer.log), is_full_size=True)
    assert tail_of(CommitLog.open(store)) == (str(store / LOG), ends[-1], b"")


@pytest.mark.parametrize("piece_bytes", [1, 7, 64, 4_096])
def test_the_end_of_a_log_is_found_wherever_the_pieces_end_that_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece_bytes: int
) -> None:
    writer, ends = written(4)
    store = writer.write(tmp_path / "s")
    monkeypatch.setattr(commit_log_file, "_CHUNK_BYTES", piece_bytes)
    assert tail_of(CommitLog.open(store)).end == ends[-1]
    file = CommitLog.open(store).files[0]
    magics = [start + 4 for start in [0, *ends[:-1]]]
    assert [at for at in file.magics_from_the_end() if at in magics] == magics[::-1]
    cut_to(store, bytes(writer.log[: ends[-1] - 1]), is_full_size=False)
    assert tail_of(CommitLog.open(store)).end == ends[-2]


def test_the_end_of_a_queue_is_looked_for_from_the_end_of_what_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "T" / "0" / f"{0:020d}"
    path.parent.mkdir(parents=True)
    path.write_bytes(struct.pack(">qiq", 100, 200, 7) * 3)
    with path.open("r+b") as stream:
        stream.truncate(6_000_000)
    sizes = []
    read = ConsumeQueue.read

    def noted(queue: ConsumeQueue, at: int, size: int) -> bytes:
        sizes.append(size)
        return read(queue, at, size)

    monkeypatch.setattr(ConsumeQueue, "read", noted)
    assert ConsumeQueue.open(path.parent).end == 3
    assert sum(sizes) <= mmap.PAGESIZE + ENTRY_BYTES
