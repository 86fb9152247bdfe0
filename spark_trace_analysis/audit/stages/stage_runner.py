"""Who runs the tasks of a stage: the threads of this process, or Spark (``spark_jobs.py``).

A task is a plain function of its item. What it makes are files, the last of which says that it is done
(``audit/columns/stage_files.py``), so that a task whose file is there is not begun.
"""

from __future__ import annotations

import ctypes
import os
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from threading import Event
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from files.remote_path import Location

Item = TypeVar("Item")

_M_MMAP_THRESHOLD: Final = -3
_LARGE_BYTES: Final = 128 << 10
"""Where glibc begins."""


class StageRunner(Protocol):
    """Runs stages one after the other."""

    def run(
        self, name: str, task: Callable[[Item], None], items: Iterable[Item], done: Callable[[Item], Location]
    ) -> None:
        """Run a task for each item whose file is not there yet, and come back when all are there.

        The name is for people who watch.
        """


def left_of(items: Iterable[Item], done: Callable[[Item], Location]) -> list[Item]:
    """The items whose file is not there yet."""
    return [item for item in items if not done(item).exists()]


class Threads:
    """Runs tasks on threads of this process: compiled kernels and Arrow let other threads run.

    Arrow takes its memory from the system meanwhile: its own allocator keeps for each thread what it was given.

    Parameters
    ----------
    count
        How many tasks run at a time; as many as there are processors for this process if it is None.
    """

    def __init__(self, count: int | None = None) -> None:
        self._count = count or len(os.sched_getaffinity(0))

    def run(
        self, _name: str, task: Callable[[Item], None], items: Iterable[Item], done: Callable[[Item], Location]
    ) -> None:
        """Run a task for each item whose file is not there; the first error ends the stage."""
        pa.set_memory_pool(pa.system_memory_pool())
        _free_large_blocks_at_once()
        left = left_of(items, done)
        if self._count == 1 or len(left) == 1:
            for item in left:
                task(item)
            return
        has_failed = Event()

        def begin(item: Item) -> None:
            if not has_failed.is_set():
                try:
                    task(item)
                except BaseException:
                    has_failed.set()
                    raise

        with ThreadPoolExecutor(self._count, "audit") as threads:
            running = [threads.submit(begin, item) for item in left]
            try:
                wait(running)
            finally:
                threads.shutdown(wait=False, cancel_futures=True)
        for one in running:
            one.result()
        give_back()


def _free_large_blocks_at_once() -> None:
    """Let the C library keep no large block, as it does once it has freed some (``mallopt(3)``)."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)


def give_back() -> None:
    """Let the C library return what was freed: it keeps the free memory of each thread (``malloc_trim`` of glibc)."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
