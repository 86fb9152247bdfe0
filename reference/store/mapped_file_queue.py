"""Mapped files of one size in a row, each named after the offset of its first byte (``MappedFileQueue``)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reference.format.errors import NotAStoreError

if TYPE_CHECKING:
    from reference.store.disk import Disk, MappedFile

_NAME = re.compile(r"\d{20}")


class MappedFileQueue:
    """The files of a commit log or of one consume queue."""

    def __init__(self, disk: Disk, folder: str, file_size: int) -> None:
        self.folder = folder
        self.file_size = file_size
        """Bytes a file."""
        self.files: list[MappedFile] = []
        """In order, without gaps."""
        self.start = 0
        """The offset of the first file's first byte; the files before it were deleted."""
        self._disk = disk
        for index, name in enumerate(disk.names(folder)):
            if not _NAME.fullmatch(name):
                message = f"{folder}/{name} does not belong into a store: its name is not a 20-digit offset"
                raise NotAStoreError(message)
            if index == 0:
                self.start = int(name)
            if int(name) != self.start + index * file_size:
                message = (
                    f"{folder}/{name} is not the file that begins at {self.start + index * file_size}; "
                    f"the files are to have {file_size} bytes: is the configured file size right?"
                )
                raise NotAStoreError(message)
            self.files.append(disk.map_file(f"{folder}/{name}", file_size))

    @property
    def end(self) -> int:
        """The offset behind the last file."""
        return self.start + len(self.files) * self.file_size

    def add_file(self) -> MappedFile:
        """Make the next file; `NoSpaceLeftError` if there is no room for it."""
        file = self._disk.map_file(f"{self.folder}/{self.end:020d}", self.file_size)
        self.files.append(file)
        return file

    def file_of(self, offset: int) -> MappedFile | None:
        """The file that holds an offset."""
        index = (offset - self.start) // self.file_size
        return self.files[index] if 0 <= index < len(self.files) else None

    def delete_files_from(self, offset: int) -> None:
        """Delete the files that begin behind an offset (``#truncateDirtyFiles``)."""
        while self.files and self.end - self.file_size > offset:
            self.delete_last_file()

    def delete_last_file(self) -> None:
        """Delete the last file (``#deleteLastMappedFile``)."""
        file = self.files.pop()
        file.close()
        self._disk.delete(file.name)

    def delete_first_file(self) -> None:
        """Delete the first file (``#deleteExpiredFile``)."""
        file = self.files.pop(0)
        self.start += self.file_size
        file.close()
        self._disk.delete(file.name)

    def flush(self) -> None:
        """Flush every file."""
        for file in self.files:
            file.flush()

    def close(self) -> None:
        """Unmap every file."""
        for file in self.files:
            file.close()
