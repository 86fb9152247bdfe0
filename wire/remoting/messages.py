"""Messages as they travel (``MessageDecoder``): the records of a pull's body, and the messages of one batch.

A consumer pulls records as they stand in the commit log, one behind the other. A batch holds less of each
message: flag, body and properties.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reference.format.properties import NAME_VALUE_SEPARATOR, PROPERTY_SEPARATOR
from reference.format.record import LogRecord, MalformedRecordError, decode_record
from reference.format.stored_message import encode_message, host_bytes, topic_field
from wire.errors import MalformedFrameError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_PLACE: Final = struct.Struct(">i24xq")
"""The length of a stored message, and where it stands in the commit log."""
_BATCH_HEAD = struct.Struct(">iiiii")
_SHORT = struct.Struct(">h")


@dataclass(frozen=True, slots=True)
class BatchedMessage:
    """One message of a batch (``MessageDecoder#encodeMessage``)."""

    flag: int
    body: bytes
    properties_text: str


def encode_record(record: LogRecord) -> bytes:
    """The bytes of a record as it was stored; both are the same for every sound record of a store."""
    return encode_message(
        topic_field(record.topic),
        record.queue_id,
        record.flag,
        record.queue_offset,
        record.physical_offset,
        record.sys_flag,
        record.born_timestamp,
        host_bytes(record.born_host),
        record.store_timestamp,
        host_bytes(record.store_host),
        record.reconsume_times,
        record.prepared_transaction_offset,
        record.body,
        record.properties_text.encode(),
    )


def decode_records(body: bytes) -> tuple[LogRecord, ...]:
    """The records of a pull's body (``MessageDecoder#decodes``); `MalformedFrameError` if some of it is none."""
    records: list[LogRecord] = []
    at = 0
    while at < len(body):
        try:
            record = decode_record(body, at, limit=len(body))
        except MalformedRecordError as error:
            message = f"message {len(records) + 1} at byte {at} of a body: {error}"
            raise MalformedFrameError(message) from None
        records.append(record)
        at += record.total_size
    return tuple(records)


def stored_records(body: bytes) -> Iterator[tuple[int, bytes]]:
    """The messages of a pull's body as they are stored, each with its commit log offset; nothing else is decoded.

    Raises
    ------
    MalformedFrameError
        A length can't be that of a message.
    """
    at, end = 0, len(body)
    while at < end:
        size, physical_offset = _PLACE.unpack_from(body, at) if end - at >= _PLACE.size else (0, 0)
        follows = at + size
        if size < _PLACE.size or follows > end:
            message = f"a message of {size} bytes at byte {at} of a body that has {end - at} left"
            raise MalformedFrameError(message)
        yield physical_offset, body[at:follows]
        at = follows


def decode_batch(body: bytes) -> tuple[BatchedMessage, ...]:
    """The messages of a batch (``MessageDecoder#decodeMessages``); magic code and checksum are not looked at there.

    Raises
    ------
    MalformedFrameError
        Some of it is no message.
    """
    messages: list[BatchedMessage] = []
    at = 0
    try:
        while at < len(body):
            _, _, _, flag, length = _BATCH_HEAD.unpack_from(body, at)
            raw_body, at = _slice(body, at + _BATCH_HEAD.size, length)
            (length,) = _SHORT.unpack_from(body, at)
            properties, at = _slice(body, at + _SHORT.size, length)
            messages.append(BatchedMessage(flag, raw_body, properties.decode()))
    except (struct.error, UnicodeDecodeError) as error:
        message = f"message {len(messages) + 1} of a batch can't be read: {error}"
        raise MalformedFrameError(message) from None
    return tuple(messages)


def properties_text(properties: Mapping[str, str]) -> str:
    r"""Properties as a client sends them, in the map's order (``MessageDecoder#messageProperties2String``).

    Examples
    --------
    >>> properties_text({"TAGS": "a", "WAIT": "true"})
    'TAGS\x01a\x02WAIT\x01true\x02'
    """
    return "".join(f"{key}{NAME_VALUE_SEPARATOR}{value}{PROPERTY_SEPARATOR}" for key, value in properties.items())


def _slice(body: bytes, at: int, length: int) -> tuple[bytes, int]:
    if length < 0 or at + length > len(body):
        message = f"a part of {length} bytes in a batch that has {len(body) - at} left"
        raise MalformedFrameError(message)
    return body[at : at + length], at + length
