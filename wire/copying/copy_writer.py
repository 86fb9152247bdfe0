"""Writes a partial copy of a log: each message where it stands, in any order, then the gaps between them."""

from __future__ import annotations

import os
from array import array
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from files.reading import read_bytes
from files.writing import write_whole
from reference.format.partial_copy import gap_head
from wire.errors import WireError

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

START_BYTES: Final = 8 << 20
"""About so many bytes of records lie between two starts that a copy names."""


_PLACES: Final = "places-so-far"


class UnwritableCopyError(WireError):
    """The copy can't be written."""


class CopyWriter:
    """Writes the files of ``commitlog/`` below a folder.

    Parameters
    ----------
    folder
        The store that is made; ``commitlog/`` must not be there.
    begin
        The commit log offset from which on the broker has its log.
    file_bytes
        ``mappedFileSizeCommitLog``: no message reaches from one file into the next.

    A folder in which another writer has paused is gone on with.
    """

    def __init__(self, folder: Path, begin: int, file_bytes: int) -> None:
        self._folder = folder / "commitlog"
        self._places = folder / _PLACES
        self._file_bytes = file_bytes
        self._begin = begin - begin % file_bytes
        self._offsets = array("q")
        self._sizes = array("i")
        self._files: dict[int, int] = {}
        self._closing = ExitStack()
        self.end = 0
        """Behind the message that stands last."""
        if self._places.is_file():
            places = np.frombuffer(read_bytes(self._places), np.int64)
            self._offsets.frombytes(places[::2].tobytes())
            self._sizes.extend(places[1::2].tolist())
            self.end = int((places[::2] + places[1::2]).max(initial=0))
        self._folder.mkdir(parents=True, exist_ok=True)
        for start in (self._begin, *(int(path.name) for path in self._folder.iterdir())):
            self._file_of(start)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.close()

    @property
    def messages(self) -> int:
        """How many were put, the same one twice counted twice."""
        return len(self._offsets)

    def put(self, offset: int, raw: bytes) -> None:
        """Write a message to its commit log offset."""
        start = offset - offset % self._file_bytes
        self._write(self._file_of(start), raw, offset - start)
        self._offsets.append(offset)
        self._sizes.append(len(raw))
        self.end = max(self.end, offset + len(raw))

    def pause(self) -> None:
        """Note what was put, for a writer that goes on."""
        places = np.empty(2 * len(self._offsets), np.int64)
        places[::2], places[1::2] = self._offsets, self._sizes
        write_whole(self._places, places.tobytes())

    def finish(self, end: int) -> tuple[int, ...]:
        """Fill what is between the messages, and drop those from an offset on; gives where some of them start.

        The files must be whole and in the order of the log, so this is the last that is done.
        """
        offsets, order = np.unique(np.frombuffer(self._offsets, np.int64), return_index=True)
        sizes = np.frombuffer(self._sizes, np.int32)[order].astype(np.int64)
        is_kept = offsets < end
        offsets, ends = offsets[is_kept], (offsets + sizes)[is_kept]
        numbers = offsets // self._file_bytes
        for start in sorted(self._files):
            of_file = numbers == start // self._file_bytes
            brim = start + self._file_bytes if (numbers > start // self._file_bytes).any() else None
            self._fill(start, offsets[of_file], ends[of_file], brim)
        written = np.cumsum(sizes[is_kept]) // START_BYTES
        firsts = np.flatnonzero(np.diff(written, prepend=0) > 0)
        self._places.unlink(missing_ok=True)
        return tuple(offsets[firsts].tolist())

    def _fill(self, start: int, offsets: np.ndarray, ends: np.ndarray, brim: int | None) -> None:
        """Write the gaps of one file, up to its brim if others follow, else cut it behind its last message."""
        file = self._files[start]
        before = np.concatenate(([start], ends))
        behind = np.append(offsets, brim if brim is not None else before[-1])
        for place in np.flatnonzero(before < behind).tolist():
            self._write(file, gap_head(int(behind[place] - before[place])), int(before[place]) - start)
        os.ftruncate(file, int(behind[-1]) - start)
        if brim is None and not len(offsets):
            if start == self._begin:
                os.ftruncate(file, 1)
            else:
                (self._folder / f"{start:020d}").unlink()

    def _file_of(self, start: int) -> int:
        if start not in self._files:
            path = self._folder / f"{start:020d}"
            try:
                file = self._closing.enter_context(path.open("r+b" if path.exists() else "wb"))
            except OSError as error:
                raise self._unwritable(error) from None
            self._files[start] = file.fileno()
        return self._files[start]

    def _write(self, file: int, content: bytes, at: int) -> None:
        try:
            os.pwrite(file, content, at)
        except OSError as error:
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> UnwritableCopyError:
        return UnwritableCopyError(f"{self._folder}: {error.strerror}; name another folder for the copy")
