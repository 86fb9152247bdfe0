"""Parts of a job, each in a process of its own on all cores; and a whole one in a process beside this one."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_PR_SET_PDEATHSIG: Final = 1
"""``prctl(2)``: the signal that comes when the parent has died."""

Part = TypeVar("Part")
Result = TypeVar("Result")


class Spread(Protocol):
    """A function that hands another one and its parts to the processes."""

    def __call__(self, function: Callable[[Part], Result], parts: Iterable[Part], /) -> Iterator[Result]:
        """Give the results in the order of the parts."""


@contextmanager
def on_all_cores() -> Iterator[Spread]:
    """New processes, to which functions of modules go with parts that can be pickled.

    What is not begun when the block ends never is. The results come with what the function raises, or with
    `BrokenProcessPool` where a process was killed.
    """
    with _pool(ProcessPoolExecutor(os.cpu_count(), get_context("spawn"), _obey_the_parent)) as pool:
        yield pool.map


def in_a_fork(job: Callable[[], Result]) -> Result:
    """What a job gives, done by a fork of this process, so that the memory that it takes is free when it is over.

    What is loaded here is shared with it. It is done here where a fork is not safe: anywhere but on Linux
    (``multiprocessing``). Raises as the processes above do.
    """
    if sys.platform != "linux":
        return job()
    gc.collect()
    gc.freeze()  # or the fork's collector would write into each page that both have, and it would have its own
    try:
        with _pool(ProcessPoolExecutor(1, get_context("fork"), _obey_and_clean_up)) as pool:
            return pool.submit(_done_or_over, job).result()
    finally:
        gc.unfreeze()


@contextmanager
def _pool(pool: ProcessPoolExecutor) -> Iterator[ProcessPoolExecutor]:
    before = set(active_children())
    try:
        yield pool
    except BaseException:
        for child in set(active_children()) - before:
            child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _done_or_over(job: Callable[[], Result]) -> Result:
    """The job's result; where it was ended, the process is over, which would wait for a next job from nobody."""
    try:
        return job()
    except SystemExit:
        os._exit(1)


def _obey_the_parent() -> None:
    """Leave interrupts to it, and die with it: who waits for jobs holds the other end of their pipe, too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _obey_and_clean_up() -> None:
    """The same; but the end is an exception, whose cleaning up leaves the terminal as it was."""
    _obey_the_parent()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
