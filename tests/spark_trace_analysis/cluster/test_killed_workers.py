"""On one machine a Python worker that dies by SIGKILL, as for want of memory, costs its task and not the job."""

import os
import signal
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.spark_trace_analysis.cluster.cluster_driver import JOBS
from tests.spark_trace_analysis.cluster.standalone_cluster import children_of, seconds_of


def python_workers(spark: SparkSession) -> list[int]:
    """The processes that run tasks: children of the one that Java started to fork them."""
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    return [worker for daemon in children_of(gateway.proc.pid) for worker in children_of(daemon)]


def seen_at_work(spark: SparkSession, before: dict[int, float], job: Future[Any]) -> int:
    """The first worker that does its share."""
    while True:
        assert not job.done(), "the job ended before a worker was seen at work"
        at_work = [one for one in python_workers(spark) if seconds_of(one) > before.get(one, 0) + 0.1]
        if at_work:
            return at_work[0]


def active_tasks(spark: SparkSession) -> int:
    tracker = spark.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    return sum(stage.numActiveTasks for stage in stages if stage)


def lose(spark: SparkSession, workers: list[int], job: Future[Any]) -> None:
    """Kill workers that stand still, when the job waits for them."""
    while not active_tasks(spark):
        assert not job.done(), "the job ended without a task"
        time.sleep(0.05)
    time.sleep(3)
    assert active_tasks(spark), "what stands still has no task"
    assert not job.done(), "the job ended without the share of what stands still"
    for worker in workers:
        os.kill(worker, signal.SIGKILL)


@pytest.mark.untraced
@pytest.mark.parametrize("name", ["simulated", pytest.param("audited", marks=pytest.mark.sweep)])
def test_a_job_goes_on_without_a_worker_that_is_killed_at_work(spark: SparkSession, tmp_path: Path, name: str) -> None:
    with ThreadPoolExecutor(1) as beside:
        before = {worker: seconds_of(worker) for worker in python_workers(spark)}
        job = beside.submit(JOBS[name], spark, tmp_path)
        worker = seen_at_work(spark, before, job)
        os.kill(worker, signal.SIGSTOP)
        lose(spark, [worker], job)
        found = job.result()
    again = tmp_path / "again"
    again.mkdir()
    assert found == JOBS[name](spark, again)


@pytest.mark.untraced
def test_judging_goes_on_without_workers_that_are_killed_before_their_first_file(
    spark: SparkSession, tmp_path: Path
) -> None:
    JOBS["written"](spark, tmp_path)
    with ThreadPoolExecutor(1) as beside:
        idle = python_workers(spark)
        for one in idle:
            os.kill(one, signal.SIGSTOP)
        job = beside.submit(JOBS["judged"], spark, tmp_path)
        lose(spark, idle, job)
        found = job.result()
    assert found == JOBS["judged"](spark, tmp_path)


def test_the_master_says_how_often_a_task_may_be_begun(spark: SparkSession) -> None:
    assert spark.sparkContext.master == "local[2,4]"
