"""What a transaction's record says in its properties, as machine code and by columns.

A record that is as a broker writes it is told by numbers and hashes alone. One that is not (a property without a name,
text that is not ASCII, a count that is no number, an op message of another form) is marked as odd, and Python reads it.
"""

from typing import Any

import numpy as np

from model_check.explicit.code_generation.one_compiler import kept
from reference.format import properties
from reference.format.record import BORN_HOST_V6_FLAG, STORE_HOST_V6_FLAG
from spark_trace_analysis.records.bytes_kernels import HASH_START, copy_bytes, hash_bytes, hash_of, hash_step, mixed
from spark_trace_analysis.records.record_kernels import Bytes, Columns, Outline, TopicKind
from spark_trace_analysis.records.transaction_record import NOTHING, Feature, RecordKind, Told

(
    _CHECK, _PREPARED, _WAIT, _TRAN, _TOPIC, _QUEUE, _CRC, _DELAY, _UNIQUE, _ID, _GROUP, _IMMUNITY, _REGION, _TAGS,
    _KEYS,
) = (
    hash_bytes(name.encode())
    for name in (
        properties.CHECK_TIMES, properties.PREPARED_QUEUE_OFFSET, properties.WAIT_STORE_OK,
        properties.TRANSACTION_PREPARED, properties.REAL_TOPIC, properties.REAL_QUEUE_ID, "__CRC32#", "DELAY",
        properties.UNIQUE_KEY, properties.TRANSACTION_ID, properties.PRODUCER_GROUP, properties.IMMUNITY_SECONDS,
        properties.MESSAGE_REGION, properties.TAGS, properties.KEYS,
    )
)  # fmt: skip
_TRUE, _FALSE, _D = hash_bytes(b"true"), hash_bytes(b"false"), hash_bytes(b"d")
_MOST_KEYS = 48
_LONGEST_WRITE_MS = 60_000
_MOST_DIGITS = 18
_FIELDS = len(Told)


@kept
def _number(data: Any, start: Any, end: Any) -> Any:
    """A decimal number, and whether it is one."""
    at = start
    is_negative = end > start and data[start] == 45
    if is_negative:
        at += 1
    if at == end or end - at > _MOST_DIGITS:
        return 0, False
    value = np.int64(0)
    for index in range(at, end):
        if data[index] < 48 or data[index] > 57:
            return 0, False
        value = value * 10 + np.int64(data[index]) - 48
    return (-value if is_negative else value), True


@kept
def birth_hash(born_timestamp: Any, born_host_hash: Any, body_crc: Any) -> Any:
    """64 bits for :attr:`spark_trace_analysis.audit.rules.history.History.birth`."""
    return np.int64(mixed(mixed(np.uint64(born_timestamp) ^ np.uint64(born_host_hash)) + np.uint64(body_crc)))


