"""The fields of a transaction's record out of its properties and its body, by machine code and as columns.

A record that is as a broker writes it is described by numbers and positions alone. Any other (a property without a
name, text that is not ASCII, a count that is no number, an op message of another form) is marked as odd, and Python
reads it. Up to 5.0 the body of an op message is one decimal number, from 5.1 on a list in which each offset is followed
by a comma (:func:`spark_trace_analysis.records.transaction_record.parse_op_body`).
"""

from typing import Any

import numpy as np

from model_check.explicit.code_generation.compile_lock import cached_njit
from reference.format import properties
from reference.format.record import BORN_HOST_V6_FLAG, STORE_HOST_V6_FLAG
from spark_trace_analysis.records.bytes_kernels import (
    HASH_START,
    are_same,
    copy_bytes,
    hash_bytes,
    hash_of,
    hash_step,
    is_word,
    mixed,
    word_table,
)
from spark_trace_analysis.records.record_kernels import Bytes, Columns, Outline, TopicKind
from spark_trace_analysis.records.transaction_record import NOTHING, Feature, RecordField, RecordKind

MOST_DIGITS = 18
"""So long a number surely fits into 64 bits."""


@cached_njit
def count_entries(data: Any, start: Any, end: Any) -> Any:
    """How many half offsets an op body lists, whether it is such a list, and whether it has a comma."""
    count, digits, has_comma = 0, 0, False
    for at in range(start, end):
        byte = data[at]
        if byte == 44:
            if digits == 0:
                return 0, False, True
            count, digits, has_comma = count + 1, 0, True
        elif byte < 48 or byte > 57 or digits == MOST_DIGITS:
            return 0, False, has_comma
        else:
            digits += 1
    count += digits > 0
    return count, count > 0, has_comma


@cached_njit
def _list_entries(data: Any, outlines: Any, chosen: Any, offsets: Any, records: Any) -> None:
    count = 0
    for number in range(len(chosen)):
        start = outlines[Outline.BODY_AT, chosen[number]]
        end = start + outlines[Outline.BODY_SIZE, chosen[number]]
        value, digits = np.int64(0), 0
        for at in range(start, end):
            if data[at] == 44:
                offsets[count], records[count] = value, number
                count, value, digits = count + 1, np.int64(0), 0
            else:
                value, digits = value * 10 + np.int64(data[at]) - 48, digits + 1
        if digits:
            offsets[count], records[count] = value, number
            count += 1


def list_entries(data: Bytes, outlines: Columns, chosen: Columns, count: int) -> tuple[Columns, Columns]:
    """The half offsets in the bodies of op records that are not odd, `count` in all, and the record's place of each."""
    offsets, records = np.empty(count, np.int64), np.empty(count, np.int64)
    _list_entries(data, outlines, chosen, offsets, records)
    return offsets, records


_NAMES = (
    properties.CHECK_TIMES, properties.PREPARED_QUEUE_OFFSET, properties.WAIT_STORE_OK,
    properties.TRANSACTION_PREPARED, properties.REAL_TOPIC, properties.REAL_QUEUE_ID, "__CRC32#", "DELAY",
    properties.UNIQUE_KEY, properties.TRANSACTION_ID, properties.PRODUCER_GROUP, properties.IMMUNITY_SECONDS,
    properties.MESSAGE_REGION, properties.TAGS, properties.KEYS,
)  # fmt: skip
(
    _CHECK, _PREPARED, _WAIT, _TRAN, _TOPIC, _QUEUE, _CRC, _DELAY, _UNIQUE, _ID, _GROUP, _IMMUNITY, _REGION, _TAGS,
    _KEYS,
) = range(len(_NAMES))  # fmt: skip
_WORDS = word_table([*(name.encode() for name in _NAMES), b"true", b"false", b"d"])
"""The words that are looked for in properties: the names, and values that a broker writes."""

_HASHES = np.array([hash_bytes(name.encode()) for name in _NAMES], np.int64)
_TRUE, _FALSE, _D = range(len(_NAMES), len(_WORDS))
_MOST_KEYS = 48
_LONGEST_WRITE_MS = 60_000
_FIELDS = len(RecordField)
_LONGEST_HOST = 21
"""An address and a port, and the separator behind the last property."""


