"""DLedger's log: each record is the body of an entry and stands behind a header of 48 bytes.

``DLedgerEntryCoder``, the same in all releases that RocketMQ 4.5 to 5.3 is built with (0.1 to 0.3.1.2): magic, size of
the entry, index, term, its own place in the log, channel, two checksums that are not filled in, size of the body, big
endian. A record's physical offset, and every offset that names it, is that of the body (``DLedgerCommitLog``, append
hook). What is left at a file's end begins with -1 and its size (``MmapFileList#preAppend``).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from mmap import mmap

HEADER_BYTES: Final = 48
MAGIC: Final = 1
BLANK_MAGIC: Final = 0xFFFFFFFF
_HEADER = struct.Struct(">IIqqqiiiI")


def begins_with_entry(data: mmap | bytes, start: int) -> bool:
    """Whether a file that begins at an offset of the log begins with an entry of DLedger's."""
    if len(data) < HEADER_BYTES:
        return False
    magic, _, _, _, position, *_ = _HEADER.unpack_from(data, 0)
    return bool(magic == MAGIC and position == start)


def body_positions(data: mmap | bytes) -> Iterator[int]:
    """Where the bodies of entries begin, as far as one header leads to the next."""
    at = 0
    while at + HEADER_BYTES <= len(data):
        magic, size, *_ = _HEADER.unpack_from(data, at)
        if magic != MAGIC or size <= HEADER_BYTES:
            return
        yield at + HEADER_BYTES
        at += size


def what_is_wrong_with_header(data: mmap | bytes, at: int, place: int, size: int) -> str:
    """The error in a header; empty if all is right.

    Parameters
    ----------
    at
        Where the header begins, in bytes from the start of the file.
    place
        The same in the log.
    size
        Of the record behind it, in bytes.
    """
    if at < 0:
        return "no header of DLedger's fits before the record"
    magic, entry_size, _, _, position, _, _, _, body_size = _HEADER.unpack_from(data, at)
    wanted = {"magic": (magic, MAGIC), "size": (entry_size, HEADER_BYTES + size), "place": (position, place)}
    wanted["body size"] = body_size, size
    return next(
        (
            f"the {name} in the header of DLedger's entry is {seen}, expected {right}"
            for name, (seen, right) in wanted.items()
            if seen != right
        ),
        "",
    )
