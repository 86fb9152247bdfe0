"""Memory that is reserved at once and paid for where it is used: nothing is copied when a search grows.

A page costs nothing before it is first written. Where the system offers huge pages they are asked for, since the first
touch of many small ones takes longer than the search itself.
"""

from __future__ import annotations

import mmap
import os
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

SMALL = 1 << 22
"""Bytes below which memory is taken as usual."""


def physical_bytes() -> int:
    """The memory of this machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def zeros(length: int, dtype: type[np.generic]) -> npt.NDArray[Any]:
    """An array of zeros whose pages are not there until they are written.

    Raises
    ------
    OSError
        When the system refuses to reserve so much.
    """
    size = length * np.dtype(dtype).itemsize
    if size < SMALL:
        return np.zeros(length, dtype=dtype)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    memory = mmap.mmap(-1, size, flags=flags)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a system without huge pages is only slower
            memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, dtype=dtype)


def zeros_up_to(length: int, least: int, dtype: type[np.generic]) -> npt.NDArray[Any]:
    """As many zeros as the system reserves: `length`, or half as often as needed, but not fewer than `least`."""
    while length > least:
        try:
            return zeros(length, dtype)
        except OSError:
            length //= 2
    return zeros(least, dtype)
