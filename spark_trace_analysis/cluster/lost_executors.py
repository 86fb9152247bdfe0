"""A job whose executors are all gone: Spark would wait in silence for new ones, for ever; here it ends, with a line.

Whoever has a cluster on which executors come and go sets how long is waited by :data:`VARIABLE`.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from spark_trace_analysis.cluster.jobs import watched
from spark_trace_analysis.errors import BadOptionError, SparkFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

VARIABLE: Final = "HALFCHECK_EXECUTORS_GONE_SECONDS"
USUAL_SECONDS: Final = 120.0
_LOOK_SECONDS: Final = 2.0


def executors_of(spark: SparkSession) -> int:
    """How many executors there are now, the driver's own not counted."""
    return int(spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size()) - 1  # noqa: SLF001 (no public way)


def longest_wait() -> float:
    """The seconds for which a job waits without any executor; raises `BadOptionError`."""
    text = os.environ.get(VARIABLE, "")
    if not text:
        return USUAL_SECONDS
    if not text.isdecimal() or not int(text):
        message = f"{VARIABLE}={text}: expected a number of seconds, such as 120"
        raise BadOptionError(message)
    return float(text)


@dataclass(slots=True)
class _Watch:
    """Counts for how long there has been no executor, and ends all jobs when that is too long."""

    count: Callable[[], int]
    end_all: Callable[[], None]
    longest: float
    clock: Callable[[], float] = monotonic
    since: float | None = field(default=None)
    is_over: bool = False

    def look(self) -> None:
        """Count them once."""
        if self.count():
            self.since = None
            return
        now = self.clock()
        self.since = now if self.since is None else self.since
        if now - self.since >= self.longest:
            self.is_over = True
            self.end_all()


@contextmanager
def ending_without_executors(spark: SparkSession, master: str) -> Iterator[None]:
    """End the jobs of a block where all executors have been gone for long; raises `SparkFailedError` then."""
    watch = _Watch(lambda: executors_of(spark), spark.sparkContext.cancelAllJobs, longest_wait())

    def look() -> None:
        with suppress(Py4JError, PySparkException, OSError):  # Java is gone: whoever waits for it is told
            watch.look()

    try:
        with watched(look, _LOOK_SECONDS):
            yield
    except (Py4JError, PySparkException) as failure:
        if not watch.is_over:
            raise
        message = (
            f"all executors of {master} have been gone for {watch.longest:.0f} s, and none has come; what is finished "
            "is kept, and the same command goes on with it"
        )
        raise SparkFailedError(message) from failure
