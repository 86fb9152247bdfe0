"""One record of the commit log: its layout, decoding, and the criteria for a sound record.

The layout is that of ``CommitLog#checkMessageAndReturnSize`` and ``MessageDecoder#decode``: big endian, every field
fixed but the two hosts (4 or 16 bytes of address), body, topic and properties.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field
from ipaddress import ip_address
from mmap import mmap
from typing import NewType

from reference.format.properties import parse_properties, properties_map

# The two kinds of offset, kept apart by type because every other bug report mixes them up.
QueueOffset = NewType("QueueOffset", int)
"""The index of a message in its queue, counted in messages from 0."""

CommitLogOffset = NewType("CommitLogOffset", int)
"""The place of a record in the commit log, counted in bytes from the log's birth, over all its files."""

MAGIC_V1 = 0xDAA320A7
"""``MessageDecoder.MESSAGE_MAGIC_CODE``: the topic's length is one byte."""

MAGIC_V2 = 0xDAA320AB
"""``MessageDecoder.MESSAGE_MAGIC_CODE_V2`` (5.0 and later, for topics beyond 127 bytes): the length is two bytes."""

BLANK_MAGIC = 0xCBD43194
"""``MessageDecoder.BLANK_MAGIC_CODE``: the record that fills a file when the next message does not fit into it."""

BLANK_BYTES = 8
"""Bytes of a blank record: its length and its magic code. 4.5.1 lets stale bytes follow."""

BORN_HOST_V6_FLAG = 1 << 4
STORE_HOST_V6_FLAG = 1 << 5
TRANSACTION_BITS = 3 << 2
TRANSACTION_PREPARED_TYPE = 1 << 2
TRANSACTION_COMMIT = 2 << 2
"""``MessageSysFlag.TRANSACTION_COMMIT_TYPE``, the value of the transaction bits in a committed message."""

_UNTIL_BORN_HOST = struct.Struct(">iIIiiqqiq")
_AFTER_HOSTS = struct.Struct(">iqi")
_LONG = struct.Struct(">q")
_INT = struct.Struct(">i")
_SHORT = struct.Struct(">h")

FIXED_BYTES = 91
"""Bytes of a version 1 record with IPv4 hosts but body, topic and properties (``MessageExtEncoder#calMsgLength``)."""

HEAD_BYTES = _UNTIL_BORN_HOST.size
"""Bytes up to the born host."""

Buffer = bytes | bytearray | memoryview
Source = Buffer | mmap
_Head = tuple[int, int, int, int, int, QueueOffset, CommitLogOffset, int, int]


class MalformedRecordError(ValueError):
    """The bytes are not a record; the message says why, in words fit for a report."""


