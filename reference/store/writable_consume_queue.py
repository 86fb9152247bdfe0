"""A consume queue that is written (``ConsumeQueue``): 20 bytes a message, in mapped files."""

from __future__ import annotations

import struct

from reference.format.consume_queue import ENTRY_BYTES, FOLDER
from reference.store.disk import QUEUE_ENTRY, Disk, MappedFile
from reference.store.mapped_file_queue import MappedFileQueue

ENTRY = struct.Struct(">qiq")
_RECOVERED_FILES = 3


class WritableConsumeQueue:
    """One queue of one topic; `end` is the queue offset behind its last entry."""

    __slots__ = (
        "_file", "_file_end", "_files", "_start_entry", "_wrote", "end", "max_phy_offset", "min_offset", "next_offset",
        "queue_id", "topic",
    )  # fmt: skip

    def __init__(self, disk: Disk, topic: str, queue_id: int, file_size: int) -> None:
        self.topic = topic
        self.queue_id = queue_id
        self._files = MappedFileQueue(disk, f"{FOLDER}/{topic}/{queue_id}", file_size)
        self._start_entry = self._files.start // ENTRY_BYTES
        self.min_offset = self._start_entry
        """The first queue offset whose message is still kept."""
        self.max_phy_offset = 0
        """The end of the last message that has an entry, in the commit log (``maxPhysicOffset``)."""
        self._wrote = self._file_end = 0
        self._set_end(self._recovered_end())
        self.next_offset = self.end
        """The queue offset that the next message gets; ahead of the end while entries wait to be dispatched."""

    def put(self, commit_log_offset: int, size: int, tags_code: int) -> None:
        """Append an entry, if not there (``#putMessagePositionInfo``); `NoSpaceLeftError` without room for a file."""
        if commit_log_offset + size <= self.max_phy_offset:
            return
        if self._wrote == self._file_end:
            if self._files.files:
                self._file.release(self._file_end)
            self._file: MappedFile = self._files.add_file()
            self._wrote = 0
            self._file_end = self._files.file_size
        self._file.write(self._wrote, ENTRY.pack(commit_log_offset, size, tags_code), QUEUE_ENTRY)
        self._wrote += ENTRY_BYTES
        self.end += 1
        self.max_phy_offset = commit_log_offset + size

    def entry(self, offset: int) -> tuple[int, int, int]:
        """Commit log offset, size and tags code of the entry at a queue offset that there is."""
        file = self._files.files[(offset - self._start_entry) * ENTRY_BYTES // self._files.file_size]
        at = offset * ENTRY_BYTES % self._files.file_size
        if at >= len(file.buffer):
            return 0, 0, 0
        entry: tuple[int, int, int] = ENTRY.unpack_from(file.buffer, at)
        return entry

    def end_of_file(self, offset: int) -> int:
        """The first queue offset behind the file that holds an offset; one read never goes further."""
        entries = self._files.file_size // ENTRY_BYTES
        return (offset // entries + 1) * entries

    def truncate(self, phy_offset: int, *, erases: bool = False) -> None:
        """Take out the entries of messages at or behind a place of the log (``#truncateDirtyLogicFiles``).

        Their bytes stay where they are, unless that is repaired, and the next process may find them again (B58). The
        first entry of the last file is not looked at like the others: zeros count as an entry, too.
        """
        end = self.end
        while end > self._start_entry and self.entry(end - 1)[0] >= phy_offset:
            end -= 1
        if phy_offset > 0 and self._files.files and end * ENTRY_BYTES == self._files.end - self._files.file_size:
            end += self._first_entry_is_empty
        if erases:
            self.erase_from(phy_offset)
        self._set_end(end)
        self._files.delete_files_from(end * ENTRY_BYTES)
        if self._files.files and end * ENTRY_BYTES <= self._files.end - self._files.file_size:
            self._files.delete_last_file()
        self._set_end(end)
        self.next_offset = self.end

    @property
    def _first_entry_is_empty(self) -> bool:
        """Whether the last file begins with zeros, or has never been written."""
        return not any(self._files.files[-1].buffer[:ENTRY_BYTES])

    def lose_from(self, phy_offset: int) -> None:
        """Lose the entries of messages at or behind a place of the log, and each file with its first entry."""
        self.erase_from(phy_offset)
        while self._files.files and self._first_entry_is_empty:
            self._files.delete_last_file()

    def erase_from(self, phy_offset: int) -> None:
        """Overwrite the entries of messages at or behind a place of the log with the zeros that were there before."""
        offset = self.end - 1
        while offset >= self._start_entry and self.entry(offset)[0] >= phy_offset:
            at = (offset - self._start_entry) * ENTRY_BYTES
            file = self._files.files[at // self._files.file_size]
            file.write(at % self._files.file_size, bytes(ENTRY_BYTES), QUEUE_ENTRY)
            offset -= 1

    def delete_expired_files(self, min_phy_offset: int) -> None:
        """Delete the files of which the log has no message any more, but the last (``#deleteExpiredFile``)."""
        while len(self._files.files) > 1:
            entries = self._files.file_size // ENTRY_BYTES
            if self.entry(self._start_entry + entries - 1)[0] >= min_phy_offset:
                return
            self._files.delete_first_file()
            self._start_entry += entries

    def correct_min_offset(self, min_phy_offset: int, *, passes_all: bool) -> None:
        """Set ``min_offset`` to the first entry whose message is still in the log (``#correctMinOffset``).

        Where there is none, it is the queue's end, or, unless `passes_all`, stays as it is.
        """
        offset = max(self.min_offset, self._start_entry)
        while offset < self.end and self.entry(offset)[0] < min_phy_offset:
            offset += 1
        if offset < self.end or passes_all:
            self.min_offset = offset

    def flush(self) -> None:
        """Flush its files."""
        self._files.flush()

    def close(self) -> None:
        """Unmap its files."""
        self._files.close()

    def destroy(self) -> None:
        """Delete its files (``#destroy``)."""
        while self._files.files:
            self._files.delete_last_file()

    def _set_end(self, end: int) -> None:
        """Go on writing at a queue offset; the last entry before it says how far the log has been dispatched."""
        self.end = end
        files = self._files.files
        if files:
            self._file = files[-1]
            self._wrote = end * ENTRY_BYTES - (self._files.end - self._files.file_size)
            self._file_end = self._files.file_size
        else:
            self._wrote = self._file_end = 0
        if end > self._start_entry:
            offset, size, _ = self.entry(end - 1)
            self.max_phy_offset = offset + size
        else:
            self.max_phy_offset = 0

    def _recovered_end(self) -> int:
        """Where the entries end, found as a starting broker does: from the last third file on (``#recover``)."""
        files = self._files
        index = max(0, len(files.files) - _RECOVERED_FILES)
        while index < len(files.files):
            buffer, base = files.files[index].buffer, files.start + index * files.file_size
            for at in range(0, files.file_size, ENTRY_BYTES):
                if at + ENTRY_BYTES > len(buffer):
                    return (base + at) // ENTRY_BYTES
                offset, size, _ = ENTRY.unpack_from(buffer, at)
                if offset < 0 or size <= 0:
                    return (base + at) // ENTRY_BYTES
            index += 1
        return files.end // ENTRY_BYTES
