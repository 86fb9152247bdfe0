"""What ``MessageDecoder`` makes of properties, of the id of a record's place, and of a body that is compressed."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reference.format.properties import LARGE_CAPACITY, SMALL_CAPACITY
from reference.format.record import CommitLogOffset, Record
from reference.format.stored_message import host_bytes
from reference.java.hash_map import hash_map_order

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reference.versions.switches import VersionSwitches


def message_properties_to_string(
    properties: Mapping[str, str], switches: VersionSwitches, *, is_own_message: bool = False
) -> str:
    r"""Each key, 0x01, its value and 0x02; some versions leave the last 0x02 out (``#messageProperties2String``).

    They come in the order of the HashMap that the broker has read them into; the mapping is in the order of putting.

    Parameters
    ----------
    is_own_message
        The broker has made the message itself, so that its map began with 16 buckets in every version.

    Examples
    --------
    >>> from reference.versions.versions import V4_9_7, V5_3_3
    >>> message_properties_to_string({"TAGS": "d"}, V5_3_3), message_properties_to_string({"TAGS": "d"}, V4_9_7)
    ('TAGS\x01d\x02', 'TAGS\x01d')
    """
    capacity = LARGE_CAPACITY if switches.has_large_property_map and not is_own_message else SMALL_CAPACITY
    text = "\x02".join([f"{key}\x01{properties[key]}" for key in hash_map_order(tuple(properties), capacity)])
    return text + "\x02" if text and switches.keeps_last_separator else text


def create_message_id(store_host: str, commit_log_offset: CommitLogOffset) -> str:
    """The id of a record: address, port and commit log offset in hexadecimal digits.

    Examples
    --------
    >>> create_message_id("127.0.0.1:40745", CommitLogOffset(349))
    '7F00000100009F29000000000000015D'
    """
    return f"{host_bytes(store_host).hex()}{commit_log_offset:016x}".upper()


def decode_message_id(message_id: str) -> CommitLogOffset:
    """The commit log offset in an offset message id (``MessageDecoder#decodeMessageId``).

    Raises
    ------
    ValueError
        Its last 16 characters are not hexadecimal digits.

    Examples
    --------
    >>> decode_message_id("7F00000100009F29000000000000015D")
    349
    """
    return CommitLogOffset(int(message_id[-16:], 16))


COMPRESSED_FLAG: Final = 1
"""``MessageSysFlag.COMPRESSED_FLAG``"""


def decompressed(record: Record) -> Record | None:
    """A record as ``MessageDecoder#decode`` gives it if it is to decompress the body: the flag stays (A06, B30).

    Returns
    -------
    Record or None
        None where the body is not what its flag says: the exception is swallowed.
    """
    if not record.sys_flag & COMPRESSED_FLAG:
        return record
    try:
        return replace(record, body=zlib.decompress(record.body), _map={})
    except zlib.error:
        return None
