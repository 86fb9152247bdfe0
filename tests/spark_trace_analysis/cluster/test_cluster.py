"""A standalone cluster of real processes: the same results as on this machine alone, also when some are killed."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from select import select
from typing import Any

import pytest
from pyspark.sql import SparkSession

from spark_trace_analysis.cluster.session import spark_session
from spark_trace_analysis.errors import BadOptionError
from tests.spark_trace_analysis.cluster.cluster_driver import JOBS
from tests.spark_trace_analysis.cluster.standalone_cluster import (
    PROJECT,
    StandaloneCluster,
    kill_tree,
    python_seconds,
    signal_tree,
)

LONGEST_ANSWER_SECONDS = 600


class Driver:
    """An application on the cluster, in a process of its own."""

    def __init__(self, cluster: StandaloneCluster, folder: Path) -> None:
        command = (
            sys.executable,
            "-m",
            "tests.spark_trace_analysis.cluster.cluster_driver",
            cluster.master,
            str(folder),
        )
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=cluster.environment, cwd=PROJECT, text=True
        )

    def begin(self, job: str) -> None:
        assert self.process.stdin is not None
        print(job, file=self.process.stdin, flush=True)

    def is_silent_for(self, seconds: float) -> bool:
        assert self.process.stdout is not None
        return not select([self.process.stdout], [], [], seconds)[0]

    def answer(self) -> Any:
        assert self.process.stdout is not None
        assert not self.is_silent_for(LONGEST_ANSWER_SECONDS), "the application does not answer"
        return json.loads(self.process.stdout.readline())


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandaloneCluster]:
    with StandaloneCluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture(scope="module")
def driver(cluster: StandaloneCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    one = Driver(cluster, tmp_path_factory.mktemp("driver"))
    try:
        assert one.answer() == "ready"
        yield one
    finally:
        kill_tree(one.process.pid)
        one.process.communicate()


@pytest.fixture(scope="module")
def on_this_machine(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    folder = tmp_path_factory.mktemp("local")
    return lambda job: json.loads(json.dumps(JOBS[job](spark, folder)))


def lose(driver: Driver, job: str, executor: int) -> Any:
    """Kill an executor in the midst of its share of a job: it is stopped once its Python is at work, then killed."""
    before = python_seconds(executor)
    driver.begin(job)
    while not any(now > before.get(process, 0) + 0.1 for process, now in python_seconds(executor).items()):
        assert driver.is_silent_for(0.02), "the job ended before its Python was seen at work"
    signal_tree(executor, signal.SIGSTOP)
    assert driver.is_silent_for(4), "the job ended without the share of the executor that stands still"
    kill_tree(executor)
    return driver.answer()


def lose_before_it_begins(driver: Driver, job: str, executor: int, worker: int) -> Any:
    """Kill an executor and its worker while a job waits for their share: the executor stands still from the start."""
    signal_tree(executor, signal.SIGSTOP)
    driver.begin(job)
    assert driver.is_silent_for(8), "the job ended without the share of the executor that stands still"
    kill_tree(worker)
    kill_tree(executor)
    return driver.answer()


@pytest.mark.sweep
@pytest.mark.untraced
def test_workers_get_this_project_from_the_driver(cluster: StandaloneCluster, driver: Driver) -> None:
    driver.begin("where_code_is")
    files = driver.answer()
    assert len(files) == len(set(files)) == 2
    assert all(str(cluster.folder / f"work-{n}") in file for n, file in enumerate(files))
    kernels = sorted(cluster.folder.glob("work-*/*/*/halfcheck-project/kernels/steps_*.o"))
    assert len(kernels) == 2


@pytest.mark.sweep
@pytest.mark.untraced
def test_a_simulation_goes_on_without_a_killed_executor(
    cluster: StandaloneCluster, driver: Driver, on_this_machine: Callable[[str], Any]
) -> None:
    assert lose(driver, "simulated", cluster.executors()[0]) == on_this_machine("simulated")


@pytest.mark.sweep
@pytest.mark.untraced
def test_judging_goes_on_without_a_killed_worker_and_its_executor(
    cluster: StandaloneCluster, driver: Driver, on_this_machine: Callable[[str], Any]
) -> None:
    driver.begin("written")
    assert driver.answer() == on_this_machine("written") == 6
    worker = cluster.workers()[1]
    found = lose_before_it_begins(driver, "judged", cluster.executors_of(worker)[0], worker)
    assert found == on_this_machine("judged")


@pytest.mark.sweep
@pytest.mark.untraced
def test_an_audit_goes_on_without_the_only_executor_that_was_left(
    cluster: StandaloneCluster, driver: Driver, on_this_machine: Callable[[str], Any]
) -> None:
    (left,) = cluster.executors()
    assert lose(driver, "audited", left) == on_this_machine("audited")


def test_a_master_that_nobody_is_behind_is_said_at_once() -> None:
    answer = r"--master spark://127\.0\.0\.1:9: no master answers"
    with pytest.raises(BadOptionError, match=answer), spark_session("spark://127.0.0.1:9"):
        pass


@pytest.mark.parametrize("word", ["memory=4g", "spark.executor.memory", "spark.master=local", "=1"])
def test_a_setting_that_is_none_is_refused(word: str) -> None:
    with pytest.raises(BadOptionError, match="--conf"), spark_session("local[1]", conf=[word]):
        pass
