"""``checkpoint``: up to which store timestamps commit log and consume queues were flushed (``StoreCheckpoint``)."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reference.store.disk import Disk

NAME = "checkpoint"
_PAGE_BYTES = 4096
_TIMESTAMPS = struct.Struct(">qqq")
_SAFETY_MS = 3_000


class StoreCheckpoint:
    """The timestamps of the file.

    Attributes
    ----------
    physic_msg_timestamp, logics_msg_timestamp, index_msg_timestamp
        Of the last message that was flushed to the commit log, to the consume queues, to the index.
    """

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        raw = (disk.read(NAME) or b"").ljust(_TIMESTAMPS.size, b"\0")
        timestamps: tuple[int, int, int] = _TIMESTAMPS.unpack_from(raw)
        self.physic_msg_timestamp, self.logics_msg_timestamp, self.index_msg_timestamp = timestamps

    @property
    def min_timestamp(self) -> int:
        """Where a recovery begins: three seconds before the older of log and queues (``#getMinTimestamp``)."""
        return max(0, min(self.physic_msg_timestamp, self.logics_msg_timestamp) - _SAFETY_MS)

    def flush(self) -> None:
        """Write the file."""
        raw = _TIMESTAMPS.pack(self.physic_msg_timestamp, self.logics_msg_timestamp, self.index_msg_timestamp)
        self._disk.write(NAME, raw.ljust(_PAGE_BYTES, b"\0"))
