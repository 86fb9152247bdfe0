"""The outline of a record: where it ends, which queue it belongs to, and whether its lengths and checksum hold.

Reading a frame costs a fraction of decoding a record, so a scan over a large log decodes only what it needs.
"""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING, NamedTuple

from reference.format.record import (
    BORN_HOST_V6_FLAG,
    FIXED_BYTES,
    MAGIC_V1,
    MAGIC_V2,
    STORE_HOST_V6_FLAG,
    MalformedRecordError,
)

if TYPE_CHECKING:
    from mmap import mmap

_HEAD = struct.Struct(">IIIiiqqi")
_PREPARED_BODY_LENGTH = struct.Struct(">qi")
_SIZE_MAGIC = struct.Struct(">II")
_LONG = struct.Struct(">q")
_BODY_LENGTH_AT = 84
_BODY_AT = 88
_V6_BYTES = 12
_PHYSICAL_OFFSET_AT = 28


class Frame(NamedTuple):
    """The fixed part of a record, and where the record lies."""

    physical_offset: int
    """In the commit log, in bytes."""
    total_size: int
    """In bytes."""
    topic: bytes
    """Undecoded."""
    queue_id: int
    queue_offset: int
    sys_flag: int
    store_timestamp: int
    prepared_transaction_offset: int
    is_body_sound: bool
    """Whether the body matches its checksum."""

    @property
    def name(self) -> str:
        """The message in words: topic, queue and place in the queue."""
        return f"{self.topic.decode(errors='replace')}/{self.queue_id} at {self.queue_offset}"


def read_frame(data: mmap | bytes, position: int, file_start: int) -> Frame:
    """Read the outline of the record at a position of a file (``CommitLog#checkMessageAndReturnSize``).

    Parameters
    ----------
    position
        In bytes from the start of the file.
    file_start
        The file's own start offset in the commit log.

    Raises
    ------
    MalformedRecordError
        Length, magic code, physical offset or the lengths inside do not belong to a record that starts here, or the
        file ends within it.
    """
    length = len(data)
    if position + FIXED_BYTES > length:
        raise MalformedRecordError(_too_short(data, position))
    size, magic, crc, queue_id, _flag, queue_offset, physical_offset, sys_flag = _HEAD.unpack_from(data, position)
    if magic != MAGIC_V1 and magic != MAGIC_V2:
        message = f"no record starts here: its magic code is {magic:08X}, not {MAGIC_V1:08X}"
        raise MalformedRecordError(message)
    if physical_offset != file_start + position:
        message = f"the record says that it stands at {physical_offset}, it stands at {file_start + position}"
        raise MalformedRecordError(message)
    end = position + size
    if end > length and not _lacks_only_zeros(data, position, size):
        raise MalformedRecordError(_too_short(data, position))
    extra = _V6_BYTES * (bool(sys_flag & BORN_HOST_V6_FLAG) + bool(sys_flag & STORE_HOST_V6_FLAG))
    natural = natural_size(data, position)
    if natural != size:
        message = (
            f"its length says {size} bytes, its fields add up to {natural}"
            if natural
            else (f"the lengths inside do not fit into its {size} bytes")
        )
        raise MalformedRecordError(message)
    body_at = position + _BODY_AT + extra
    prepared_offset, body_length = _PREPARED_BODY_LENGTH.unpack_from(data, body_at - 12)
    topic_at = body_at + body_length + 1
    topic_length = data[topic_at - 1]
    if magic == MAGIC_V2:
        topic_length = topic_length << 8 | data[topic_at]
        topic_at += 1
    if end - topic_at > topic_length + 2 and end <= length and not data[end - 1]:
        message = "its properties end in zeros: the record was torn or cut"
        raise MalformedRecordError(message)
    store_at = position + 56 + (_V6_BYTES if sys_flag & BORN_HOST_V6_FLAG else 0)
    (store_timestamp,) = _LONG.unpack_from(data, store_at)
    is_sound = body_length == 0 or zlib.crc32(data[body_at : body_at + body_length]) & 0x7FFFFFFF == crc
    topic = bytes(data[topic_at : topic_at + topic_length])
    return Frame(
        physical_offset, size, topic, queue_id, queue_offset, sys_flag, store_timestamp, prepared_offset, is_sound
    )


def natural_size(data: mmap | bytes, position: int) -> int:
    """The record's size by the lengths inside it, in bytes; 0 if they lead out of the file.

    Up to two bytes that are missing at the end count as zeros: an empty properties length, cut with a zero tail.
    """
    if position + _BODY_AT > len(data):
        return 0
    magic = int.from_bytes(data[position + 4 : position + 8])
    sys_flag = int.from_bytes(data[position + 36 : position + 40])
    at = position + _BODY_LENGTH_AT
    at += _V6_BYTES * (bool(sys_flag & BORN_HOST_V6_FLAG) + bool(sys_flag & STORE_HOST_V6_FLAG))
    body_length = int.from_bytes(data[at : at + 4], signed=True)
    at += 4 + body_length
    width = 2 if magic == MAGIC_V2 else 1
    if body_length < 0 or at + width > len(data):
        return 0
    at += width + int.from_bytes(data[at : at + width])
    if at > len(data):
        return 0
    properties_length = int.from_bytes(data[at : at + 2].ljust(2, b"\0"), signed=True)
    end = at + 2 + properties_length
    if properties_length < 0 or (properties_length and end > len(data)):
        return 0
    return end - position


def is_plausible_start(data: mmap | bytes, position: int, file_start: int) -> bool:
    """Whether a record that knows its own place begins here; the rest of it may be damaged."""
    if position < 0 or position + FIXED_BYTES > len(data):
        return False
    (physical_offset,) = _LONG.unpack_from(data, position + _PHYSICAL_OFFSET_AT)
    return bool(physical_offset == file_start + position)


def is_record_of_another_place(data: mmap | bytes, position: int, file_start: int) -> bool:
    """Whether a record begins here that says that it stands elsewhere in the log."""
    if position + FIXED_BYTES > len(data) or is_plausible_start(data, position, file_start):
        return False
    return int.from_bytes(data[position + 4 : position + 8]) in (MAGIC_V1, MAGIC_V2)


def _lacks_only_zeros(data: mmap | bytes, position: int, size: int) -> bool:
    missing = position + size - len(data)
    return missing <= 2 and natural_size(data, position) == size and position + size - 2 <= len(data)


def _too_short(data: mmap | bytes, position: int) -> str:
    left = len(data) - position
    if left < _SIZE_MAGIC.size:
        return f"{left} bytes are left, too few for a record"
    size, magic = _SIZE_MAGIC.unpack_from(data, position)
    if magic in (MAGIC_V1, MAGIC_V2):
        return f"the file ends inside a record: it needs {size} bytes, {left} are left"
    return f"no record starts here: {left} bytes are left and the magic code is {magic:08X}"
