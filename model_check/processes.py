"""Parts of a job, each in a process of its own, on all cores."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

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
    before = set(active_children())
    pool = ProcessPoolExecutor(os.cpu_count(), get_context("spawn"), initializer=_leave_interrupts_to_the_parent)
    try:
        yield pool.map
    except BaseException:
        for child in set(active_children()) - before:
            child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
