"""One file a region, to which states are appended in the order in which they were found."""

from __future__ import annotations

import os
import tempfile
import zlib
from typing import TYPE_CHECKING

from model_check.errors import BadFile, DiskFull

if TYPE_CHECKING:
    from pathlib import Path

BLOCK = 1 << 24
"""Bytes that one call of the system writes or reads."""


class StateFiles:
    """The files of a search's regions.

    Parameters
    ----------
    folder : Path
        Made when it is not there.
    regions : int
    keep : bool
        Whether the files have names and checksums and outlive the process.

    Attributes
    ----------
    sizes, checksums : list of int
        Bytes in each file, and their CRC-32 (0 in temporary files).

    Raises
    ------
    BadFile
        When there can be no such folder, or no files in it.
    """

    def __init__(self, folder: Path, regions: int, *, keep: bool) -> None:
        self.folder = folder
        self.keep = keep
        self.sizes = [0] * regions
        self.checksums = [0] * regions
        make_folder(folder, "states")
        self._descriptors: list[int] = []
        for region in range(regions):
            if keep:
                flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
                self._descriptors.append(os.open(self.path(region), flags, 0o644))
            else:
                with tempfile.TemporaryFile(dir=folder, prefix="halfcheck_states_") as file:
                    self._descriptors.append(os.dup(file.fileno()))

    def path(self, region: int) -> Path:
        """The file of a region, if it has a name."""
        return self.folder / f"states.{region}"

    def descriptor(self, region: int) -> int:
        """The open file of a region."""
        return self._descriptors[region]

    def append(self, region: int, words: memoryview) -> None:
        """Write words, as bytes, at the end of a region's file.

        Raises
        ------
        DiskFull
            When the system does not take them; what was appended before stays.
        """
        while words:
            block = words[:BLOCK]
            try:
                count = os.pwrite(self._descriptors[region], block, self.sizes[region])
            except OSError as error:
                message = f"{self.folder}: {os.strerror(error.errno or 0)} where states are kept"
                raise DiskFull(message) from error
            self.sizes[region] += count
            if self.keep:
                self.checksums[region] = zlib.crc32(block[:count], self.checksums[region])
            words = words[count:]

    def truncate(self, region: int, size: int) -> None:
        """Cut a file to a size, which it must have.

        Raises
        ------
        BadFile
            When it is shorter.
        """
        there = os.fstat(self._descriptors[region]).st_size
        if there < size:
            message = f"{self.path(region)}: {there:,} bytes where the checkpoint says {size:,}: start anew"
            raise BadFile(message)
        os.ftruncate(self._descriptors[region], size)
        self.sizes[region] = size

    def read(self, region: int, first: int, into: memoryview) -> None:
        """Read bytes of a region's file, from `first` on."""
        while into:
            count = os.preadv(self._descriptors[region], [into[:BLOCK]], first)
            if count == 0:
                raise EOFError(self.path(region))
            first += count
            into = into[count:]

    def sync(self) -> None:
        """Wait until everything is on the disk."""
        for descriptor in self._descriptors:
            os.fsync(descriptor)

    def close(self) -> None:
        """Close the files; their mappings stay."""
        while self._descriptors:
            os.close(self._descriptors.pop())


def make_folder(folder: Path, content: str) -> None:
    """Make a folder, unless it is there.

    Raises
    ------
    BadFile
        When it cannot be made; names its content.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = "is a file" if folder.is_file() else error.strerror
        message = f"{folder}: {why}: give a folder for {content} that is there, or can be made"
        raise BadFile(message) from error