@cached_njit
def _number(data: Any, start: Any, end: Any) -> Any:
    """A decimal number, and whether it is one."""
    at = start
    is_negative = end > start and data[start] == 45
    if is_negative:
        at += 1
    if at == end or end - at > MOST_DIGITS:
        return 0, False
    value = np.int64(0)
    for index in range(at, end):
        if data[index] < 48 or data[index] > 57:
            return 0, False
        value = value * 10 + np.int64(data[index]) - 48
    return (-value if is_negative else value), True


@cached_njit
def birth_hash(born_timestamp: Any, born_host_hash: Any, body_crc: Any) -> Any:
    """64 bits for :attr:`spark_trace_analysis.audit.rules.history.History.birth`."""
    return np.int64(mixed(mixed(np.uint64(born_timestamp) ^ np.uint64(born_host_hash)) + np.uint64(body_crc)))


@cached_njit
def _digits(data: Any, start: Any, end: Any) -> Any:
    """A number that is not negative, and whether it is written as Java writes it."""
    value, is_number = _number(data, start, end)
    return value, is_number and data[start] != 45 and (data[start] != 48 or end - start == 1)


@cached_njit
def _known(data: Any, at: Any, size: Any, name_hash: Any, words: Any, hashes: Any) -> Any:
    """The place of a property's name among those that are looked for; -1 if it is none of them."""
    for which in range(len(hashes)):
        if hashes[which] == name_hash and is_word(data, at, size, words, which):
            return which
    return -1


@cached_njit
def _is_in_order(codes: Any, count: Any, initial: Any) -> bool:
    """:func:`reference.format.properties.is_in_hash_map_order`, of the keys' Java hash codes."""
    capacity = initial
    while count > capacity * 3 // 4:
        capacity *= 2
    last = np.int64(-1)
    for index in range(count):
        code = np.int64(codes[index])
        bucket = (code ^ code >> 16) & (capacity - 1)
        if bucket < last:
            return False
        last = bucket
    return True


