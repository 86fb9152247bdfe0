"""The outlines of a commit log's records as columns, by machine code: what :mod:`reference.format.frame` reads.

The kernel stops at the first byte that it does not understand and leaves the rest to Python, which knows each kind of
damage (:class:`reference.format.commit_log_file.FileReader`).
"""

from enum import IntEnum
from typing import Any

import numpy as np

from model_check.explicit.code_generation.compile_lock import cached_njit
from reference.format.commit_log_file import CommitLogFile
from reference.format.dledger_entry import MAGIC as DLEDGER_MAGIC
from reference.format.partial_copy import GAP_MAGIC
from reference.format.record import BORN_HOST_V6_FLAG, FIXED_BYTES, MAGIC_V1, MAGIC_V2, STORE_HOST_V6_FLAG
from spark_trace_analysis.records.bytes_kernels import (
    CRC_TABLES,
    begins_with,
    crc32,
    hash_of,
    int_at,
    is_word,
    long_at,
    unsigned_at,
    word_table,
)
from spark_trace_analysis.records.transaction_record import DISCARD_TOPIC, HALF_TOPIC, NOT_A_DELIVERY, OP_TOPIC

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
Columns = np.ndarray[Any, np.dtype[np.int64]]
"""One row a field, one column a record."""


class Outline(IntEnum):
    """The fields of a record's outline; positions are in bytes from the start of the file.

    Compiled kernels, also of other modules, take the numbers for constants and are kept from run to run: a new field
    goes behind the others.
    """

    POSITION = 0
    SIZE = 1
    MAGIC = 2
    BODY_CRC = 3
    QUEUE_ID = 4
    FLAG = 5
    QUEUE_OFFSET = 6
    SYS_FLAG = 7
    BORN_TIMESTAMP = 8
    STORE_TIMESTAMP = 9
    RECONSUME_TIMES = 10
    PREPARED_TRANSACTION_OFFSET = 11
    BODY_AT = 12
    BODY_SIZE = 13
    TOPIC_AT = 14
    TOPIC_SIZE = 15
    TOPIC_HASH = 16
    PROPERTIES_AT = 17
    PROPERTIES_SIZE = 18
    IS_BODY_SOUND = 19
    TOPIC_KIND = 20
    IS_REPAIRED = 21


class TopicKind(IntEnum):
    """The part of a record in a transaction, by its topic and system flag."""

    ORDINARY = 0
    HALF = 1
    OP = 2
    DISCARD = 3
    DELIVERED = 4


BORN_HOST_AT = 48
"""In bytes from a record's start."""

_TOPICS = word_table(topic.encode() for topic in (HALF_TOPIC, OP_TOPIC, DISCARD_TOPIC))
"""Those of :class:`TopicKind` that have one name, in its order."""

_PREFIXES = word_table(NOT_A_DELIVERY)


@cached_njit
def _topic_kind(data: Any, at: Any, size: Any, sys_flag: Any, topics: Any, prefixes: Any) -> Any:
    """:func:`spark_trace_analysis.records.transaction_record.concerns_a_transaction`, and the kind of it."""
    for number in range(len(topics)):
        if is_word(data, at, size, topics, number):
            return number + TopicKind.HALF
    if sys_flag & 12 != 8:
        return TopicKind.ORDINARY
    for number in range(len(prefixes)):
        if begins_with(data, at, size, prefixes, number):
            return TopicKind.ORDINARY
    return TopicKind.DELIVERED


@cached_njit
def _is_entry(data: Any, at: Any, file_start: Any, header: Any, size: Any) -> bool:
    """:func:`reference.format.dledger_entry.what_is_wrong_with_header`, whether it is nothing."""
    if at < 0 or unsigned_at(data, at) != DLEDGER_MAGIC or unsigned_at(data, at + 4) != header + size:
        return False
    return bool(long_at(data, at + 24) == file_start + at and unsigned_at(data, at + header - 4) == size)


