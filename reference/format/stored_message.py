"""A record's bytes, made and read as the broker does it for every message (``MessageExtEncoder``, ``MessageDecoder``).

The same layout as in :mod:`reference.format.record`, for bytes that the broker has written or checked itself: no damage
is expected here. All that does not change from one message to the next is made once.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from functools import lru_cache
from ipaddress import ip_address
from typing import Any, Final

from reference.format.record import (
    BORN_HOST_V6_FLAG,
    MAGIC_V1,
    MAGIC_V2,
    STORE_HOST_V6_FLAG,
    CommitLogOffset,
    LogRecord,
    Source,
)

_FIXED = struct.Struct(">iIIiiqqiq8sq8siqi")
"""Everything before the body of a record with IPv4 hosts."""

_HEAD = struct.Struct(">iIIiiqqiq")
_MIDDLE = struct.Struct(">q")
_TAIL = struct.Struct(">iqi")
_LENGTH = struct.Struct(">H")
_V6_FLAGS = BORN_HOST_V6_FLAG | STORE_HOST_V6_FLAG
_CRC_MASK = 0x7FFFFFFF

COMPRESSED_FLAG: Final = 1
"""``MessageSysFlag.COMPRESSED_FLAG``"""

BORN_HOST_AT = 48
_pack, _unpack, _pack_length = _FIXED.pack, _FIXED.unpack_from, _LENGTH.pack
_FIXED_BYTES = _FIXED.size


class _RecordInTheMaking:
    """A record whose fields can be set: made in a third of the time that a frozen one takes, which it then becomes."""

    __slots__ = tuple(LogRecord.__slots__)

    def __init__(
        self,
        total_size: int,
        magic: int,
        body_crc: int,
        queue_id: int,
        flag: int,
        queue_offset: int,
        physical_offset: int,
        sys_flag: int,
        born_timestamp: int,
        born_host: str,
        store_timestamp: int,
        store_host: str,
        reconsume_times: int,
        prepared_transaction_offset: int,
        body: bytes,
        topic: str,
        properties_text: str,
    ) -> None:
        self.total_size = total_size
        self.magic = magic
        self.body_crc = body_crc
        self.queue_id = queue_id
        self.flag = flag
        self.queue_offset = queue_offset
        self.physical_offset = physical_offset
        self.sys_flag = sys_flag
        self.born_timestamp = born_timestamp
        self.born_host = born_host
        self.store_timestamp = store_timestamp
        self.store_host = store_host
        self.reconsume_times = reconsume_times
        self.prepared_transaction_offset = prepared_transaction_offset
        self.body = body
        self.topic = topic
        self.properties_text = properties_text
        self._map: dict[str, str] = {}


@lru_cache(maxsize=4096)
def host_bytes(host: str) -> bytes:
    """An address and port, ``127.0.0.1:10911`` or ``[::1]:10911``, as a record holds them: 8 or 20 bytes.

    Examples
    --------
    >>> host_bytes("127.0.0.1:10911").hex()
    '7f00000100002a9f'
    """
    address, _, port = host.rpartition(":")
    return ip_address(address.strip("[]")).packed + int(port).to_bytes(4)


@lru_cache(maxsize=4096)
def host_text(raw: bytes) -> str:
    """The address and port of those bytes.

    Examples
    --------
    >>> host_text(host_bytes("[2001:db8::1]:80"))
    '[2001:db8::1]:80'
    """
    address = ip_address(raw[:-4])
    return f"{address if address.version == 4 else f'[{address}]'}:{int.from_bytes(raw[-4:])}"


@lru_cache(maxsize=4096)
def topic_field(topic: str) -> tuple[bytes, int]:
    """A topic with its length before it, and the magic code of the records that bear it.

    One byte of length and version 1, or, beyond 127 bytes, two and version 2 (``MessageVersion``).
    """
    raw = topic.encode()
    if len(raw) > 0x7F:
        return _pack_length(len(raw)) + raw, MAGIC_V2
    return bytes((len(raw),)) + raw, MAGIC_V1


def encode_message(
    topic: tuple[bytes, int],
    queue_id: int,
    flag: int,
    queue_offset: int,
    physical_offset: int,
    sys_flag: int,
    born_timestamp: int,
    born_host: bytes,
    store_timestamp: int,
    store_host: bytes,
    reconsume_times: int,
    prepared_transaction_offset: int,
    body: bytes,
    properties: bytes,
) -> bytes:
    """The bytes of one record; ``topic`` is a :func:`topic_field`, hosts are :func:`host_bytes`."""
    topic_bytes, magic = topic
    crc = zlib.crc32(body) & _CRC_MASK
    if len(born_host) == len(store_host) == 8:
        rest = b"".join((body, topic_bytes, _pack_length(len(properties)), properties))
        return _pack(
            _FIXED_BYTES + len(rest), magic, crc, queue_id, flag, queue_offset, physical_offset, sys_flag,
            born_timestamp, born_host, store_timestamp, store_host, reconsume_times, prepared_transaction_offset,
            len(body),
        ) + rest  # fmt: skip
    sys_flag |= BORN_HOST_V6_FLAG * (len(born_host) > 8) | STORE_HOST_V6_FLAG * (len(store_host) > 8)
    rest = b"".join(
        (
            born_host,
            _MIDDLE.pack(store_timestamp),
            store_host,
            _TAIL.pack(reconsume_times, prepared_transaction_offset, len(body)),
            body,
            topic_bytes,
            _pack_length(len(properties)),
            properties,
        )
    )
    size = _HEAD.size + len(rest)
    return _HEAD.pack(size, magic, crc, queue_id, flag, queue_offset, physical_offset, sys_flag, born_timestamp) + rest


def decode_message(source: Source, at: int) -> LogRecord:
    """The record at a place where one is known to begin; `struct.error`, `ValueError` or `IndexError` if none did."""
    (
        total_size, magic, body_crc, queue_id, flag, queue_offset, physical_offset, sys_flag, born_timestamp, born_host,
        store_timestamp, store_host, reconsume_times, prepared, body_length,
    ) = _unpack(source, at)  # fmt: skip
    at += _FIXED_BYTES
    if sys_flag & _V6_FLAGS:
        born_host, store_timestamp, store_host, reconsume_times, prepared, body_length, at = _decode_v6(
            source, at - _FIXED_BYTES + BORN_HOST_AT, sys_flag
        )
    end = at + body_length
    body = bytes(source[at:end])
    if magic == MAGIC_V2:
        topic_length = int.from_bytes(source[end : end + 2])
        end += 2
    else:
        topic_length = source[end]
        end += 1
    at = end + topic_length
    length = source[at] << 8 | source[at + 1]
    record: Any = _RecordInTheMaking(
        total_size, magic, body_crc, queue_id, flag, queue_offset, physical_offset, sys_flag, born_timestamp,
        host_text(born_host), store_timestamp, host_text(store_host), reconsume_times, prepared, body,
        str(source[end:at], "utf-8"), str(source[at + 2 : at + 2 + length], "utf-8"),
    )  # fmt: skip
    record.__class__ = LogRecord
    frozen: LogRecord = record
    return frozen


def port_at(source: Source, at: int) -> int:
    """Where in a record the four bytes of its producer's port are; two of them are always 0."""
    return at + BORN_HOST_AT + (16 if source[at + 39] & BORN_HOST_V6_FLAG else 4)


