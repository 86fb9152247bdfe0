"""One file of the commit log, read record after record, with reports of damage and its repair."""

from __future__ import annotations

import mmap
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from files import reading
from reference.format.dledger_entry import BLANK_MAGIC as DLEDGER_BLANK_MAGIC
from reference.format.dledger_entry import what_is_wrong_with_header
from reference.format.errors import CorruptRegion
from reference.format.frame import Frame, is_plausible_start, natural_size, read_frame
from reference.format.partial_copy import gap_size
from reference.format.record import (
    BLANK_BYTES,
    BLANK_MAGIC,
    MAGIC_V1,
    MAGIC_V2,
    CommitLogOffset,
    LogRecord,
    MalformedRecordError,
    decode_record,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from pathlib import Path

_MAGIC_BYTES = re.compile(b"|".join(re.escape(magic.to_bytes(4)) for magic in (MAGIC_V1, MAGIC_V2)))
_MAGIC_SIZE = 4
_CHUNK_BYTES = 1 << 20
_ZEROS = bytes(_CHUNK_BYTES + _MAGIC_SIZE)
_PROBED_BYTES = 64 << 10


@dataclass(frozen=True, slots=True)
class CommitLogFile:
    """One mapped file: its path, its name below the store, the offset of its first byte, and its bytes."""

    path: Path
    name: str
    start: CommitLogOffset
    data: mmap.mmap | bytes
    problem: str = "the file is empty"
    """Why it holds no bytes: it is empty, can't be read, or is missing. The rest of the log can be read."""
    header_bytes: int = 0
    """Length of the header before each record: of none, or of DLedger's (:mod:`reference.format.dledger_entry`)."""

    @property
    def end(self) -> CommitLogOffset:
        """The offset behind its last byte."""
        return CommitLogOffset(self.start + len(self.data))

    @property
    def content_bytes(self) -> int:
        """Its bytes but for the zeros at its end; found by halving, as whatever is written ends where zeros begin.

        It is what a file holds that counts, not its room on the disk: a copy may have holes where another has zeros.
        It sizes work, and decides nothing else: a message with 64 KB of zeros may let it come out shorter.
        """
        blank = -(-len(self.data) // _PROBED_BYTES)
        written, begun, probed = 0, 0, blank - 1
        while begun < blank:
            at = probed * _PROBED_BYTES
            content = self.data[at : at + _PROBED_BYTES].rstrip(b"\0")
            if content:
                written, begun = at + len(content), probed + 1
            else:
                blank = probed
            probed = (begun + blank) // 2
        return written

    def magics_from_the_end(self) -> Iterator[int]:
        """The positions at which bytes stand like a record's magic code, the last one first; looked at in pieces.

        The pages of a piece are given back behind it: a broker makes its files in their full size, most of it a hole.
        """
        for at in range((max(len(self.data), 1) - 1) // _CHUNK_BYTES * _CHUNK_BYTES, -1, -_CHUNK_BYTES):
            piece = self.data[at : at + _CHUNK_BYTES + _MAGIC_SIZE - 1]
            if not _ZEROS.startswith(piece):
                yield from (at + place for place in reversed([one.start() for one in _MAGIC_BYTES.finditer(piece)]))
            self.give_back(at, _CHUNK_BYTES)

    def give_back(self, position: int, size: int) -> None:
        """Let the pages of a stretch go that were looked at; they are read again where they are asked for."""
        if isinstance(self.data, mmap.mmap):
            begin = position // mmap.PAGESIZE * mmap.PAGESIZE
            self.data.madvise(mmap.MADV_DONTNEED, begin, min(position - begin + size, len(self.data) - begin))


def map_file(path: Path, name: str, end: int | None = None) -> CommitLogFile:
    """Map a file into memory, at most up to an offset of the log; what stands in the way is its `problem`."""
    start = CommitLogOffset(int(path.name))
    try:
        data = reading.map_file(path, None if end is None else end - start)
    except OSError as failure:
        return CommitLogFile(path, name, start, b"", f"the file can't be read ({failure.strerror})")
    return CommitLogFile(path, name, start, data)


class FileReader:
    """Reads one file; a class only to keep the few things that every step needs.

    Parameters
    ----------
    file, following
        The file, and the one behind it; None for the last one.
    wants
        As in :meth:`CommitLog.read`.
    """

    def __init__(
        self, file: CommitLogFile, following: CommitLogFile | None, wants: Callable[[Frame], bool] | None = None
    ) -> None:
        self.file = file
        self.data = file.data
        self.following = following
        self.wants = wants
        self.header_bytes = file.header_bytes

    def read(self) -> Iterator[Frame | LogRecord | CorruptRegion]:
        """Read the file from its start; see :meth:`CommitLog.read`."""
        data, start, wants = self.data, self.file.start, self.wants
        position, length = self.header_bytes, len(data)
        if not length:
            yield self.region(0, self.file.problem)
        while position < length:
            try:
                frame = read_frame(data, position, start)
            except MalformedRecordError as error:
                if gap := gap_size(data, position):
                    position += gap
                    continue
                if self.is_end(position):
                    break
                position = yield from self.skip_damage(position, str(error))
                continue
            yield from self.check_header(position, frame.total_size)
            if not frame.is_body_sound:
                yield self.region(position, f"the body of {frame.name} does not match its checksum")
            if wants is None or wants(frame):
                try:
                    yield self.decode(position, frame.total_size)
                except MalformedRecordError as error:
                    yield self.region(position, str(error))
            else:
                yield frame
            position = self.behind(position, frame.total_size)
        yield from self.check_end(position)

    def behind(self, position: int, size: int) -> int:
        """Where the next record would stand."""
        return position + size + self.header_bytes

    def check_header(self, position: int, size: int) -> Iterator[CorruptRegion]:
        """Damage in what stands before a record of so many bytes."""
        if self.header_bytes:
            at = position - self.header_bytes
            reason = what_is_wrong_with_header(self.data, at, self.file.start + at, size)
            if reason:
                yield self.region(at, reason)

    def is_end(self, position: int) -> bool:
        """Whether nothing more was written: an end-of-file record stands where a record would, or zeros do."""
        return self.is_blank_record(position) or self.is_zero_from(position - self.header_bytes)

    def decode(self, position: int, size: int) -> LogRecord:
        """Decode a record whose outline is sound; zeros that were cut off the end of the file count as there."""
        if position + size <= len(self.data):
            return decode_record(self.data, position, limit=len(self.data))
        return decode_record(bytes(self.data[position:]).ljust(size, b"\0"), 0, limit=size)

    def region(self, position: int, reason: str) -> CorruptRegion:
        """Damage at a position of this file."""
        return CorruptRegion(self.file.name, position, reason)

    def is_blank_record(self, position: int) -> bool:
        """Whether the end-of-file record stands here (``CommitLog.DefaultAppendMessageCallback#doAppend``)."""
        size = self._blank_size(position)
        if self.following is None:
            return size >= BLANK_BYTES
        return size > 0 and self.file.start + position - self.header_bytes + size <= self.following.start

    def _blank_size(self, position: int) -> int:
        """The size that the end-of-file record at a position has; 0 if there is none."""
        at = position - self.header_bytes
        head = self.data[at : at + BLANK_BYTES] if at >= 0 else b""
        if len(head) < BLANK_BYTES:
            return 0
        if self.header_bytes:
            return int.from_bytes(head[4:]) if int.from_bytes(head[:4]) == DLEDGER_BLANK_MAGIC else 0
        return int.from_bytes(head[:4]) if int.from_bytes(head[4:]) == BLANK_MAGIC else 0

    def is_zero_from(self, position: int) -> bool:
        """Whether the rest of the file is zeros; its pages are given back as they are looked at."""
        for at in range(position, len(self.data), _CHUNK_BYTES):
            if not _ZEROS.startswith(self.data[at : at + _CHUNK_BYTES]):
                return False
            self.file.give_back(at, _CHUNK_BYTES)
        return True

    def check_end(self, position: int) -> Iterator[CorruptRegion]:
        """A file that others follow must end in a blank record that reaches to the next one, or at its brim."""
        following = self.following
        if not self.data or following is None or not following.data or not following.data[:BLANK_BYTES].strip(b"\0"):
            return
        size = self._blank_size(position)
        position -= self.header_bytes
        end = self.file.start + position + size
        if end >= following.start or position >= following.start - self.file.start:
            return
        if size:
            yield self.region(position, f"the log goes on at {end}, but the next file is {following.name}")
        else:
            reason = f"the log ends here without an end-of-file record, although {following.name} follows"
            yield self.region(position, reason)

    def skip_damage(self, position: int, reason: str) -> Generator[LogRecord | CorruptRegion, None, int]:
        """Report damage and yield what can be repaired of it; gives the position to go on at."""
        after = self.next_record(position)
        size = natural_size(self.data, position)
        repaired = self._repair(position, after)
        if repaired is not None:
            yield self.region(position, _what_was_wrong(repaired, size, self.file.start + position))
            yield self._in_place(repaired, position)
            return self.behind(position, size)
        lost = (len(self.data) if after is None else after) - position
        if after is None and self.following is None:
            yield self.region(position, f"{reason}; nothing readable follows")
        else:
            yield self.region(position, f"{reason}; {lost} bytes are passed over")
        return position + lost

    def record_at(self, position: int) -> LogRecord:
        """The record that reading the file gives, repaired if need be; `MalformedRecordError` if there is none."""
        try:
            frame = read_frame(self.data, position, self.file.start)
        except MalformedRecordError:
            repaired = self._repair(position, self.next_record(position))
            if repaired is None:
                raise
            return self._in_place(repaired, position)
        return self.decode(position, frame.total_size)

    def first_record(self, position: int, end: int) -> int | None:
        """Where the first record at or behind a position and before an end begins that says that it stands there."""
        if position == 0:
            return self.header_bytes
        for match in _MAGIC_BYTES.finditer(self.data, position + 4, min(end + 7, len(self.data))):
            candidate = match.start() - 4
            if is_plausible_start(self.data, candidate, self.file.start):
                return candidate
        return None

    def is_record_start(self, position: int) -> bool:
        """Whether :meth:`first_record` would find a record at a position."""
        has_magic = _MAGIC_BYTES.match(self.data, position + 4) is not None
        return has_magic and is_plausible_start(self.data, position, self.file.start)

    def next_record(self, position: int) -> int | None:
        """Where the next record begins that claims to stand where it stands, or the blank record of this file."""
        for match in _MAGIC_BYTES.finditer(self.data, position + 1):
            candidate = match.start() - 4
            if candidate > position and is_plausible_start(self.data, candidate, self.file.start):
                return candidate
        magic, at = (DLEDGER_BLANK_MAGIC, self.header_bytes) if self.header_bytes else (BLANK_MAGIC, -4)
        blank = self.data.find(magic.to_bytes(4), position + 1) + at
        if self.following is not None and blank > position and self.is_blank_record(blank):
            return blank
        return None

    def _in_place(self, repaired: LogRecord, position: int) -> LogRecord:
        size = natural_size(self.data, position)
        return replace(repaired, total_size=size, physical_offset=CommitLogOffset(self.file.start + position))

    def _repair(self, position: int, after: int | None) -> LogRecord | None:
        """The record at a damaged place, if its inner lengths alone lead exactly to what follows."""
        size = natural_size(self.data, position)
        if (
            size == 0
            or (after is not None and self.behind(position, size) != after)
            or position + size > len(self.data)
        ):
            return None
        try:
            record = decode_record(self.data, position, limit=len(self.data), total_size=size)
        except MalformedRecordError:
            return None
        is_torn = record.properties_text.endswith("\0")
        return record if record.body and record.has_sound_body and not is_torn else None


def _what_was_wrong(record: LogRecord, size: int, offset: int) -> str:
    """Name the field of a repaired record that was not what it should be."""
    if record.magic not in (MAGIC_V1, MAGIC_V2):
        return f"the magic code is {record.magic:08X}, not {MAGIC_V1:08X}"
    if record.physical_offset != offset:
        return f"the record says that it stands at {record.physical_offset}, it stands at {offset}"
    return f"its length says {record.total_size} bytes, its fields add up to {size}"