@cached_njit
def _read_one(
    data: Any,
    o: Any,
    i: Any,
    t: Any,
    j: Any,
    names: Any,
    places: Any,
    codes: Any,
    words: Any,
    hashes: Any,
    stays: Any,
    stays_at: Any,
) -> Any:
    """Read one record; `o` are the outlines, `t` its fields, and the constant parts go into `stays`."""
    for field in range(_FIELDS):
        t[field, j] = 0
    t[RecordField.CHECK_TIMES, j] = t[RecordField.IMMUNITY_SECONDS, j] = NOTHING
    t[RecordField.PREPARED_QUEUE_OFFSET, j] = NOTHING
    topic_kind, sys_flag, flag = o[Outline.TOPIC_KIND, i], o[Outline.SYS_FLAG, i], o[Outline.FLAG, i]
    store_timestamp, born_timestamp = o[Outline.STORE_TIMESTAMP, i], o[Outline.BORN_TIMESTAMP, i]
    position, prepared = o[Outline.POSITION, i], o[Outline.PREPARED_TRANSACTION_OFFSET, i]
    if o[Outline.BODY_AT, i] == 0:
        t[RecordField.IS_ODD, j] = 1
        return stays_at
    is_odd = not o[Outline.IS_BODY_SOUND, i] or o[Outline.IS_REPAIRED, i] != 0
    for at in range(o[Outline.TOPIC_AT, i], o[Outline.TOPIC_AT, i] + o[Outline.TOPIC_SIZE, i]):
        is_odd |= data[at] >= 128
    start, end = o[Outline.PROPERTIES_AT, i], o[Outline.PROPERTIES_AT, i] + o[Outline.PROPERTIES_SIZE, i]
    count = staying = 0
    at = start
    born_at = position + 48
    born_end = born_at + (20 if sys_flag & BORN_HOST_V6_FLAG else 8)
    store_at = born_end + 8
    store_end = store_at + (20 if sys_flag & STORE_HOST_V6_FLAG else 8)
    has_wait = has_tran = has_group = waits = is_d = False
    identity_at = identity_size = real_topic_at = real_topic_size = np.int64(0)
    real_queue = np.int64(-1)
    while at < end and not is_odd:
        if data[at] == 2:
            at += 1
            continue
        if count == _MOST_KEYS:
            is_odd = True
            break
        name_at = at
        name, code = HASH_START, np.uint32(0)
        while at < end and data[at] != 1 and data[at] != 2:
            byte = data[at]
            is_odd |= byte >= 128
            name = hash_step(name, byte)
            code = code * np.uint32(31) + np.uint32(byte)
            at += 1
        if at in (end, name_at) or data[at] == 2:
            is_odd = True
            break
        name_size = at - name_at
        at += 1
        value_at = at
        while at < end and data[at] != 2:
            is_odd |= data[at] >= 128
            at += 1
        size = at - value_at
        name = mixed(name)
        name_hash = np.int64(name if name != 0 else np.uint64(1))
        for index in range(count):
            is_odd |= names[index] == name_hash
        names[count], codes[count] = name_hash, code
        count += 1
        which = _known(data, name_at, name_size, name_hash, words, hashes)
        if which == _CHECK:
            number, is_number = _number(data, value_at, at)
            is_odd |= not is_number
            t[RecordField.CHECK_TIMES, j] = number
        elif which == _PREPARED:
            number, is_number = _digits(data, value_at, at)
            is_odd |= not is_number
            t[RecordField.PREPARED_QUEUE_OFFSET, j] = number
        elif which in (_WAIT, _TRAN):
            is_true = is_word(data, value_at, size, words, _TRUE)
            is_odd |= not is_true and not is_word(data, value_at, size, words, _FALSE)
            has_wait |= which == _WAIT
            has_tran |= which == _TRAN
            waits |= which == _WAIT and is_true
        elif which == _TOPIC:
            real_topic_at, real_topic_size = value_at, size
            t[RecordField.FEATURES, j] |= Feature.REAL_TOPIC
        elif which == _QUEUE:
            real_queue, is_number = _digits(data, value_at, at)
            is_odd |= not is_number
        elif which == _UNIQUE:
            t[RecordField.KEY_AT, j], t[RecordField.KEY_SIZE, j] = value_at, size
        elif which == _ID:
            identity_at, identity_size = value_at, size
            t[RecordField.FEATURES, j] |= Feature.TRANSACTION_ID
        elif which == _GROUP:
            has_group = True
            t[RecordField.GROUP_AT, j], t[RecordField.GROUP_SIZE, j] = value_at, size
        elif which != _CRC and which != _DELAY:
            place = staying
            while place > 0 and names[places[place - 1, 0]] > name_hash:
                places[place, 0], places[place, 1], places[place, 2] = (
                    places[place - 1, 0], places[place - 1, 1], places[place - 1, 2]
                )  # fmt: skip
                place -= 1
            places[place, 0], places[place, 1], places[place, 2] = count - 1, name_at, at - name_at
            staying += 1
            if which == _IMMUNITY:
                number, is_number = _number(data, value_at, at)
                is_odd |= not is_number
                t[RecordField.IMMUNITY_SECONDS, j] = number
            elif which == _REGION:
                t[RecordField.FEATURES, j] |= Feature.REGION
            elif which == _KEYS:
                t[RecordField.KEYS_AT, j], t[RecordField.KEYS_SIZE, j] = value_at, at - value_at
            elif which == _TAGS:
                t[RecordField.TAGS_AT, j], t[RecordField.TAGS_SIZE, j] = value_at, at - value_at
                is_d = is_word(data, value_at, size, words, _D)
                value_code = np.uint32(0)
                for index in range(value_at, at):
                    value_code = value_code * np.uint32(31) + np.uint32(data[index])
                t[RecordField.TAGS_CODE, j] = np.int64(np.int32(value_code))
    if end > start and data[end - 1] == 2:
        t[RecordField.FEATURES, j] |= Feature.TRAILING_SEPARATOR
    if topic_kind == TopicKind.OP:
        t[RecordField.KIND, j] = RecordKind.OP
        is_odd |= count != 2 or not waits or not is_d
        is_odd |= flag != 0 or prepared != 0 or o[Outline.RECONSUME_TIMES, i] != 0
        is_odd |= sys_flag & ~(BORN_HOST_V6_FLAG | STORE_HOST_V6_FLAG) != 0
        is_odd |= not 0 <= store_timestamp - born_timestamp < _LONGEST_WRITE_MS
        is_odd |= born_end - born_at != store_end - store_at or not are_same(
            data, born_at, store_at, born_end - born_at
        )
        body_at = o[Outline.BODY_AT, i]
        entries, is_list, has_comma = count_entries(data, body_at, body_at + o[Outline.BODY_SIZE, i])
        is_odd |= not is_list
        t[RecordField.ENTRIES, j] = entries
        t[RecordField.FEATURES, j] |= Feature.BATCHED if has_comma else 0
        t[RecordField.IS_ODD, j] = is_odd
        return stays_at
    if topic_kind == TopicKind.HALF:
        is_put_back = t[RecordField.CHECK_TIMES, j] != NOTHING
        t[RecordField.KIND, j] = RecordKind.PUT_BACK if is_put_back else RecordKind.FIRST_HALF
    else:
        t[RecordField.KIND, j] = RecordKind.DISCARDED if topic_kind == TopicKind.DISCARD else RecordKind.DELIVERED
    key_at, key_size = t[RecordField.KEY_AT, j], t[RecordField.KEY_SIZE, j]
    is_odd |= key_size == 0 or not has_group
    if identity_at:
        is_odd |= identity_size != key_size or not are_same(data, identity_at, key_at, min(identity_size, key_size))
    if topic_kind != TopicKind.DELIVERED:
        is_odd |= real_topic_at == 0 or real_queue < 0 or not has_tran or prepared != 0
        is_odd |= t[RecordField.KIND, j] != RecordKind.FIRST_HALF and flag != 0
        t[RecordField.TOPIC_AT, j], t[RecordField.TOPIC_SIZE, j] = real_topic_at, real_topic_size
    else:
        queue_id, topic_at, topic_size = o[Outline.QUEUE_ID, i], o[Outline.TOPIC_AT, i], o[Outline.TOPIC_SIZE, i]
        is_odd |= queue_id < 0 or (real_queue >= 0 and real_queue != queue_id)
        real_queue = queue_id
        if real_topic_at:
            is_odd |= real_topic_size != topic_size
            is_odd |= not are_same(data, real_topic_at, topic_at, min(real_topic_size, topic_size))
        t[RecordField.TOPIC_AT, j], t[RecordField.TOPIC_SIZE, j] = topic_at, topic_size
    t[RecordField.KEY_HASH, j] = hash_of(data, key_at, key_at + key_size)
    t[RecordField.BIRTH_HASH, j] = birth_hash(born_timestamp, hash_of(data, born_at, born_end), o[Outline.BODY_CRC, i])
    t[RecordField.REAL_QUEUE, j] = real_queue
    constants = (sys_flag & 0xFFFFFFF3) | (4 if has_wait else 0) | (8 if identity_at else 0)
    t[RecordField.CONSTANTS, j] = np.int64(constants << 32) | (o[Outline.RECONSUME_TIMES, i] & 0xFFFFFFFF)
    copy_bytes(data, born_at, born_end - born_at, stays, stays_at)
    stays_at += born_end - born_at
    for place in range(staying):
        copy_bytes(data, places[place, 1], places[place, 2], stays, stays_at)
        stays_at += places[place, 2]
        stays[stays_at] = 2
        stays_at += 1
    if _is_in_order(codes, count, 16):
        t[RecordField.FEATURES, j] |= Feature.SMALL_ORDER
    if _is_in_order(codes, count, 128):
        t[RecordField.FEATURES, j] |= Feature.LARGE_ORDER
    t[RecordField.IS_ODD, j] = is_odd
    return stays_at


