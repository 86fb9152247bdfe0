"""On one machine a Python worker that dies by SIGKILL, as for want of memory, costs its task and not the job."""

import os
import signal
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.spark_trace_analysis.cluster_driver import JOBS
from tests.spark_trace_analysis.standalone_cluster import children_of, seconds_of


def python_workers(spark: SparkSession) -> list[int]:
    """The processes that run tasks: children of the one that Java started to fork them."""
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    return [worker for daemon in children_of(gateway.proc.pid) for worker in children_of(daemon)]


def lose_a_worker(spark: SparkSession, before: dict[int, float], job: Future[Any]) -> None:
    """Kill a worker in its share: it is stopped once it is at work, and killed when the job waits for it."""
    while True:
        assert not job.done(), "the job ended before a worker was seen at work"
        at_work = [one for one in python_workers(spark) if seconds_of(one) > before.get(one, 0) + 0.1]
        if at_work:
            break
    os.kill(at_work[0], signal.SIGSTOP)
    time.sleep(3)
    tracker = spark.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    assert any(stage and stage.numActiveTasks for stage in stages), "the worker that stands still has no task"
    assert not job.done(), "the job ended without the share of the worker that stands still"
    os.kill(at_work[0], signal.SIGKILL)


@pytest.mark.untraced
@pytest.mark.parametrize("name", ["simulated", "judged", "audited"])
def test_a_job_goes_on_without_a_killed_worker(spark: SparkSession, tmp_path: Path, name: str) -> None:
    if name == "judged":
        JOBS["simulated"](spark, tmp_path)
    with ThreadPoolExecutor(1) as beside:
        before = {worker: seconds_of(worker) for worker in python_workers(spark)}
        job = beside.submit(JOBS[name], spark, tmp_path)
        lose_a_worker(spark, before, job)
        found = job.result()
    again = tmp_path / "again"
    again.mkdir()
    if name == "judged":
        again = tmp_path
    assert found == JOBS[name](spark, again)


def test_the_master_says_how_often_a_task_may_be_begun(spark: SparkSession) -> None:
    assert spark.sparkContext.master == "local[2,4]"
