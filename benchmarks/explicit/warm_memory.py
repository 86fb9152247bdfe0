"""How fast the machine gives memory, and having it give some before something is measured.

A virtual machine's host may take back what its guest has freed, and give it again page by page when it is touched: on
the machine of these figures at some 0.4 GiB a second, where memory that the guest still has is cleared at 10. What a
search then waits for is the host. It takes memory back within seconds, so that only what follows at once, and is short,
finds what was touched before.
"""

from __future__ import annotations

import mmap
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from model_check.explicit.state_store.reserved_memory import MAP_HUGE_PAGES, huge_pages

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = 4096
GIB = 1 << 30
SPARE = 1.3
"""How much more is touched than will be needed: which pages the next process gets is the system's choice."""


def warm_memory(needed: int) -> None:
    """Touch so many bytes and some more in a process of its own, so that they are free, and given, behind it."""
    first_touch(int(SPARE * needed))


def first_touch(size: int) -> float:
    """How fast a process of its own touches so many bytes for the first time, in GiB a second."""
    command = [sys.executable, "-m", __name__, str(size)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@contextmanager
def huge_pages_withheld() -> Iterator[int]:
    """Take all huge pages that were set aside, so that nobody else has any meanwhile, and touch each; how many bytes.

    A virtual machine has them from its host from then on, since the guest never frees them.
    """
    size = huge_pages()
    if not size:
        yield 0
        return
    with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_HUGE_PAGES) as memory:
        for page in range(0, size, PAGE):
            memory[page] = 1
        yield size


def main(size: int) -> None:
    """Touch each page and print how fast that was."""
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    started = time.perf_counter()
    for page in range(0, size, PAGE):
        memory[page] = 1
    print(size / GIB / (time.perf_counter() - started))


if __name__ == "__main__":
    main(int(sys.argv[1]))