def is_readable(source: Source, at: int) -> bool:
    """Whether a client's or a broker's decoder makes a message of a sound record (``MessageDecoder#decode``).

    It gives null where Java throws, as ``InetSocketAddress`` does at a port beyond 65,535; no check of a starting
    broker looks at that (:func:`reference.store.writable_commit_log.check_message`).
    """
    port = port_at(source, at)
    return not (source[port] or source[port + 1])


def _decode_v6(source: Source, at: int, sys_flag: int) -> tuple[bytes, int, bytes, int, int, int, int]:
    born_end = at + (20 if sys_flag & BORN_HOST_V6_FLAG else 8)
    store_end = born_end + 8 + (20 if sys_flag & STORE_HOST_V6_FLAG else 8)
    (store_timestamp,) = _MIDDLE.unpack_from(source, born_end)
    reconsume_times, prepared, body_length = _TAIL.unpack_from(source, store_end)
    hosts = bytes(source[at:born_end]), bytes(source[born_end + 8 : store_end])
    return hosts[0], store_timestamp, hosts[1], reconsume_times, prepared, body_length, store_end + _TAIL.size


def decompressed(record: LogRecord, *, clears_flag: bool = False) -> LogRecord | None:
    """A record as ``MessageDecoder#decode`` gives it if it is to decompress the body.

    Up to 5.3.1 the flag stays that says compressed (A06, B30). None where the body is not what its flag says: the
    exception is swallowed.
    """
    if not record.sys_flag & COMPRESSED_FLAG:
        return record
    try:
        sys_flag = record.sys_flag & ~COMPRESSED_FLAG if clears_flag else record.sys_flag
        return replace(record, body=zlib.decompress(record.body), sys_flag=sys_flag, _map={})
    except zlib.error:
        return None


def create_message_id(store_host: str, commit_log_offset: CommitLogOffset) -> str:
    """The id of a record: address, port and commit log offset in hexadecimal digits.

    Examples
    --------
    >>> create_message_id("127.0.0.1:40745", CommitLogOffset(349))
    '7F00000100009F29000000000000015D'
    """
    return f"{_host_digits(store_host)}{commit_log_offset:016X}"


@lru_cache(maxsize=4096)
def _host_digits(host: str) -> str:
    return host_bytes(host).hex().upper()


def decode_message_id(message_id: str) -> CommitLogOffset:
    """The commit log offset at the end of an offset message id (``MessageDecoder#decodeMessageId``), or `ValueError`.

    Examples
    --------
    >>> decode_message_id("7F00000100009F29000000000000015D")
    349
    """
    return CommitLogOffset(int(message_id[-16:], 16))
