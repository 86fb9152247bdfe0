"""Signs that a broker was writing a store while it was read or copied: the end of its log moves, its files disagree.

Two looks at a log that nobody writes are the same. Where they differ, the bytes behind the end at the first look were
being written, and are no damage. The files of a copy may be of different moments.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final, NamedTuple

from files.reading import read_bytes
from reference.format.consume_queue import open_consume_queues
from reference.format.frame import is_plausible_start, read_frame
from reference.format.record import MalformedRecordError, decode_record
from reference.format.system_topics import HALF_TOPIC, OP_TOPIC

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reference.format.commit_log import CommitLog
    from reference.format.commit_log_file import CommitLogFile
    from reference.format.consumer_offsets import ConsumerOffsets
    from spark_trace_analysis.audit.rules.circumstances import LogFacts

_MOST_REST: Final = 1 << 16


class LogTail(NamedTuple):
    """One look at the end of a log: its last file, the offset behind its last whole record, and the bytes there."""

    file: str
    end: int
    rest: bytes


def tail_of(log: CommitLog) -> LogTail:
    """Look at the end of a log; records before the last one that says where it stands are not looked at."""
    for file in reversed(log.files):
        end = _whole_end(file)
        if end is not None:
            rest = bytes(file.data[end - file.start : end - file.start + _MOST_REST]).rstrip(b"\0")
            return LogTail(str(log.files[-1].path), end, rest)
    return LogTail(str(log.files[-1].path), log.start, b"")


def _whole_end(file: CommitLogFile) -> int | None:
    """The offset behind the last whole record of a file, or before the one that is not whole; None if there is none."""
    for magic in file.magics_from_the_end():
        if is_plausible_start(file.data, magic - 4, file.start):
            return file.start + _behind_whole_records(file, magic - 4)
    return None


def _behind_whole_records(file: CommitLogFile, position: int) -> int:
    """Where records end that follow each other as a whole; a position in the file."""
    end = position - file.header_bytes
    while True:
        try:
            frame = read_frame(file.data, position, file.start)
            record = decode_record(file.data, position, limit=len(file.data))
        except MalformedRecordError:
            return end
        if not frame.is_body_sound or record.properties_text.endswith("\0"):
            return end
        end = position + frame.total_size
        position = end + file.header_bytes


_CHECKPOINT = "checkpoint"
_TIMESTAMPS = struct.Struct(">qq")


def signs_of_skew(store: Path, saved: ConsumerOffsets, facts: LogFacts) -> Iterator[str]:
    """Contents of one file of a store that another lacks, a sentence each; nothing if all may be of one moment.

    The check service's own offsets are held against the log where they are asked for.
    """
    checkpoint = store / _CHECKPOINT
    if checkpoint.is_file() and len(raw := read_bytes(checkpoint)) >= _TIMESTAMPS.size:
        latest = max(_TIMESTAMPS.unpack_from(raw))
        if facts.records and latest > facts.last_timestamp:
            yield f"checkpoint is of {latest}, the last record of {facts.last_timestamp}"
    queues = open_consume_queues(store)
    for queue in queues.values():
        last = queue.entry(queue.end - 1)
        if last is not None and last.commit_log_offset > facts.last_offset:
            yield f"{queue.name} points to {last.commit_log_offset}, the last record is at {facts.last_offset}"
    for key, offsets in saved.table.items():
        topic = key.partition("@")[0]
        for queue_id, offset in () if topic in (HALF_TOPIC, OP_TOPIC) else offsets.items():
            if (topic, queue_id) in queues and offset > (end := queues[topic, queue_id].end):
                yield f"{saved.source} has the offset {offset} for {key}, queue {queue_id} ends at {end}"
