"""The session: who may be a master, whose Python works, who may connect, and what the user has to read."""

import gc
import sys

import pyspark
import pytest
from pyspark.sql import SparkSession

from spark_trace_analysis.cluster.session import failures_in_one_line, spark_session
from spark_trace_analysis.errors import BadOptionError, SparkFailedError


@pytest.mark.parametrize("master", ["", "nowhere", "local[0]", "local[x]", "spark://host", "http://host:80"])
def test_a_master_of_no_known_form_is_refused(master: str) -> None:
    with pytest.raises(BadOptionError, match="--master"), spark_session(master):
        pass


def test_workers_run_this_python_on_loopback_in_utc(spark: SparkSession) -> None:
    workers = spark.sparkContext.parallelize([0], 1).map(lambda _: sys.executable).collect()
    assert workers == [sys.executable]
    assert spark.conf.get("spark.driver.bindAddress") == "127.0.0.1"
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.sparkContext.uiWebUrl is None


def test_a_worker_begins_with_numba_loaded_and_out_of_the_collectors_sight(spark: SparkSession) -> None:
    workers = spark.sparkContext.parallelize([0], 1).map(lambda _: ("numba" in sys.modules, gc.get_freeze_count()))
    ((is_loaded, frozen),) = workers.collect()
    assert is_loaded
    assert frozen > 100_000


def test_a_worker_imports_the_pyspark_that_is_installed_and_never_lists_its_zips(spark: SparkSession) -> None:
    def where(_number: int) -> tuple[str | None, list[str]]:
        return sys.modules["pyspark"].__file__, [
            entry for entry in sys.path_importer_cache if "pyspark/python" in entry
        ]

    assert spark.sparkContext.parallelize([0], 1).map(where).collect() == [(pyspark.__file__, [])]


def test_a_failing_job_ends_in_one_line(spark: SparkSession) -> None:
    def fail(_number: int) -> None:
        message = "the walk fell over"
        raise ValueError(message)

    with pytest.raises(SparkFailedError) as failure, failures_in_one_line():
        spark.sparkContext.parallelize([1], 1).map(fail).collect()
    assert str(failure.value) == "Spark gave up: ValueError: the walk fell over"


@pytest.mark.parametrize("kind", [ConnectionRefusedError, ConnectionResetError])
def test_a_java_that_was_killed_is_said_in_one_line(kind: type[OSError]) -> None:
    with (
        pytest.raises(SparkFailedError, match=r"Spark gave up: its Java has ended \(Connection \w+"),
        failures_in_one_line(),
    ):
        raise kind(111, f"Connection {kind.__name__[10:17].lower()}")


def test_a_reader_that_has_gone_is_no_failure_of_sparks() -> None:
    with pytest.raises(BrokenPipeError), failures_in_one_line():
        raise BrokenPipeError
