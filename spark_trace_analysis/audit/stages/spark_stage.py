"""Runs the tasks of one stage on Spark, those aside that an earlier run has finished."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from pyspark.sql import SparkSession

Item = TypeVar("Item")


def run_stage(
    spark: SparkSession, name: str, run: Callable[[Item], None], items: Iterable[Item], done: Callable[[Item], Path]
) -> None:
    """Run a task for each item.

    Parameters
    ----------
    name
        What Spark's own pages call the job.
    done
        The file of an item's task that is there when the task is done.
    """
    left = [item for item in items if not done(item).exists()]
    if left:
        context = spark.sparkContext
        context.setJobDescription(f"audit: {name}")
        context.parallelize(left, len(left)).foreach(run)
