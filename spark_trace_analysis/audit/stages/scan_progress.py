"""How far the scan of a store has come, told from beside, because a Spark job blocks until it ends."""

from __future__ import annotations

from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from spark_trace_analysis.records.store_splits import Split


@contextmanager
def watched(
    on_progress: Callable[[int, int], None] | None, splits: Sequence[Split], done: Callable[[Split], Path]
) -> Iterator[None]:
    """Tell now and then how many bytes were read: those of the splits whose file is there."""
    if on_progress is None:
        yield
        return
    over = Event()
    total = sum(split.end - split.start for split in splits)

    def watch() -> None:
        while not over.wait(0.5):
            on_progress(sum(split.end - split.start for split in splits if done(split).exists()), total)

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
