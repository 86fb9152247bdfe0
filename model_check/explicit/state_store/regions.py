"""The words of all states: a region a thread, the newest states in memory, the oldest spilled to files if need be.

A region only ever grows at its end. Spilled words are first written to the region's file; then the file is mapped over
their memory, so that no address changes and the kernels need not know.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
import numpy.typing as npt

from model_check.errors import BadFile, DiskFull, OutOfRoom
from model_check.explicit.state_store.reserved_memory import (
    HUGE_PAGE,
    advise,
    mapped_bytes,
    replace_by_file,
    take_huge_pages,
    zeros_up_to,
)

if TYPE_CHECKING:
    from pathlib import Path

    from model_check.explicit.state_store.resources import Resources

Counts = npt.NDArray[np.int64]  # one number a region, shape (regions,)
MOST_STATES = (1 << 32) - (1 << 20)  # states whose numbers fit into a slot of the hash table
LEAST_ROOM = 1 << 14  # states for which a region has room, at least
PAGE = 1 << 18  # a region is a multiple of so many states, so that regions share no page, not even a huge one
PIECE = 1 << 16  # the unit of spilling in bytes: a multiple of the usual page sizes
BLOCK = 1 << 24  # bytes that one call of the system writes or reads


class Regions:
    """Packed states in regions.

    The oldest states may take `huge_bytes` of the huge pages that were set aside.
    """

    def __init__(self, regions: int, width: int, resources: Resources, huge_bytes: int = 0) -> None:
        self.width = width
        self.counts: Counts = np.zeros(regions, dtype=np.int64)  # states in each region
        self.resources = resources
        most_room = MOST_STATES // regions // PAGE * PAGE
        if not resources.spill:
            most_room = min(most_room, (resources.memory_bytes() // (8 * width) // PAGE + 1) * PAGE)
        size = regions * width
        # the words, region by region: shape (regions × room × width,)
        self.states: npt.NDArray[np.int64] = zeros_up_to(size * most_room, size * LEAST_ROOM, np.int64)
        room = len(self.states) // size
        self.room = room // PAGE * PAGE or room // 512 * 512  # states for which each region has room
        starts = [region * self.room * width * 8 for region in range(regions)]
        share = min(huge_bytes // regions, self.room * width * 8)
        taken = [take_huge_pages(self.states, start, start + share) for start in starts]
        self._piece = HUGE_PAGE if any(taken) else PIECE
        self._mapped = [0] * regions
        self._mapped_before = mapped_bytes()
        self.files: StateFiles | None = None
        if resources.checkpoint is not None or resources.disk is not None:
            self._open()

    @property
    def bytes_in_memory(self) -> int:
        """Bytes of the states that are in memory."""
        return int(self.counts.sum()) * self.width * 8 - self.bytes_on_disk

    @property
    def bytes_on_disk(self) -> int:
        """Bytes of the spilled states."""
        return sum(self._mapped)

    def bytes_of(self, region: int, first: int, last: int) -> memoryview:
        """Bytes first … last - 1 of a region."""
        start = region * self.room * self.width * 8
        return self.states.data.cast("B")[start + first : start + last]

    def save(self) -> StateFiles:
        """Append all states to the files that are not in them yet; `OutOfRoom` when the disk is full."""
        files = self._open()
        for region, count in enumerate(self.counts):
            files.append(region, self.bytes_of(region, files.sizes[region], int(count) * self.width * 8))
        return files

    def restore(self, counts: Counts, checksums: list[int], most_bytes: int) -> None:
        """Read the states from the files, at most so many bytes of them into memory: the newest of each region.

        `BadFile` when a file is too short, or its checksum is another.
        """
        files = self._open()
        self.counts[:] = counts
        for region, count in enumerate(counts):
            size = int(count) * self.width * 8
            files.truncate(region, size)
            self._map(region, self._pieces(size - most_bytes // len(counts)))
            files.read(region, self._mapped[region], self.bytes_of(region, self._mapped[region], size))
            files.checksums[region] = crc32(self.bytes_of(region, 0, size))
            if files.checksums[region] != checksums[region]:
                message = f"{files.path(region)}: damaged, its checksum is not that of the checkpoint: start anew"
                raise BadFile(message)

    def spill(self, most_bytes: int) -> None:
        """Spill the oldest states until the others take at most so many bytes; `OutOfRoom` when the disk is full."""
        files = self._open()
        for region, count in enumerate(self.counts):
            size = int(count) * self.width * 8
            last = self._pieces(size - most_bytes // len(self.counts))
            if last > self._mapped[region]:
                files.append(region, self.bytes_of(region, files.sizes[region], max(last, files.sizes[region])))
                self._map(region, last)

    def trim(self, most_bytes: int) -> None:
        """Release mapped pages when more than so many bytes of them are in the process's memory."""
        if self.bytes_on_disk and mapped_bytes() - self._mapped_before > most_bytes:
            for region, last in enumerate(self._mapped):
                if last:
                    start = region * self.room * self.width * 8
                    advise(self.states, start, start + last, mmap.MADV_DONTNEED)

    def close(self) -> None:
        """Close the files; the states stay readable."""
        if self.files is not None:
            self.files.close()

    def _open(self) -> StateFiles:
        if self.files is None:
            keep = self.resources.checkpoint is not None
            self.files = StateFiles(self.resources.folder(), len(self.counts), keep=keep)
        return self.files

    def _map(self, region: int, last: int) -> None:
        first = self._mapped[region]
        if last <= first or self.files is None:
            return
        start = region * self.room * self.width * 8
        try:
            replace_by_file(self.states, start + first, start + last, self.files.descriptors[region], first)
        except OSError as error:
            message = f"{self.files.folder}: {os.strerror(error.errno or 0)} where states are mapped into memory"
            raise OutOfRoom(message) from error
        self._mapped[region] = last

    def _pieces(self, size: int) -> int:
        return max(size, 0) // self._piece * self._piece


