"""A question for one trace or one version reads little of the others, in four engines: by the bytes that each reads."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

from model_check.world import World
from spark_trace_analysis.traces import simulate as simulation
from spark_trace_analysis.traces.event_source import WALKS
from spark_trace_analysis.traces.manifest import Parameters

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

TRACES, STEPS = 12_000, 30
"""Six row groups a file."""

TRACE = 7_777


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs as ``simulate --runs`` lays them out."""
    folder = tmp_path_factory.mktemp("pruned") / "runs"
    parameters = Parameters(World.of("5.3.3", ("crash",), "tiny"), 3, TRACES, STEPS, "weighted")
    content, _ = simulation._file_of(parameters, WALKS, 0, TRACES)
    for place in (parameters.partition, "profile=4.9.7/run=the-same"):
        (folder / place).mkdir(parents=True)
        (folder / place / "traces-000000000000.parquet").write_bytes(content)
        (folder / place / "_manifest.json").write_text("{}")
    return folder


def bytes_read(process: int | str = "self") -> int:
    """What a process has read so far, by the system's count of its calls."""
    return int(Path(f"/proc/{process}/io").read_text().split()[1])


def of_pandas(runs: Path, *conditions: tuple[str, Any]) -> int:
    return len(pd.read_parquet(runs, filters=[(name, "==", value) for name, value in conditions] or None))


def of_polars(runs: Path, *conditions: tuple[str, Any]) -> int:
    events = pl.scan_parquet(runs, hidden_file_prefix=["_", "."], try_parse_hive_dates=False)
    return events.filter(*(pl.col(name) == value for name, value in conditions)).collect().height


def of_duckdb(runs: Path, *conditions: tuple[str, Any]) -> int:
    with duckdb.connect() as connection:
        return len(connection.execute(sql(f"read_parquet('{runs}/**/*.parquet')", *conditions)).fetchall())


def sql(table: str, *conditions: tuple[str, Any]) -> str:
    wanted = " AND ".join(f"{name} = {value!r}" for name, value in conditions)
    return f"SELECT * FROM {table} WHERE {wanted or 'TRUE'}"  # noqa: S608 (nobody else says what stands in it)


ONE_TRACE = (("profile", "5.3.3"), ("trace", TRACE))
ONE_VERSION = ONE_TRACE[:1]


def of_them(engine: Callable[..., int], read: Callable[[], int]) -> tuple[dict[str, int], dict[str, int]]:
    """The rows that an engine gives of all, of one version and of one trace, and the bytes that it reads for them."""
    engine(*ONE_TRACE)  # what an engine loads of itself
    rows, taken = {}, {}
    for name, conditions in (("all", ()), ("version", ONE_VERSION), ("trace", ONE_TRACE)):
        before = read()
        rows[name] = engine(*conditions)
        taken[name] = read() - before
    return rows, taken


ROWS = {"all": 2 * TRACES * STEPS, "version": TRACES * STEPS, "trace": STEPS}


def are_pruned(taken: dict[str, int]) -> bool:
    """Of two versions of six row groups each: half of all for one version; for a trace a sixth of it, and the ends."""
    return taken["version"] < 0.6 * taken["all"] and taken["trace"] < 0.4 * taken["version"]


@pytest.mark.untraced
@pytest.mark.parametrize("engine", [of_pandas, of_polars, of_duckdb])
def test_one_trace_and_one_version_are_read_without_the_others(engine: Callable[..., int], runs: Path) -> None:
    rows, taken = of_them(partial(engine, runs), bytes_read)
    assert rows == ROWS
    assert are_pruned(taken), taken


@pytest.mark.untraced
def test_spark_reads_one_trace_and_one_version_without_the_others(spark: SparkSession, runs: Path) -> None:
    spark.read.parquet(str(runs)).createOrReplaceTempView("pruned")
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    java = jvm.java.lang.ProcessHandle.current().pid()
    rows, taken = of_them(
        lambda *conditions: spark.sql(sql("pruned", *conditions)).toArrow().num_rows, partial(bytes_read, java)
    )
    assert rows == ROWS
    assert are_pruned(taken), taken


def test_a_trace_is_in_one_row_group_whose_statistics_say_so(runs: Path) -> None:
    (file,) = runs.glob("profile=5.3.3/*/*.parquet")
    metadata = pq.ParquetFile(file).metadata
    spans = [metadata.row_group(group).column(0).statistics for group in range(metadata.num_row_groups)]
    assert [(span.min, span.max) for span in spans] == [(first, first + 1_999) for first in range(0, TRACES, 2_000)]
