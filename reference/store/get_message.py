"""Results of reads of a queue or of a place in the commit log (``DefaultMessageStore#getMessage``)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from reference.format.consume_queue import ENTRY_BYTES
from reference.format.record import LogRecord, QueueOffset
from reference.format.stored_message import decode_message, is_readable
from reference.store.disk import MappedFile

if TYPE_CHECKING:
    from reference.store.message_store_config import MessageStoreConfig
    from reference.store.writable_commit_log import WritableCommitLog
    from reference.store.writable_consume_queue import WritableConsumeQueue


_FILTERED_ENTRIES = 16_000 // ENTRY_BYTES
"""``maxFilterMessageSize``: a read looks at so many entries at most, or at as many as messages are wanted."""


class GetMessageStatus(Enum):
    """The status of a read of a queue (``org.apache.rocketmq.store.GetMessageStatus``)."""

    FOUND = "FOUND"
    MESSAGE_WAS_REMOVING = "MESSAGE_WAS_REMOVING"
    """The entries are there, their records are not."""
    OFFSET_TOO_SMALL = "OFFSET_TOO_SMALL"
    """The offset lies before the first message that is still kept."""
    NO_MESSAGE_IN_QUEUE = "NO_MESSAGE_IN_QUEUE"
    NO_ANSWER = "NO_ANSWER"
    """Stands for the null that a store returns which is shut down or not readable."""
    OFFSET_OVERFLOW_ONE = "OFFSET_OVERFLOW_ONE"
    """The offset is the queue's end: the next message will stand there."""
    OFFSET_OVERFLOW_BADLY = "OFFSET_OVERFLOW_BADLY"
    """The offset lies beyond the queue's end."""


MessageBuffer = tuple[MappedFile, int, int, int]
"""The file that holds a message, its position there, its place in the log, and its size in bytes."""


@dataclass(slots=True, eq=False)
class GetMessageResult:
    """The store's answer to a read of a queue (``GetMessageResult``): bytes, which whoever wants them decodes."""

    status: GetMessageStatus
    next_begin_offset: QueueOffset
    """Where the next read is to begin."""
    max_offset: QueueOffset
    """The queue's end."""
    message_buffers: tuple[MessageBuffer | None, ...] = ()
    """Where the messages lie, in the order of the queue (``messageBufferList``); None for one that is cut off."""
    _records: tuple[LogRecord | None, ...] | None = field(default=None, init=False, repr=False)

    @property
    def records(self) -> tuple[LogRecord | None, ...]:
        """The messages, decoded at the first use; None for bytes that ``MessageDecoder#decode`` makes nothing of."""
        if self._records is None:
            self._records = tuple(None if one is None else _record_in(*one[:3]) for one in self.message_buffers)
        return self._records


