"""Spark as the runner of an audit's stages: a task for each item that an earlier run has not finished."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from spark_trace_analysis.audit.stages.stage_runner import left_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from pyspark.sql import SparkSession

Item = TypeVar("Item")


class SparkJobs:
    """A :class:`~spark_trace_analysis.audit.stages.stage_runner.StageRunner`: a job a stage."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def run(self, name: str, task: Callable[[Item], None], items: Iterable[Item], done: Callable[[Item], Path]) -> None:
        """Run a task for each item whose file is not there, under a name for Spark's own pages."""
        left = left_of(items, done)
        if left:
            context = self._spark.sparkContext
            context.setJobDescription(f"audit: {name}")
            context.parallelize(left, len(left)).foreach(task)