@dataclass(frozen=True, slots=True)
class LogRecord:
    """A record as it is stored.

    Attributes
    ----------
    magic
        ``MAGIC_V1`` or ``MAGIC_V2``.
    body_crc
        As stored: the CRC-32 of the body without its top bit (``UtilAll#crc32``).
    flag
        The user's ``Message.flag``.
    queue_offset, physical_offset
        The index in its queue, and the place in the commit log that the record claims.
    born_timestamp, store_timestamp
        Milliseconds since the epoch, by the producer's and by the broker's clock.
    born_host, store_host
        ``address:port``.
    prepared_transaction_offset
        In a committed message the commit log offset of the half it was made from, otherwise 0.
    properties_text
        The stored string, undecoded; see :attr:`pairs` and :attr:`properties`.
    """

    total_size: int
    magic: int
    body_crc: int
    queue_id: int
    flag: int
    queue_offset: QueueOffset
    physical_offset: CommitLogOffset
    sys_flag: int
    born_timestamp: int
    born_host: str
    store_timestamp: int
    store_host: str
    reconsume_times: int
    prepared_transaction_offset: CommitLogOffset
    body: bytes
    topic: str
    properties_text: str
    _map: dict[str, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The properties in their stored order."""
        return parse_properties(self.properties_text)

    @property
    def properties(self) -> dict[str, str]:
        """The properties by key, parsed at the first use."""
        if not self._map and self.properties_text:
            self._map.update(properties_map(self.properties_text))
        return self._map

    @property
    def has_sound_body(self) -> bool:
        """Whether the body matches its checksum; an empty body is never checked, as in the broker."""
        return not self.body or zlib.crc32(self.body) & 0x7FFFFFFF == self.body_crc

    @property
    def transaction_type(self) -> int:
        """The transaction bits of the system flag: 0, or 8 for a committed message."""
        return self.sys_flag & TRANSACTION_BITS


def decode_record(source: Source, position: int, *, limit: int, total_size: int | None = None) -> LogRecord:
    """Decode the record that starts at a position.

    Parameters
    ----------
    source
        The bytes of one commit log file.
    position
        Where the record starts, in bytes from the start of the file.
    limit
        The number of bytes that may be read from ``source``.
    total_size
        The record's true length where it is known from elsewhere; without it, the stored length counts.

    Raises
    ------
    MalformedRecordError
        The lengths inside disagree with the record's length, or text is not UTF-8. Checksum, magic code and physical
        offset are not judged here.
    """
    if position + HEAD_BYTES > limit:
        message = f"{limit - position} bytes are left, too few for a record"
        raise MalformedRecordError(message)
    head: _Head = _UNTIL_BORN_HOST.unpack_from(source, position)
    stored_size, magic, sys_flag = head[0], head[1], head[7]
    size = stored_size if total_size is None else total_size
    end = position + size
    if end > limit:
        message = f"the record needs {size} bytes, {limit - position} are left"
        raise MalformedRecordError(message)
    try:
        born_host, at = _decode_host(source, position + HEAD_BYTES, bool(sys_flag & BORN_HOST_V6_FLAG))
        (store_timestamp,) = _LONG.unpack_from(source, at)
        store_host, at = _decode_host(source, at + 8, bool(sys_flag & STORE_HOST_V6_FLAG))
        reconsume_times, prepared_offset, body_length = _AFTER_HOSTS.unpack_from(source, at)
        body, at = _take(source, at + _AFTER_HOSTS.size, body_length, end, "body")
        topic_length, at = _topic_length(source, at, magic)
        topic, at = _take(source, at, topic_length, end, "topic")
        (properties_length,) = _SHORT.unpack_from(source, at)
        properties, at = _take(source, at + 2, properties_length, end, "properties")
    except (struct.error, IndexError) as error:
        message = f"its fields do not fit into its {size} bytes"
        raise MalformedRecordError(message) from error
    if at != end:
        message = f"its fields add up to {at - position} bytes, its length says {size}"
        raise MalformedRecordError(message)
    return LogRecord(
        *head,
        born_host,
        store_timestamp,
        store_host,
        reconsume_times,
        prepared_offset,
        body,
        _decode_text(topic, "topic"),
        _decode_text(properties, "properties"),
    )


def _take(source: Source, at: int, length: int, end: int, name: str) -> tuple[bytes, int]:
    if length < 0 or at + length > end:
        message = f"the {name}'s length is {length}, {max(end - at, 0)} bytes are left"
        raise MalformedRecordError(message)
    return bytes(source[at : at + length]), at + length


def _topic_length(source: Source, at: int, magic: int) -> tuple[int, int]:
    if magic == MAGIC_V2:
        return int(_SHORT.unpack_from(source, at)[0]), at + 2
    return source[at], at + 1


def _decode_host(source: Source, at: int, is_v6: bool) -> tuple[str, int]:
    width = 16 if is_v6 else 4
    address = bytes(source[at : at + width])
    (port,) = _INT.unpack_from(source, at + width)
    text = f"[{ip_address(address)}]" if is_v6 else ".".join(map(str, address))
    return f"{text}:{port}", at + width + 4


def _decode_text(raw: bytes, name: str) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        message = f"the {name} are not UTF-8" if name == "properties" else f"the {name} is not UTF-8"
        raise MalformedRecordError(message) from error
