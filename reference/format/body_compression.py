"""Bodies that a client has compressed (``UtilAll#uncompress``; a zlib stream in all versions by default)."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from reference.format.record import Record

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
