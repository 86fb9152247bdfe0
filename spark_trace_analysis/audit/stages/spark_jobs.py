"""Spark as the runner of an audit's stages: a task for each item that an earlier run has not finished."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from spark_trace_analysis.audit.stages.stage_runner import left_of
from spark_trace_analysis.errors import SparkFailedError
from spark_trace_analysis.traces.same_sources import other_version, sources_here

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyspark.sql import SparkSession

    from files.brought import BroughtStore
    from files.remote_path import Location

Item = TypeVar("Item")


class SparkJobs:
    """A :class:`~spark_trace_analysis.audit.stages.stage_runner.StageRunner`: a job a stage.

    Parameters
    ----------
    store
        The store to bring to each machine, if it lies on another file system.
    """

    def __init__(self, spark: SparkSession, store: BroughtStore | None = None) -> None:
        self._spark = spark
        self._store = store

    def run(
        self, name: str, task: Callable[[Item], None], items: Iterable[Item], done: Callable[[Item], Location]
    ) -> None:
        """Run a task for each item whose file is not there, under a name for Spark's own pages."""
        left = left_of(items, done)
        if left:
            context = self._spark.sparkContext
            context.setJobDescription(f"audit: {name}")
            context.parallelize(left, len(left)).foreach(_by_the_same_sources(self._store, task))


def _by_the_same_sources(store: BroughtStore | None, task: Callable[[Item], None]) -> Callable[[Item], None]:
    """A task that begins when the store is on its machine, and where the sources are the driver's."""
    sources = sources_here()

    def run(item: Item) -> None:
        refused = other_version(sources)
        if refused is not None:
            raise SparkFailedError(refused)
        if store is not None:
            store.see_to_it()
        task(item)

    return run