@cached_njit
def _read_fields(data: Any, outlines: Any, chosen: Any, fields: Any, words: Any, hashes: Any, stays: Any) -> Any:
    names, codes = np.empty(_MOST_KEYS, np.int64), np.empty(_MOST_KEYS, np.uint32)
    places = np.empty((_MOST_KEYS, 3), np.int64)
    at = np.int64(0)
    for number in range(len(chosen)):
        end = _read_one(
            data, outlines, chosen[number], fields, number, names, places, codes, words, hashes, stays, at
        )  # fmt: skip
        fields[RecordField.STAYS_AT, number], fields[RecordField.STAYS_SIZE, number] = at, end - at
        at = end
    return at


def read_fields(data: Bytes, outlines: Columns, chosen: Columns) -> tuple[Columns, Bytes]:
    """The fields of those records of a file that are part of a transaction's life, by the numbers of their outlines.

    Returns
    -------
    tuple of Columns and Bytes
        A row for each of :class:`RecordField`, a column for each of the chosen. Then the bytes that must be the same in
        all records of a transaction: born host and properties, in an order of their own, one record behind the other.
    """
    fields = np.empty((_FIELDS, len(chosen)), np.int64)
    stays = np.empty(int(outlines[Outline.PROPERTIES_SIZE, chosen].sum()) + _LONGEST_HOST * len(chosen), np.uint8)
    size = _read_fields(data, outlines, chosen, fields, _WORDS, _HASHES, stays)
    return fields, stays[:size]