# --- files ------------------------------------------------------------------------------------------------------------


class StateFiles:
    """One file a region, to which states are appended in the order in which they were found.

    With `keep`, they have names and checksums, and outlive the process.

    Raises
    ------
    BadFile
        When there can be no such folder, or no files in it.
    """

    def __init__(self, folder: Path, regions: int, *, keep: bool) -> None:
        self.folder = folder
        self.keep = keep
        self.sizes = [0] * regions  # bytes in each file
        self.checksums = [0] * regions  # their CRC-32; 0 in temporary files
        make_folder(folder, "states")
        self.descriptors: list[int] = []  # of the open files
        for region in range(regions):
            if keep:
                flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
                self.descriptors.append(os.open(self.path(region), flags, 0o644))
            else:
                with tempfile.TemporaryFile(dir=folder, prefix="halfcheck_states_") as file:
                    self.descriptors.append(os.dup(file.fileno()))

    def path(self, region: int) -> Path:
        """The file of a region, if it has a name."""
        return self.folder / f"states.{region}"

    def append(self, region: int, words: memoryview) -> None:
        """Write words, as bytes, at the end of a region's file.

        `DiskFull` when the system does not take them; what was appended before stays.
        """
        while words:
            block = words[:BLOCK]
            try:
                count = os.pwrite(self.descriptors[region], block, self.sizes[region])
            except OSError as error:
                message = f"{self.folder}: {os.strerror(error.errno or 0)} where states are kept"
                raise DiskFull(message) from error
            self.sizes[region] += count
            if self.keep:
                self.checksums[region] = crc32(block[:count], self.checksums[region])
            words = words[count:]

    def truncate(self, region: int, size: int) -> None:
        """Cut a file to a size, which it must have; `BadFile` when it is shorter."""
        there = os.fstat(self.descriptors[region]).st_size
        if there < size:
            message = f"{self.path(region)}: {there:,} bytes where the checkpoint says {size:,}: start anew"
            raise BadFile(message)
        os.ftruncate(self.descriptors[region], size)
        self.sizes[region] = size

    def read(self, region: int, first: int, into: memoryview) -> None:
        """Read bytes of a region's file, from `first` on."""
        while into:
            count = os.preadv(self.descriptors[region], [into[:BLOCK]], first)
            if count == 0:
                raise EOFError(self.path(region))
            first += count
            into = into[count:]

    def sync(self) -> None:
        """Wait until everything is on the disk."""
        for descriptor in self.descriptors:
            os.fsync(descriptor)

    def close(self) -> None:
        """Close the files; their mappings stay."""
        while self.descriptors:
            os.close(self.descriptors.pop())


def make_folder(folder: Path, content: str) -> None:
    """Make a folder, unless it is there; `BadFile`, which names its content, when it cannot be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = "is a file" if folder.is_file() else error.strerror
        message = f"{folder}: {why}: give a folder for {content} that is there, or can be made"
        raise BadFile(message) from error
