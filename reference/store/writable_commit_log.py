"""The commit log as the broker writes it: mapped files, an end-of-file record in each but the last (``CommitLog``)."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING, Final

from reference.format.errors import NoSpaceLeftError
from reference.format.record import (
    BLANK_MAGIC,
    BORN_HOST_V6_FLAG,
    MAGIC_V1,
    MAGIC_V2,
    STORE_HOST_V6_FLAG,
    LogRecord,
    Source,
)
from reference.format.store_paths import COMMIT_LOG as FOLDER
from reference.format.stored_message import BORN_HOST_AT, decode_message
from reference.store.disk import BLANK_RECORD, Disk, MappedFile
from reference.store.mapped_file_queue import MappedFileQueue

if TYPE_CHECKING:
    from collections.abc import Iterator


_BLANK: Final = struct.Struct(">iI")
_LONG: Final = struct.Struct(">q")
_RECOVERED_FILES: Final = 3
_RELEASED_BYTES: Final = 32 << 20

END_OF_FILE = 0
"""An end-of-file record: the log goes on in the next file."""

NO_MESSAGE = -1
"""No record, or a torn one."""

_BODY_LENGTH_AT = 84


class WritableCommitLog:
    """The files of ``commitlog/``.

    4.5.1 copies stale bytes: behind the eight bytes of an end-of-file record follow those of earlier messages, out of
    the buffer in which the broker builds them.
    """

    __slots__ = (
        "_message_memory", "_records", "_records_until", "_released", "copies_stale_bytes", "file", "file_size",
        "file_start", "files", "wrote",
    )  # fmt: skip

    def __init__(self, disk: Disk, file_size: int, *, copies_stale_bytes: bool = False) -> None:
        self.files = MappedFileQueue(disk, FOLDER, file_size)
        self.file_size = file_size
        self.copies_stale_bytes = copies_stale_bytes
        self._message_memory = bytearray()
        self._released = 0
        self._records: list[LogRecord] = []
        self._records_until = 0
        self.file: MappedFile | None = None
        self.file_start = self.files.end
        self.wrote = file_size
        """The file that is written, the offset of its first byte, and the position in it; the file is None, and the
        position as large as the file, when a new one is needed."""
        if self.files.files:
            self.set_end(self.files.end)

    @property
    def min_offset(self) -> int:
        """The first byte that is still kept."""
        return self.files.start

    @property
    def max_offset(self) -> int:
        """The end of the log."""
        return self.file_start + self.wrote if self.file is not None else self.file_start

    @property
    def first_written(self) -> int:
        """How many bytes of the first file were written; none, where there is no file."""
        if not self.files.files:
            return 0
        return self.wrote if self.files.files[0] is self.file else self.file_size

    def roll(self) -> None:
        """Go on to a new file; what is left of the current one becomes an end-of-file record.

        Raises
        ------
        NoSpaceLeftError
            There is no room for the new one; the end-of-file record was written all the same.
        """
        left = self.file_size - self.wrote
        if self.file is not None and left:
            blank = _BLANK.pack(left, BLANK_MAGIC)
            if self.copies_stale_bytes:
                self.remember(blank)
                blank = bytes(self._message_memory[:left])
            self.file.write(self.wrote, blank, BLANK_RECORD)
            self.wrote = self.file_size
        if self.file is not None:
            self.file.release(self.file_size)
        start = self.files.end
        self.file = self.files.add_file()
        self.file_start = start
        self.wrote = 0

    def write(self, data: bytes) -> bool:
        """Write a message at the end; False where the disk has no room for it."""
        if self.copies_stale_bytes:
            self.remember(data)
        try:
            self.file.write(self.wrote, data)  # type: ignore[union-attr]
        except NoSpaceLeftError:
            return False
        self.wrote += len(data)
        return True

    def release(self) -> None:
        """Every few dozen megabytes, keep the pages behind in the page cache only."""
        if self.file is not None and not 0 <= self.wrote - self._released < _RELEASED_BYTES:
            self.file.release(self.wrote)
            self._released = self.wrote

    def remember(self, message: bytes) -> None:
        """Keep the bytes of a message in the buffer in which 4.5.1 builds them, over what was there."""
        memory = self._message_memory
        memory[: len(message)] = message

    def set_end(self, offset: int) -> None:
        """Go on writing at a place, and forget what is behind it (``MappedFileQueue#truncateDirtyFiles``)."""
        self.files.delete_files_from(offset)
        if not self.files.files:
            self.file, self.file_start, self.wrote = None, self.files.end, self.file_size
            return
        self.file = self.files.files[-1]
        self.file_start = self.files.end - self.file_size
        self.wrote = offset - self.file_start

    def lose_from(self, offset: int) -> None:
        """Lose what was written from a place on, and the files that begin behind it; there were zeros before."""
        end_of_log, place = offset, self.place_of(offset)
        while place is not None:
            file, at = place
            end = self.wrote if file is self.file else self.file_size
            file.write(at, bytes(max(min(end, len(file.buffer)) - at, 0)))
            offset += end - at
            place = self.place_of(offset)
        self.files.delete_files_from(end_of_log)

    def place_of(self, offset: int) -> tuple[MappedFile, int] | None:
        """The file that holds an offset and the position in it, None outside of the log."""
        at = offset - self.file_start
        if 0 <= at < self.wrote and self.file is not None:
            return self.file, at
        file = self.files.file_of(offset)
        if file is None or offset >= self.max_offset:
            return None
        return file, (offset - self.files.start) % self.file_size

    def walk(self, offset: int) -> Iterator[tuple[int, int, MappedFile, int]]:
        """Each sound record from a place on, up to the first that is not: its offset and size, its file and position.

        An end-of-file record leads into the next file. After the last record, :attr:`walked_to` is meant to be its end.
        """
        while (file := self.files.file_of(offset)) is not None:
            at = (offset - self.files.start) % self.file_size
            size = check_message(file.buffer, at)
            if size == NO_MESSAGE:
                return
            if size == END_OF_FILE:
                offset += self.file_size - at
                continue
            yield offset, size, file, at
            offset += size

    def records(self) -> tuple[LogRecord, ...]:
        """Every record, in order; they are read once."""
        for offset, size, file, at in self.walk(max(self._records_until, self.min_offset)):
            if offset >= self.max_offset:
                break
            self._records.append(decode_message(file.buffer, at))
            self._records_until = offset + size
        return tuple(self._records)

    def last_file_starts(self) -> list[int]:
        """Where the files begin from which a normal recovery reads: the last three (``#recoverNormally``)."""
        count = len(self.files.files)
        return [self.files.start + index * self.file_size for index in range(max(0, count - _RECOVERED_FILES), count)]

    def file_start_stored_before(self, timestamp: int, most_files: int | None = None) -> int:
        """The last file whose first record is not younger, else the first (``#isMappedFileMatchedRecover``).

        Of so many at most, the last ones, where there is a limit.
        """
        first = 0 if most_files is None else max(len(self.files.files) - most_files, 0)
        for index in range(len(self.files.files) - 1, first - 1, -1):
            buffer = self.files.files[index].buffer
            if check_message(buffer, 0) in (NO_MESSAGE, END_OF_FILE):
                continue
            sys_flag = int.from_bytes(buffer[36:40])
            at = BORN_HOST_AT + (20 if sys_flag & BORN_HOST_V6_FLAG else 8)
            if 0 < _LONG.unpack_from(buffer, at)[0] <= timestamp:
                return self.files.start + index * self.file_size
        return self.files.start + first * self.file_size


def check_message(source: Source, at: int) -> int:
    """The size of the record at a position in bytes, or :data:`END_OF_FILE` or :data:`NO_MESSAGE`.

    As a starting broker judges (``CommitLog#checkMessageAndReturnSize``): the lengths must add up and the body must
    match its checksum. The physical offset is not compared, and nothing covers the properties, as in the broker.
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
