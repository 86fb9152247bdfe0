"""The commit log: a folder of files, each named after the offset of its first byte, read record after record.

A file may be shorter than its configured size: RocketMQ maps files that are zero until they are written, so what is
missing at the end counts as zeros. Damage is neither fatal nor silent: :meth:`CommitLog.read` yields it
as a :class:`CorruptRegion`, and continues at the next record whose own physical offset
says that it belongs where it stands. What can be repaired (one wrong length, magic code or offset) is, after it was
reported.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Self

from files.reading import room_of
from reference.format.commit_log_file import CommitLogFile, FileReader, map_file
from reference.format.dledger_entry import HEADER_BYTES, begins_with_entry, body_positions
from reference.format.errors import CorruptRegion, NotAStoreError
from reference.format.frame import Frame, is_record_of_another_place, read_frame
from reference.format.partial_copy import PartialCopy
from reference.format.record import CommitLogOffset, LogRecord, MalformedRecordError
from reference.format.store_paths import LOG_FILE, StorePaths, store_paths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


_FEW = 3
_DEFAULT_FILE_BYTES = 1 << 30
"""``mappedFileSizeCommitLog`` where no ``broker.conf`` says otherwise."""


class CommitLog:
    """The files of ``commitlog/``, opened for reading (``MappedFileQueue#load``).

    Parameters
    ----------
    files
        In the order of their start offsets.
    partial
        What a partial copy says of itself; None of a whole log.
    is_cut
        Whether the log goes on behind them: consume queues may list records that are not there.
    """

    def __init__(self, files: list[CommitLogFile], *, partial: PartialCopy | None = None, is_cut: bool = False) -> None:
        self.files = files
        self.partial = partial
        self.is_cut = is_cut
        self._parts = [other.start for one, other in pairwise(files) if other.data and not one.data]

    @classmethod
    def open(cls, store: Path | StorePaths) -> Self:
        """Open the log of a store; where it lies, :func:`~reference.format.store_paths.store_paths` says.

        Raises
        ------
        NotAStoreError
            There is no such directory, no log where it should be, no file in it, or a file whose name is not the
            20-digit offset of its first byte.
        """
        where = store if isinstance(store, StorePaths) else store_paths(store)
        files = [file for folder in where.log_folders for file in _files_in(folder, where)]
        if not files:
            message = f"{where.log_folders[0]} holds no files, so this is not a RocketMQ store"
            raise NotAStoreError(message)
        files.sort(key=lambda file: file.start)
        for one, other in pairwise(files):
            if one.start == other.start:
                message = f"{one.path} and {other.path} are the same file of the log: only one of them can count"
                raise NotAStoreError(message)
        partial = PartialCopy.read(where.root)
        if partial is not None:
            return cls(files, partial=partial)
        whole = _with_missing(files, where)
        if where.doubt and len(whole) > len(files):
            message = f"{where.doubt} ({next(file.name for file in whole if file not in files)} is missing)"
            raise NotAStoreError(message)
        return cls(whole, is_cut=where.end is not None)

    @property
    def start(self) -> CommitLogOffset:
        """The offset of the first byte that is still kept; older files were deleted."""
        return self.files[0].start

    @property
    def size_bytes(self) -> int:
        """The bytes of all files together."""
        return sum(len(file.data) for file in self.files)

    @property
    def stored_bytes(self) -> int:
        """The bytes of all files together that are written; the gaps of a partial copy are holes, and do not count."""
        if self.partial is not None:
            return sum(min(len(file.data), room_of(file.path)) for file in self.files if file.data)
        return sum(file.content_bytes for file in self.files)

    def read(self, wants: Callable[[Frame], bool] | None = None) -> Iterator[Frame | LogRecord | CorruptRegion]:
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

    def records(self) -> Iterator[LogRecord]:
        """Every record that can be read, in the order of the log; damage is left out."""
        for entry in self.read():
            if isinstance(entry, LogRecord):
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

    def record_at(self, offset: int) -> LogRecord:
        """The record that reading the log gives at an offset; `MalformedRecordError` if there is none."""
        for index, file in reversed(list(enumerate(self.files))):
            if offset >= file.start:
                return FileReader(file, self.following(index)).record_at(offset - file.start)
        message = f"the log begins at {self.start}, {offset} is before it"
        raise MalformedRecordError(message)

    def following(self, index: int) -> CommitLogFile | None:
        """The file behind the file of an index."""
        return self.files[index + 1] if index + 1 < len(self.files) else None

    def is_gone(self, offset: int) -> bool:
        """Whether the file that held an offset was deleted, is missing or can't be read; not behind the log's end.

        Of a partial copy also whether the offset lies in a gap.
        """
        if self.partial is not None:
            return offset < self.partial.end and self.frame_at(offset) is None
        for file in reversed(self.files):
            if offset >= file.start:
                return not file.data
        return True

    def part_of(self, offset: int) -> int:
        """Where the part of the log that holds an offset begins: at its start, or behind a file that is gone."""
        return next((start for start in reversed(self._parts) if offset >= start), self.start)

    def place(self, offset: int) -> tuple[str, int]:
        """The file that holds an offset, and the byte within it."""
        for file in reversed(self.files):
            if offset >= file.start:
                return file.name, offset - file.start
        return self.files[0].name, 0

    def offset_of(self, region: CorruptRegion) -> int:
        """The commit log offset at which damage that :meth:`read` gave begins."""
        return region.offset + next(file.start for file in self.files if file.name == region.file)


def _files_in(folder: Path, where: StorePaths) -> list[CommitLogFile]:
    paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    for path in paths:
        if not LOG_FILE.fullmatch(path.name):
            message = f"{path} is not a commit log file: its name is not a 20-digit offset"
            raise NotAStoreError(message)
    wanted = [path for path in paths if where.end is None or int(path.name) < where.end]
    files = [map_file(path, where.name_of(path), where.end) for path in wanted]
    if not any(begins_with_entry(file.data, file.start) for file in files):
        return files
    for file in files:
        first = list(islice(body_positions(file.data), _FEW))
        if first and all(is_record_of_another_place(file.data, at, file.start) for at in first):
            message = (
                f"{file.path} is no log of DLedger's as a broker writes it: the first record, behind its header of "
                f"{HEADER_BYTES} bytes, must say that it stands at {file.start + first[0]}, and says another place"
            )
            raise NotAStoreError(message)
    return [replace(file, header_bytes=HEADER_BYTES) for file in files]


def _with_missing(files: list[CommitLogFile], where: StorePaths) -> list[CommitLogFile]:
    """The files, and an empty one with its problem for each that should stand between them."""
    distances = [other.start - one.start for one, other in pairwise(files)]
    size = where.file_bytes
    if size is None or any(len(file.data) > size for file in files):
        size = min([*distances, _DEFAULT_FILE_BYTES])
    several = ", and broker.conf names more than one path" if len(where.log_folders) > 1 else ""
    whole: list[CommitLogFile] = []
    for file in files:
        end = whole[-1].start + size if whole else file.start
        if end < file.start:
            count = -(-(file.start - end) // size)
            more = f"; {count - 1} more up to {file.name} are" if count > 1 else ""
            path = file.path.with_name(f"{end:020d}")
            problem = f"the file is missing{more}{several}"
            whole.append(CommitLogFile(path, where.name_of(path), CommitLogOffset(end), b"", problem))
        whole.append(file)
    return whole
