"""The commit log: a folder of files, each named after the offset of its first byte, read record after record.

A file may be shorter than its configured size: RocketMQ maps files that are zero until they are written, so what is
missing at the end counts as zeros. Damage never stops the reading and is never passed over silently: it comes out of
:meth:`CommitLog.read` as a :class:`CorruptRegion`, and reading goes on at the next record whose own physical offset
says that it belongs where it stands. What can be repaired (one wrong length, magic code or offset) is, after it was
reported.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Self

from reference.format.commit_log_file import FOLDER, CommitLogFile, FileReader, map_file
from reference.format.errors import CorruptRegion, NotAStoreError
from reference.format.frame import Frame, read_frame
from reference.format.record import CommitLogOffset, MalformedRecordError, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


_NAME = re.compile(r"\d{20}")


class CommitLog:
    """The files of ``commitlog/``, opened for reading (``MappedFileQueue#load``).

    Parameters
    ----------
    files
        In the order of their start offsets.
    """

    def __init__(self, files: list[CommitLogFile]) -> None:
        self.files = files

    @classmethod
    def open(cls, store: Path) -> Self:
        """Open the commit log of a store directory.

        Raises
        ------
        NotAStoreError
            There is no such directory, no ``commitlog/`` in it, no file in that, or a file whose name is not the
            20-digit offset of its first byte.
        """
        folder = _commit_log_folder(store)
        paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
        for path in paths:
            if not _NAME.fullmatch(path.name):
                message = f"{path} is not a commit log file: its name is not a 20-digit offset"
                raise NotAStoreError(message)
        if not paths:
            message = f"{folder} holds no files, so this is not a RocketMQ store"
            raise NotAStoreError(message)
        return cls([map_file(path) for path in paths])

    @property
    def start(self) -> CommitLogOffset:
        """The offset of the first byte that is still kept; older files were deleted."""
        return self.files[0].start

    @property
    def size_bytes(self) -> int:
        """The bytes of all files together."""
        return sum(len(file.data) for file in self.files)

    def read(self, wants: Callable[[Frame], bool] | None = None) -> Iterator[Frame | Record | CorruptRegion]:
        """Read the log from its start.

        Parameters
        ----------
        wants
            Says which records to decode; the others come as frames. Without it, all are decoded.

        Yields
        ------
        Frame, Record or CorruptRegion
            In the order of the log. Damage comes before the record that it concerns, if that could be read at all.
        """
        for index, file in enumerate(self.files):
            yield from FileReader(file, self.following(index), wants).read()

    def records(self) -> Iterator[Record]:
        """Every record that can be read, in the order of the log; damage is left out."""
        for entry in self.read():
            if isinstance(entry, Record):
                yield entry

    def frame_at(self, offset: int) -> Frame | None:
        """The outline of the record at an offset, or None where no sound record starts."""
        for file in self.files:
            if file.start <= offset < file.end:
                try:
                    return read_frame(file.data, offset - file.start, file.start)
                except MalformedRecordError:
                    return None
        return None

    def record_at(self, offset: int) -> Record:
        """The record that reading the log gives at an offset.

        Raises
        ------
        MalformedRecordError
            There is none.
        """
        for index, file in reversed(list(enumerate(self.files))):
            if offset >= file.start:
                return FileReader(file, self.following(index)).record_at(offset - file.start)
        message = f"the log begins at {self.start}, {offset} is before it"
        raise MalformedRecordError(message)

    def following(self, index: int) -> CommitLogFile | None:
        """The file behind the file of an index."""
        return self.files[index + 1] if index + 1 < len(self.files) else None

    def place(self, offset: int) -> tuple[str, int]:
        """The file that holds an offset, and the byte within it."""
        for file in reversed(self.files):
            if offset >= file.start:
                return file.name, offset - file.start
        return self.files[0].name, 0


def _commit_log_folder(store: Path) -> Path:
    if not store.exists():
        message = f"{store} does not exist"
        raise NotAStoreError(message)
    if not store.is_dir():
        message = f"{store} is a file; a RocketMQ store is a directory with {FOLDER}/ in it"
        raise NotAStoreError(message)
    folder = store / FOLDER
    if not folder.is_dir():
        message = f"{store} has no {FOLDER}/ in it, so it is not a RocketMQ store"
        raise NotAStoreError(message)
    return folder