@kept
def _hash_of_number(value: Any) -> Any:
    """The hash of a number's decimal digits; the number is not negative."""
    divisor = np.int64(1)
    while value // divisor >= 10:
        divisor *= 10
    state = HASH_START
    while divisor:
        state = hash_step(state, 48 + value // divisor % 10)
        divisor //= 10
    state = mixed(state)
    return np.int64(state if state != 0 else np.uint64(1))


@kept
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


@kept
def _tell_one(data: Any, o: Any, i: Any, t: Any, j: Any, names: Any, values: Any, codes: Any) -> None:
    """One record; `o` are the outlines, `t` is what it tells."""
    for field in range(_FIELDS):
        t[field, j] = 0
    t[Told.CHECK_TIMES, j] = t[Told.IMMUNITY_SECONDS, j] = NOTHING
    topic_kind, sys_flag, flag = o[Outline.TOPIC_KIND, i], o[Outline.SYS_FLAG, i], o[Outline.FLAG, i]
    store_timestamp, born_timestamp = o[Outline.STORE_TIMESTAMP, i], o[Outline.BORN_TIMESTAMP, i]
    position, prepared = o[Outline.POSITION, i], o[Outline.PREPARED_TRANSACTION_OFFSET, i]
    if o[Outline.BODY_AT, i] == 0:
        t[Told.IS_ODD, j] = 1
        return
    is_odd = not o[Outline.IS_BODY_SOUND, i] or o[Outline.IS_REPAIRED, i] != 0
    for at in range(o[Outline.TOPIC_AT, i], o[Outline.TOPIC_AT, i] + o[Outline.TOPIC_SIZE, i]):
        is_odd |= data[at] >= 128
    start, end = o[Outline.PROPERTIES_AT, i], o[Outline.PROPERTIES_AT, i] + o[Outline.PROPERTIES_SIZE, i]
    count = 0
    at = start
    born_at = position + 48
    born_end = born_at + (20 if sys_flag & BORN_HOST_V6_FLAG else 8)
    store_at = born_end + 8
    store_end = store_at + (20 if sys_flag & STORE_HOST_V6_FLAG else 8)
    stays = np.uint64(0)
    has_wait = has_tran = False
    key = identity = group = real_topic = real_queue = np.int64(0)
    tags = np.int64(0)
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
        at += 1
        value_at = at
        value, value_code = HASH_START, np.uint32(0)
        while at < end and data[at] != 2:
            byte = data[at]
            is_odd |= byte >= 128
            value = hash_step(value, byte)
            at += 1
        name, value = mixed(name), mixed(value)
        name_hash = np.int64(name if name != 0 else np.uint64(1))
        value_hash = np.int64(value if value != 0 else np.uint64(1))
        for index in range(count):
            is_odd |= names[index] == name_hash
        names[count], codes[count] = name_hash, code
        values[count] = value_hash
        count += 1
        if name_hash == _CHECK:
            number, is_number = _number(data, value_at, at)
            is_odd |= not is_number
            t[Told.CHECK_TIMES, j] = number
        elif name_hash == _PREPARED:
            t[Told.HAS_PREPARED_QUEUE_OFFSET, j] = 1
            t[Told.PREPARED_QUEUE_OFFSET, j] = value_hash
        elif name_hash in (_WAIT, _TRAN):
            is_odd |= value_hash != _TRUE and value_hash != _FALSE
            has_wait |= name_hash == _WAIT
            has_tran |= name_hash == _TRAN
        elif name_hash == _TOPIC:
            real_topic = value_hash
            t[Told.TOPIC_AT, j], t[Told.TOPIC_SIZE, j] = value_at, at - value_at
            t[Told.FEATURES, j] |= Feature.REAL_TOPIC
        elif name_hash == _QUEUE:
            real_queue = value_hash
        elif name_hash != _CRC and name_hash != _DELAY:
            stays += mixed(name * np.uint64(3) + value)
            if name_hash == _UNIQUE:
                key = value_hash
                t[Told.KEY_AT, j], t[Told.KEY_SIZE, j] = value_at, at - value_at
            elif name_hash == _ID:
                identity = value_hash
                t[Told.FEATURES, j] |= Feature.TRANSACTION_ID
            elif name_hash == _GROUP:
                group = value_hash
                t[Told.GROUP_AT, j], t[Told.GROUP_SIZE, j] = value_at, at - value_at
            elif name_hash == _IMMUNITY:
                number, is_number = _number(data, value_at, at)
                is_odd |= not is_number
                t[Told.IMMUNITY_SECONDS, j] = number
            elif name_hash == _REGION:
                t[Told.FEATURES, j] |= Feature.REGION
            elif name_hash == _KEYS:
                t[Told.KEYS_AT, j], t[Told.KEYS_SIZE, j] = value_at, at - value_at
            elif name_hash == _TAGS:
                tags = value_hash
                t[Told.TAGS_AT, j], t[Told.TAGS_SIZE, j] = value_at, at - value_at
                for index in range(value_at, at):
                    value_code = value_code * np.uint32(31) + np.uint32(data[index])
                t[Told.TAGS_CODE, j] = np.int64(np.int32(value_code))
    if end > start and data[end - 1] == 2:
        t[Told.FEATURES, j] |= Feature.TRAILING_SEPARATOR
    t[Told.STORE_HOST, j] = hash_of(data, store_at, store_end)
    if topic_kind == TopicKind.OP:
        t[Told.KIND, j] = RecordKind.OP
        is_odd |= count != 2 or not has_wait or tags != _D
        is_odd |= flag != 0 or prepared != 0 or o[Outline.RECONSUME_TIMES, i] != 0
        for index in range(count):
            is_odd |= names[index] == _WAIT and values[index] != _TRUE
        is_odd |= sys_flag & ~(BORN_HOST_V6_FLAG | STORE_HOST_V6_FLAG) != 0
        is_odd |= not 0 <= store_timestamp - born_timestamp < _LONGEST_WRITE_MS
        is_odd |= born_end - born_at != store_end - store_at
        for index in range(born_end - born_at):
            is_odd |= data[born_at + index] != data[store_at + index]
        body_at = o[Outline.BODY_AT, i]
        entries, is_list, has_comma = _count_entries(data, body_at, body_at + o[Outline.BODY_SIZE, i])
        is_odd |= not is_list
        t[Told.ENTRIES, j] = entries
        t[Told.FEATURES, j] |= Feature.BATCHED if has_comma else 0
        t[Told.IS_ODD, j] = is_odd
        return
    if topic_kind == TopicKind.HALF:
        is_put_back = t[Told.CHECK_TIMES, j] != NOTHING
        t[Told.KIND, j] = RecordKind.PUT_BACK if is_put_back else RecordKind.FIRST_HALF
    else:
        t[Told.KIND, j] = RecordKind.DISCARDED if topic_kind == TopicKind.DISCARD else RecordKind.DELIVERED
    is_odd |= key == 0 or t[Told.KEY_SIZE, j] == 0 or group == 0
    is_odd |= identity != 0 and identity != key
    if topic_kind != TopicKind.DELIVERED:
        is_odd |= real_topic == 0 or real_queue == 0 or not has_tran or prepared != 0
        is_odd |= t[Told.KIND, j] != RecordKind.FIRST_HALF and flag != 0
    else:
        queue_id = o[Outline.QUEUE_ID, i]
        is_odd |= queue_id < 0
        queue = _hash_of_number(max(queue_id, 0))
        is_odd |= real_topic != 0 and real_topic != o[Outline.TOPIC_HASH, i]
        is_odd |= real_queue != 0 and real_queue != queue
        real_topic, real_queue = o[Outline.TOPIC_HASH, i], queue
        t[Told.TOPIC_AT, j], t[Told.TOPIC_SIZE, j] = o[Outline.TOPIC_AT, i], o[Outline.TOPIC_SIZE, i]
    born_host = hash_of(data, born_at, born_end)
    birth = birth_hash(born_timestamp, born_host, o[Outline.BODY_CRC, i])
    unchanging = mixed(np.uint64(birth) + np.uint64(sys_flag & ~12))
    unchanging = mixed(unchanging + np.uint64(o[Outline.RECONSUME_TIMES, i]))
    unchanging = mixed(unchanging ^ stays) + np.uint64(has_wait)
    t[Told.UNCHANGING, j], t[Told.BIRTH, j] = np.int64(unchanging), birth
    t[Told.REAL_TOPIC, j], t[Told.REAL_QUEUE, j] = real_topic, real_queue
    t[Told.KEY_HASH, j], t[Told.GROUP_HASH, j] = key, group
    if _is_in_order(codes, count, 16):
        t[Told.FEATURES, j] |= Feature.SMALL_ORDER
    if _is_in_order(codes, count, 128):
        t[Told.FEATURES, j] |= Feature.LARGE_ORDER
    t[Told.IS_ODD, j] = is_odd


@kept
def _count_entries(data: Any, start: Any, end: Any) -> Any:
    """How many half offsets an op body lists, whether it is such a list, and whether it has a comma."""
    count, digits, has_comma = 0, 0, False
    for at in range(start, end):
        byte = data[at]
        if byte == 44:
            if digits == 0:
                return 0, False, True
            count, digits, has_comma = count + 1, 0, True
        elif byte < 48 or byte > 57 or digits == _MOST_DIGITS:
            return 0, False, has_comma
        else:
            digits += 1
    count += digits > 0
    return count, count > 0, has_comma


@kept
def _tell(data: Any, outlines: Any, chosen: Any, told: Any) -> None:
    names, values, codes = (
        np.empty(_MOST_KEYS, np.int64),
        np.empty(_MOST_KEYS, np.int64),
        np.empty(_MOST_KEYS, np.uint32),
    )
    for number in range(len(chosen)):
        _tell_one(data, outlines, chosen[number], told, number, names, values, codes)


@kept
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


@kept
def _gather(data: Any, starts: Any, ends: Any, out: Any) -> None:
    for number in range(len(starts) - 1):
        copy_bytes(data, starts[number], ends[number + 1] - ends[number], out, ends[number])


def tell(data: Bytes, outlines: Columns, chosen: Columns) -> Columns:
    """What some records tell.

    Parameters
    ----------
    data
        The bytes of their file.
    outlines, chosen
        The outlines of records, and the numbers of those that are part of a transaction's life.

    Returns
    -------
    Columns
        A row for each field of :class:`Told`, a column for each of the chosen.
    """
    told = np.empty((_FIELDS, len(chosen)), np.int64)
    _tell(data, outlines, chosen, told)
    return told


def list_entries(data: Bytes, outlines: Columns, chosen: Columns, count: int) -> tuple[Columns, Columns]:
    """The half offsets in the bodies of some op records, and the place of each one's record among the chosen.

    Parameters
    ----------
    chosen
        Numbers of op records that :func:`tell` does not call odd.
    count
        How many offsets they list in all.
    """
    offsets, records = np.empty(count, np.int64), np.empty(count, np.int64)
    _list_entries(data, outlines, chosen, offsets, records)
    return offsets, records


def gather(data: Bytes, starts: Columns, sizes: Columns) -> tuple[Bytes, Columns]:
    """Some stretches of bytes, one behind the other, and where each ends up: one offset more than stretches."""
    offsets = np.zeros(len(starts) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    out = np.empty(int(offsets[-1]), np.uint8)
    _gather(data, np.append(starts, 0), offsets, out)
    return out, offsets
