"""Reads one split of a commit log by itself.

A record belongs to the split in which it begins. Where its first record begins, a split finds by itself: at the first
place that bears a magic code and says that it stands there. Damage belongs to the split in which it begins, or which
ends before it: that split reads on to the next place where a record begins by the same rule, and there the next begins.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from reference.format.commit_log_file import FileReader
from reference.format.frame import Frame, read_frame
from reference.format.partial_copy import gap_size
from reference.format.record import BORN_HOST_V6_FLAG, STORE_HOST_V6_FLAG, LogRecord, MalformedRecordError
from spark_trace_analysis.records.bytes_kernels import gather, hash_bytes
from spark_trace_analysis.records.record_kernels import (
    BORN_HOST_AT,
    Bytes,
    Columns,
    Outline,
    kind_of_topic,
    new_columns,
    scan_records,
)

if TYPE_CHECKING:
    from reference.format.commit_log import CommitLog
    from reference.format.errors import CorruptRegion
    from spark_trace_analysis.records.store_splits import Split

_BLOCK_RECORDS = 1 << 14


@dataclass(slots=True)
class SplitRecords:
    """The records of one split.

    Attributes
    ----------
    outlines
        A row for each field of :class:`~spark_trace_analysis.records.record_kernels.Outline`, a column a record.
    by_python
        The number of each record that only Python could read, and the record; or its frame, if it is ordinary.
    damage
        In the order of the log, the bodies that do not match their checksum aside.
    start, end
        Where its first record begins and where the next split's does; None if nothing begins in it.
    is_end
        Whether nothing more of the file was written.
    """

    reader: FileReader
    data: Bytes
    outlines: Columns
    by_python: dict[int, LogRecord | Frame] = field(default_factory=dict)
    damage: list[CorruptRegion] = field(default_factory=list)
    start: int | None = None
    end: int | None = None
    is_end: bool = False

    def record(self, number: int) -> LogRecord:
        """One record, decoded by Python."""
        known = self.by_python.get(number)
        if isinstance(known, LogRecord):
            return known
        outline = self.outlines[:, number]
        return self.reader.decode(int(outline[Outline.POSITION]), int(outline[Outline.SIZE]))

    def frame(self, number: int) -> Frame:
        """The frame of one record."""
        known = self.by_python.get(number)
        if isinstance(known, Frame):
            return known
        o = self.outlines[:, number]
        if isinstance(known, LogRecord):
            topic = known.topic.encode()
        else:
            at = int(o[Outline.TOPIC_AT])
            topic = self.data[at : at + int(o[Outline.TOPIC_SIZE])].tobytes()
        return Frame(
            physical_offset=int(self.reader.file.start + o[Outline.POSITION]),
            total_size=int(o[Outline.SIZE]),
            topic=topic,
            queue_id=int(o[Outline.QUEUE_ID]),
            queue_offset=int(o[Outline.QUEUE_OFFSET]),
            sys_flag=int(o[Outline.SYS_FLAG]),
            store_timestamp=int(o[Outline.STORE_TIMESTAMP]),
            prepared_transaction_offset=int(o[Outline.PREPARED_TRANSACTION_OFFSET]),
            is_body_sound=bool(o[Outline.IS_BODY_SOUND]),
        )


def encoded_hosts(records: SplitRecords, numbers: Columns, *, of_store: bool) -> pa.DictionaryArray:
    """The store host, or the born host, of some records that were not read by Python, as the log holds them."""
    o = records.outlines
    flags = o[Outline.SYS_FLAG, numbers]
    size = np.where(flags & BORN_HOST_V6_FLAG, 20, 8)
    at = o[Outline.POSITION, numbers] + BORN_HOST_AT
    if of_store:
        at, size = at + size + 8, np.where(flags & STORE_HOST_V6_FLAG, 20, 8)
    raw, offsets = gather(records.data, at, size)
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(raw)]
    return pa.Array.from_buffers(pa.binary(), len(numbers), buffers).dictionary_encode()


def read_split(log: CommitLog, split: Split, *, checks_bodies: bool = True) -> SplitRecords:
    """Read the records of one split; without a look at the checksums of bodies, all count as sound."""
    file = log.files[split.file]
    reader = FileReader(file, log.following(split.file))
    data = np.frombuffer(file.data, np.uint8)
    found = SplitRecords(reader, data, new_columns(0))
    if not len(data):
        found.damage.append(reader.region(0, file.problem))
        found.start = found.end = 0
        return found
    position = reader.first_record(split.start, split.end)
    found.start = position
    blocks: list[Columns] = []
    records = 0
    while position is not None and not found.is_end and position < len(data):
        if position >= split.end and reader.is_record_start(position):
            break
        is_strange = position >= split.end
        if not is_strange:
            block = new_columns(_BLOCK_RECORDS)
            position, count, is_strange = scan_records(
                data, position, split.end, file, block, checks_bodies=checks_bodies
            )
            blocks.append(block[:, :count])
            records += count
        if is_strange:
            entry, position = _read_by_python(found, position)
            if entry is not None:
                found.by_python[records] = entry
                blocks.append(_outline(entry, file.start))
                records += 1
    found.end = position
    found.outlines = np.concatenate(blocks, axis=1) if blocks else new_columns(0)
    return found


def _read_by_python(found: SplitRecords, position: int) -> tuple[LogRecord | Frame | None, int]:
    """Read on where the kernel stopped: a record at the end of a cut file, the end of the log, a gap, or damage."""
    reader = found.reader
    try:
        frame = read_frame(reader.data, position, reader.file.start)
    except MalformedRecordError as error:
        if gap := gap_size(reader.data, position):
            return None, position + gap
        if reader.is_end(position):
            found.is_end = True
            return None, position
        record = None
        skipping = reader.skip_damage(position, str(error))
        while True:
            try:
                entry = next(skipping)
            except StopIteration as stop:
                return record, stop.value
            if isinstance(entry, LogRecord):
                record = entry
            else:
                found.damage.append(entry)
    found.damage.extend(reader.check_header(position, frame.total_size))
    return frame, reader.behind(position, frame.total_size)


def _outline(entry: LogRecord | Frame, file_start: int) -> Columns:
    """The outline of a record that Python has read; where its parts stand is left out."""
    outline = np.zeros((len(Outline), 1), np.int64)
    topic = entry.topic.encode() if isinstance(entry, LogRecord) else entry.topic
    outline[Outline.POSITION] = entry.physical_offset - file_start
    outline[Outline.SIZE] = entry.total_size
    outline[Outline.QUEUE_ID] = entry.queue_id
    outline[Outline.QUEUE_OFFSET] = entry.queue_offset
    outline[Outline.SYS_FLAG] = entry.sys_flag
    outline[Outline.STORE_TIMESTAMP] = entry.store_timestamp
    outline[Outline.PREPARED_TRANSACTION_OFFSET] = entry.prepared_transaction_offset
    outline[Outline.TOPIC_HASH] = hash_bytes(topic)
    outline[Outline.IS_BODY_SOUND] = entry.has_sound_body if isinstance(entry, LogRecord) else entry.is_body_sound
    outline[Outline.TOPIC_KIND] = kind_of_topic(topic, entry.sys_flag)
    outline[Outline.IS_REPAIRED] = isinstance(entry, LogRecord)
    return outline
