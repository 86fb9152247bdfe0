"""A partial copy of a store: the records of some topics where they stand in the log, with gaps between them.

A broker over the network gives the messages of a queue as its log holds them, each with its commit log offset. Written
to that place they make a log that is read like any other, but for the gaps: what stands there was not asked for. A gap
begins with a head like that of the record which fills a file (``MessageDecoder.BLANK_MAGIC_CODE``), and its rest is a
hole in the file.
"""

from __future__ import annotations

import enum
import struct
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Final, Self

from files.content import parse_json
from files.reading import TABLE_BYTES, read_bytes
from reference.format.errors import BrokenConfigError

if TYPE_CHECKING:
    from mmap import mmap
    from pathlib import Path

NAME: Final = "partial-copy.json"
"""The file of a store that says that it is one."""

GAP_MAGIC: Final = 0x47415021
"""No broker writes it."""

_HEAD: Final = struct.Struct(">II")


def gap_head(size: int) -> bytes:
    r"""The beginning of a gap of so many bytes, at least 8 and less than 4 GB.

    Examples
    --------
    >>> gap_head(4096)
    b'\x00\x00\x10\x00GAP!'
    """
    return _HEAD.pack(size, GAP_MAGIC)


def gap_size(data: mmap | bytes, position: int) -> int:
    """How long the gap is that begins at a position of a file, in bytes; 0 if none does."""
    head = data[position : position + _HEAD.size] if position >= 0 else b""
    if len(head) < _HEAD.size:
        return 0
    size, magic = _HEAD.unpack(head)
    return size if magic == GAP_MAGIC and size >= _HEAD.size else 0


class RoleForHalves(enum.StrEnum):
    """What a broker does with pending halves."""

    MASTER = "master"
    """Its rounds check and discard them."""
    SLAVE = "slave"
    """Nothing: it has the log of its master, and the offsets that it asks the master for every ten seconds."""
    ACTING = "acting slave"
    """It hands them on to another master of the cluster, as its own is gone (``enableSlaveActingMaster``, 5.0.0)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialCopy:
    """What a partial copy says of itself.

    Attributes
    ----------
    broker
        The address that it was read from.
    release
        That of the broker, as its answers name it; None if they name none.
    begin, end
        The commit log offsets from which on the broker still had its log, and up to which all records of these topics
        are here: it is the log of one moment.
    booted_at_ms, read_at_ms
        When the broker's process began, None if it does not say; and that moment. Both are by its clock.
    topics
        Those that were read as a whole.
    starts
        Offsets at which records begin, some MB of records apart.
    role
        What the broker was for transactions.
    ends
        Topic, queue id and end of each half and op queue at that moment, where records of settled transactions were
        left out, too; empty otherwise.
    """

    broker: str
    release: str | None
    begin: int
    end: int
    booted_at_ms: int | None
    read_at_ms: int
    topics: tuple[str, ...]
    starts: tuple[int, ...] = ()
    role: str = RoleForHalves.MASTER
    ends: tuple[tuple[str, int, int], ...] = ()

    @classmethod
    def read(cls, store: Path) -> Self | None:
        """That of a store; None if it is a whole one; `BrokenConfigError`."""
        path = store / NAME
        if not path.is_file():
            return None
        try:
            content = parse_json(read_bytes(path, TABLE_BYTES))
            values = {"role": RoleForHalves.MASTER, "ends": (), **content}
            values = {one.name: values[one.name] for one in fields(cls)}
        except (ValueError, KeyError, TypeError) as error:
            message = f"{path} can't be understood ({error}): read the broker again"
            raise BrokenConfigError(message) from None
        ends = tuple((str(topic), int(queue), int(end)) for topic, queue, end in values.get("ends", ()))
        return cls(**values | {name: tuple(values[name]) for name in ("topics", "starts")} | {"ends": ends})

    def ends_of(self, topic: str) -> dict[int, int]:
        """Queue id to the end of the queue, of the half or the op topic, where they are told."""
        return {queue: end for of, queue, end in self.ends if of == topic}

    def to_json(self) -> dict[str, object]:
        """The content of its file."""
        return asdict(self)