@cached_njit
def _scan(
    data: Any,
    position: Any,
    end: Any,
    file_start: Any,
    header: Any,
    columns: Any,
    checks_bodies: bool,
    tables: Any,
    topics: Any,
    prefixes: Any,
) -> Any:
    length = len(data)
    count = 0
    most = columns.shape[1]
    while position < end and count < most:
        if position + FIXED_BYTES > length:
            return position, count, True
        magic = unsigned_at(data, position + 4)
        if magic == GAP_MAGIC:
            position += unsigned_at(data, position)
            continue
        if magic != MAGIC_V1 and magic != MAGIC_V2:
            return position, count, True
        if long_at(data, position + 28) != file_start + position:
            return position, count, True
        size = unsigned_at(data, position)
        if header and not _is_entry(data, position - header, file_start, header, size):
            return position, count, True
        after = position + size
        if after > length:
            return position, count, True
        sys_flag = int_at(data, position + 36)
        at = position + 56
        if sys_flag & BORN_HOST_V6_FLAG:
            at += 12
        store_timestamp = long_at(data, at)
        at += 16
        if sys_flag & STORE_HOST_V6_FLAG:
            at += 12
        if at + 16 > after:
            return position, count, True
        body_size = int_at(data, at + 12)
        body_at = at + 16
        at = body_at + body_size
        if body_size < 0 or at + 2 > after:
            return position, count, True
        topic_size = np.int64(data[at])
        at += 1
        if magic == MAGIC_V2:
            topic_size = topic_size << 8 | np.int64(data[at])
            at += 1
        topic_at = at
        at += topic_size
        if at + 2 > after:
            return position, count, True
        properties_size = np.int64(data[at]) << 8 | np.int64(data[at + 1])
        at += 2
        if at + properties_size != after or properties_size >= 0x8000:
            return position, count, True
        if properties_size and data[after - 1] == 0:
            return position, count, True
        crc = unsigned_at(data, position + 8)
        is_sound = True
        if checks_bodies and body_size:
            is_sound = crc32(data, body_at, body_at + body_size, tables) & 0x7FFFFFFF == crc
        topic_hash = hash_of(data, topic_at, topic_at + topic_size)
        columns[Outline.POSITION, count] = position
        columns[Outline.SIZE, count] = size
        columns[Outline.MAGIC, count] = magic
        columns[Outline.BODY_CRC, count] = crc
        columns[Outline.QUEUE_ID, count] = int_at(data, position + 12)
        columns[Outline.FLAG, count] = int_at(data, position + 16)
        columns[Outline.QUEUE_OFFSET, count] = long_at(data, position + 20)
        columns[Outline.SYS_FLAG, count] = sys_flag
        columns[Outline.BORN_TIMESTAMP, count] = long_at(data, position + 40)
        columns[Outline.STORE_TIMESTAMP, count] = store_timestamp
        columns[Outline.RECONSUME_TIMES, count] = int_at(data, body_at - 16)
        columns[Outline.PREPARED_TRANSACTION_OFFSET, count] = long_at(data, body_at - 12)
        columns[Outline.BODY_AT, count] = body_at
        columns[Outline.BODY_SIZE, count] = body_size
        columns[Outline.TOPIC_AT, count] = topic_at
        columns[Outline.TOPIC_SIZE, count] = topic_size
        columns[Outline.TOPIC_HASH, count] = topic_hash
        columns[Outline.PROPERTIES_AT, count] = at
        columns[Outline.PROPERTIES_SIZE, count] = properties_size
        columns[Outline.IS_BODY_SOUND, count] = is_sound
        columns[Outline.TOPIC_KIND, count] = _topic_kind(data, topic_at, topic_size, sys_flag, topics, prefixes)
        columns[Outline.IS_REPAIRED, count] = 0
        count += 1
        position = after + header
    return position, count, False


def scan_records(
    data: Bytes, position: int, end: int, file: CommitLogFile, columns: Columns, *, checks_bodies: bool = True
) -> tuple[int, int, bool]:
    """Read the outlines of the records that start between two positions of a file into columns.

    Returns
    -------
    tuple of int, int, bool
        The position behind the last record, the number of records, and whether the kernel does not understand what
        stands at that position. Without that, it stopped at the end or because the columns are full.
    """
    result: tuple[int, int, bool] = _scan(
        data, position, end, file.start, file.header_bytes, columns, checks_bodies, CRC_TABLES, _TOPICS, _PREFIXES
    )
    return result


def new_columns(records: int) -> Columns:
    """Room for the outlines of so many records."""
    return np.empty((len(Outline), records), np.int64)


def kind_of_topic(topic: bytes, sys_flag: int) -> TopicKind:
    """The kind of one record whose topic and system flag are known."""
    raw = np.frombuffer(topic, np.uint8)
    return TopicKind(_topic_kind(raw, 0, len(raw), sys_flag, _TOPICS, _PREFIXES))