def read_queue(
    log: WritableCommitLog,
    queue: WritableConsumeQueue | None,
    offset: QueueOffset,
    max_msg_nums: int,
    *,
    limits: MessageStoreConfig,
    corrects_offsets: bool,
    rewinds_beyond_end: bool,
) -> GetMessageResult:
    """Read some messages of a queue.

    Entries whose records are not in the log any more are passed, with all of the same file, and the read goes on to
    later ones: what is found need not be what was asked for (B50).

    Parameters
    ----------
    queue
        None if there is no such queue.
    offset
        Where to begin, counted in messages.
    max_msg_nums
        The most messages to return, though one is returned where none is wanted (``#isTheBatchFull``), as the Go
        client's pull consumer does; a read ends at the end of a consume queue file, too.
    limits
        What one read gives at most, fewer messages of those that lie far behind the log's end.
    corrects_offsets
        False: a reader with an offset out of range is left where it is, as a slave does
        (``#nextOffsetCorrection``, ``offsetCheckInSlave``).
    rewinds_beyond_end
        A reader beyond the end of a queue that begins with 0 is sent to its begin.
    """
    if queue is None or not queue.end:
        following = QueueOffset(0) if corrects_offsets else offset
        return GetMessageResult(GetMessageStatus.NO_MESSAGE_IN_QUEUE, following, QueueOffset(0))
    end = QueueOffset(queue.end)
    if offset < queue.min_offset or offset >= end:
        return _out_of_range(queue, offset, corrects_offsets=corrects_offsets, rewinds_beyond_end=rewinds_beyond_end)
    found: list[MessageBuffer | None] = []
    place, next_file, length = int(offset), 0, 0
    last = min(end, queue.end_of_file(offset), offset + max(_FILTERED_ENTRIES, max_msg_nums))
    while place < last:
        at, size, _ = queue.entry(place)
        if found and _is_the_batch_full(limits, log.max_offset - at, length + size, len(found)):
            break
        place += 1
        if at < next_file:
            continue
        here = log.place_of(at)
        if here is None and (at or log.first_written < size):
            next_file = at - at % log.file_size + log.file_size
            continue
        found.append(_first_message(log, size) if here is None else (*here, at, size))
        if len(found) >= max_msg_nums:
            break
        length += size
        next_file = 0
    status = GetMessageStatus.FOUND if found else GetMessageStatus.MESSAGE_WAS_REMOVING
    return GetMessageResult(status, QueueOffset(place), end, tuple(found))


def _out_of_range(
    queue: WritableConsumeQueue, offset: QueueOffset, *, corrects_offsets: bool, rewinds_beyond_end: bool
) -> GetMessageResult:
    """The next offset for a reader below the queue or beyond its end (``#nextOffsetCorrection``)."""
    end, begin = QueueOffset(queue.end), QueueOffset(queue.min_offset)
    if offset < begin:
        return GetMessageResult(GetMessageStatus.OFFSET_TOO_SMALL, begin if corrects_offsets else offset, end)
    if offset == end:
        return GetMessageResult(GetMessageStatus.OFFSET_OVERFLOW_ONE, end, end)
    corrected = QueueOffset(0) if rewinds_beyond_end and not begin else end
    return GetMessageResult(GetMessageStatus.OFFSET_OVERFLOW_BADLY, corrected if corrects_offsets else offset, end)


def _is_the_batch_full(limits: MessageStoreConfig, behind: int, length: int, count: int) -> bool:
    """Whether one more message, so far behind the log's end, would be too much (``#isTheBatchFull``)."""
    if behind > limits.physical_memory * limits.access_message_in_memory_max_ratio / 100:
        longest, most = limits.max_transfer_bytes_on_message_in_disk, limits.max_transfer_count_on_message_in_disk
    else:
        longest, most = limits.max_transfer_bytes_on_message_in_memory, limits.max_transfer_count_on_message_in_memory
    return length > longest or count >= most


def record_at(log: WritableCommitLog, offset: int) -> LogRecord | None:
    """The record at a place; nothing, unless its own physical offset says that it begins there.

    Where the log has lost the place 0, that is the first record which is left: its first file is taken for the place's.
    """
    here = log.place_of(offset)
    if here is None:
        first = None if offset or not log.first_written else _first_message(log, log.first_written)
        return None if first is None else _record_in(*first[:3])
    return _record_in(*here, offset)


def _first_message(log: WritableCommitLog, size: int) -> MessageBuffer | None:
    """The first record that is left, which is read in place of the one at 0; nothing, if it is longer than that."""
    first = log.files.files[0]
    its_size = int.from_bytes(first.buffer[:4])
    return None if its_size > size else (first, 0, log.files.start, its_size)


def _record_in(file: MappedFile, at: int, offset: int) -> LogRecord | None:
    source = file.buffer
    if int.from_bytes(source[at + 28 : at + 36]) != offset:
        return None
    try:
        return decode_message(source, at) if is_readable(source, at) else None
    except (ValueError, IndexError, ArithmeticError):
        return None
