"""Whether a sound record stands at a place, as a starting broker judges (``CommitLog#checkMessageAndReturnSize``)."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from reference.format.record import BLANK_MAGIC, BORN_HOST_V6_FLAG, MAGIC_V1, MAGIC_V2, STORE_HOST_V6_FLAG

if TYPE_CHECKING:
    from reference.format.record import Source

END_OF_FILE = 0
"""What stands there is an end-of-file record: the log goes on in the next file."""

NO_MESSAGE = -1
"""What stands there is no record, or a torn one."""

_BODY_LENGTH_AT = 84


def check_message(source: Source, at: int) -> int:
    """The size of the record at a position in bytes, or :data:`END_OF_FILE` or :data:`NO_MESSAGE`.

    The lengths must add up and the body must match its checksum. The physical offset is not compared, and nothing
    covers the properties, as in the broker.
    """
    head = source[at : at + 12]
    size, magic = int.from_bytes(head[:4]), int.from_bytes(head[4:8])
    if magic == BLANK_MAGIC:
        return END_OF_FILE
    if magic not in (MAGIC_V1, MAGIC_V2):
        return NO_MESSAGE
    sys_flag = int.from_bytes(source[at + 36 : at + 40])
    body_at = at + _BODY_LENGTH_AT + 12 * (bool(sys_flag & BORN_HOST_V6_FLAG) + bool(sys_flag & STORE_HOST_V6_FLAG))
    body_length = int.from_bytes(source[body_at : body_at + 4], signed=True)
    if not 0 <= body_length <= size:
        return NO_MESSAGE
    body = source[body_at + 4 : body_at + 4 + body_length]
    if len(body) < body_length or (body_length and zlib.crc32(body) & 0x7FFFFFFF != int.from_bytes(head[8:])):
        return NO_MESSAGE
    at_topic = body_at + 4 + body_length
    width = 2 if magic == MAGIC_V2 else 1
    at_properties = at_topic + width + int.from_bytes(source[at_topic : at_topic + width])
    properties = source[at_properties : at_properties + 2]
    end = at_properties + 2 + int.from_bytes(bytes(properties).ljust(2, b"\0"), signed=True)
    return size if end - at == size else NO_MESSAGE
