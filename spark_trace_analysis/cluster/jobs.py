"""Jobs of Spark: a task for each item that an earlier run has not finished; and the progress of a job."""

from __future__ import annotations

from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

Item = TypeVar("Item")


def run_stage(
    spark: SparkSession, name: str, run: Callable[[Item], None], items: Iterable[Item], done: Callable[[Item], Path]
) -> None:
    """Run a task for each item whose file is not there yet, under a name for Spark's own pages."""
    left = [item for item in items if not done(item).exists()]
    if left:
        context = spark.sparkContext
        context.setJobDescription(f"audit: {name}")
        context.parallelize(left, len(left)).foreach(run)


@contextmanager
def watched(look: Callable[[], None], every_seconds: float) -> Iterator[None]:
    """Report the progress of a job now and then, from another thread: Spark blocks until it ends."""
    over = Event()

    def watch() -> None:
        while not over.wait(every_seconds):
            look()

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
