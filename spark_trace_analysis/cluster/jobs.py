"""Jobs that whoever began them waits for: their progress, and what they do in words for Spark's own pages."""

from __future__ import annotations

from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession


@contextmanager
def watched(look: Callable[[], None], every_seconds: float) -> Iterator[None]:
    """Report the progress of a job now and then, from another thread: who began it waits until it ends."""
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


@contextmanager
def described(spark: SparkSession, words: str) -> Iterator[None]:
    """Let Spark's web interface show the jobs of the block by what they do, as one group."""
    context = spark.sparkContext
    context.setJobGroup(words, f"halfcheck: {words}")
    try:
        yield
    finally:
        for name in ("spark.jobGroup.id", "spark.job.description"):
            context.setLocalProperty(name, None)  # type: ignore[arg-type]
