"""Memory that is reserved at once and committed where it is used, and files that are mapped over a part of it.

A page costs nothing before it is first written. Where the system offers huge pages they are asked for, since the first
touch of many small ones takes longer than the search itself. Where some were set aside (``vm.nr_hugepages``) these are
taken first: a virtual machine holds on to them, while other memory is lent anew by its host each time.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from model_check.errors import ModelCheckError

SMALL = 1 << 22  # bytes below which memory is taken as usual
SHARE = 0.9  # the part of the available memory that a search without a limit takes
HUGE_PAGE = 1 << 21  # bytes of a huge page

_POOL = Path("/sys/kernel/mm/hugepages/hugepages-2048kB")
MAP_HUGE_PAGES = 0x40000 | 21 << 26
"""MAP_HUGETLB, with pages of 2 MiB: the flags of `mmap` that take huge pages which were set aside."""

_MAP_FIXED = 0x10
_ANONYMOUS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
_NO_RESERVE = 0x4000 if sys.platform == "linux" else 0
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def bytes_of(size: str) -> int:
    """A size such as 512M or 8G (units of 1024, K to T) in bytes.

    Raises
    ------
    ModelCheckError
        When it is no size.

    Examples
    --------
    >>> bytes_of("1.5G")
    1610612736
    """
    given = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", size.strip(), re.IGNORECASE)
    if given is None:
        message = f"no size: {size!r}; give a number with K, M, G or T, such as 512M or 8G"
        raise ModelCheckError(message)
    return int(float(given[1]) * _UNITS[given[2].upper()])


def size_text(size: float) -> str:
    """A number of bytes for people.

    Examples
    --------
    >>> size_text(1610612736)
    '1.5 GiB'
    """
    for unit in ("bytes", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.4g} GiB"


def available_bytes() -> int:
    """The memory of the machine, and of its control group, that this process may take without swapping."""
    available = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        available = next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
    with suppress(OSError, ValueError):  # "max" is no number
        limit, used = (int(Path(f"/sys/fs/cgroup/memory.{what}").read_text("ascii")) for what in ("max", "current"))
        available = min(available, limit - used)
    return int(available * SHARE)


def zeros(length: int, dtype: type[np.generic]) -> npt.NDArray[Any]:
    """An array of zeros whose pages are committed when they are written; a large one is aligned for huge pages.

    `OSError` when the system refuses to reserve so much.
    """
    size = length * np.dtype(dtype).itemsize
    if size < SMALL:
        return np.zeros(length, dtype=dtype)
    whole_pages = -(-size // HUGE_PAGE) * HUGE_PAGE
    memory = mmap.mmap(-1, whole_pages + HUGE_PAGE, flags=_ANONYMOUS | _NO_RESERVE)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a system without huge pages is only slower
            memory.madvise(mmap.MADV_HUGEPAGE)
    before = -np.frombuffer(memory, dtype=np.uint8).ctypes.data % HUGE_PAGE
    return np.frombuffer(memory, dtype=dtype, count=length, offset=before)


def zeros_up_to(length: int, least: int, dtype: type[np.generic]) -> npt.NDArray[Any]:
    """As many zeros as the system reserves: `length`, or half as often as needed, but not fewer than `least`."""
    while length > least:
        try:
            return zeros(length, dtype)
        except OSError:
            length //= 2
    return zeros(least, dtype)


def replace_by_file(array: npt.NDArray[Any], first: int, last: int, descriptor: int, offset: int) -> None:
    """Map a file from `offset` on, read-only, over bytes first … last - 1 of an array of `zeros`.

    Their memory is released. All three are multiples of the page size; the file has the bytes already.

    Raises
    ------
    OSError
        When the system refuses.
    """
    _map_at(array.ctypes.data + first, last - first, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, offset)


def huge_pages() -> int:
    """Bytes of the free huge pages that were set aside; 0 where the system has no such thing."""
    with suppress(OSError, ValueError):
        free, promised = (int((_POOL / f"{what}_hugepages").read_text("ascii")) for what in ("free", "resv"))
        return (free - promised) * HUGE_PAGE
    return 0


def take_huge_pages(array: npt.NDArray[Any], first: int, last: int) -> int:
    """Map huge pages that were set aside over bytes first … last - 1 of an array of `zeros`, not yet written.

    A part of a page at the end is left out.

    Returns
    -------
    int
        The bytes in huge pages: 0 when fewer are free, or when the array is not aligned.
    """
    address, size = array.ctypes.data + first, (last - first) // HUGE_PAGE * HUGE_PAGE
    if address % HUGE_PAGE or not 0 < size <= huge_pages():
        return 0
    usable = mmap.PROT_READ | mmap.PROT_WRITE
    try:
        _map_at(address, size, usable, _ANONYMOUS | MAP_HUGE_PAGES, -1, 0)
    except OSError:  # another process was quicker, and the old mapping may be gone
        _map_at(address, size, usable, _ANONYMOUS | _NO_RESERVE, -1, 0)
        return 0
    return size


def _map_at(address: int, size: int, usable: int, flags: int, descriptor: int, offset: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    if libc.mmap(address, size, usable, flags | _MAP_FIXED, descriptor, offset) != address:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def advise(array: npt.NDArray[Any], first: int, last: int, advice: int) -> None:
    """Tell the system how bytes first … last - 1 of an array are used (`mmap.MADV_…`); only a hint."""
    libc = ctypes.CDLL(None)
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    libc.madvise(array.ctypes.data + first, last - first, advice)


def mapped_bytes() -> int:
    """Bytes of mapped files that are in this process's memory at the moment; 0 where the system does not tell."""
    with suppress(OSError):
        return int(Path("/proc/self/statm").read_text("ascii").split()[2]) * mmap.PAGESIZE
    return 0
