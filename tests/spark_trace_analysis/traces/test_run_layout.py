"""A run's folder is a table to Spark, pandas, Polars and DuckDB, older runs are read, and words may be any strings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spark_trace_analysis.judge import by_expressions
from spark_trace_analysis.judge.by_expressions import find_broken, read_pieces, read_rows
from spark_trace_analysis.judge.properties import ALL
from spark_trace_analysis.statistics.run_statistics import read_actions
from spark_trace_analysis.tables.traces import EVENTS_TABLE
from spark_trace_analysis.traces.event_source import FILES, LARGEST_FILE, WALKS
from spark_trace_analysis.traces.manifest import TraceRun
from spark_trace_analysis.traces.run_layout import MANIFEST, OLDER_MANIFEST
from spark_trace_analysis.traces.runs import find_runs
from spark_trace_analysis.traces.schema import EVENT_SCHEMA, as_events, difference
from spark_trace_analysis.traces.whole_traces import read_whole_traces
from tests.spark_trace_analysis.arbitrary_traces import as_parquet, drawn
from tests.spark_trace_analysis.traces.test_simulate import SMALL

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

WriteRun = Callable[..., TraceRun]
TRACES: Sequence[Sequence[tuple[Any, ...]]] = [[("half_stored", 0), ("message_delivered", 0)], [("crashed", -1)]]
HIDDEN = {"hidden_file_prefix": ["_", "."], "try_parse_hive_dates": False}


def test_the_folder_of_a_run_is_a_table(spark: SparkSession, write_run: WriteRun, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    write_run(folder, TRACES)
    assert (folder / MANIFEST).is_file()
    assert spark.read.parquet(str(folder)).count() == 3
    assert len(pd.read_parquet(folder)) == 3
    assert pl.scan_parquet(folder, **HIDDEN).collect().height == 3  # type: ignore[arg-type]
    assert len(duckdb.read_parquet(f"{folder}/*.parquet").fetchall()) == 3


@pytest.mark.parametrize("name", ["one", "5.3.3-crash+x,y", "a b=1%2F/c*?", "4711"])
def test_runs_in_partitions_are_one_table_whatever_their_names(
    spark: SparkSession, write_run: WriteRun, tmp_path: Path, name: str
) -> None:
    places = [("4.9.7", "n-1"), ("5.3.3+keeps_flag", f"n-{name}")]
    for profile, run in places:
        write_run(tmp_path / EVENTS_TABLE.folder(profile=profile, run=run), TRACES, profile)
    expected = [(profile, run, 3) for profile, run in places]
    assert [(run.parameters.profile.name, run.folder.parent.parent) for run in find_runs(tmp_path)] == [
        (profile, tmp_path) for profile, _ in places
    ]
    counted = spark.read.parquet(str(tmp_path)).groupBy("profile", "run").count().orderBy("profile")
    assert [tuple(row) for row in counted.collect()] == expected
    pandas = pd.read_parquet(tmp_path).astype({"profile": str, "run": str})
    assert list(pandas.groupby(["profile", "run"]).size().reset_index().itertuples(index=False, name=None)) == expected
    polars = pl.scan_parquet(tmp_path, **HIDDEN)  # type: ignore[arg-type]
    assert polars.group_by("profile", "run").len().sort("profile").collect().rows() == expected
    runs = duckdb.read_parquet(f"{tmp_path}/**/*.parquet", hive_partitioning=True)
    assert runs.aggregate("profile, run, COUNT(*)", "profile, run").order("profile").fetchall() == expected


def test_a_run_with_its_manifest_under_the_older_name_is_read(write_run: WriteRun, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "run"
    run = write_run(folder, TRACES)
    (folder / MANIFEST).rename(folder / OLDER_MANIFEST)
    assert find_runs(tmp_path / "runs") == find_runs(folder) == [run]


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int32(), pa.string()),
        pa.dictionary(pa.int8(), pa.large_string()),
    ],
    ids=str,
)
def test_words_may_be_strings_of_any_kind(kind: pa.DataType) -> None:
    columns, settings = drawn(5)
    content = as_parquet(columns)
    table = pq.read_table(pa.BufferReader(content))
    sink = pa.BufferOutputStream()
    pq.write_table(with_words(table, kind), sink)
    other = sink.getvalue()
    assert difference(pq.read_schema(pa.BufferReader(other))) is None
    for ours, theirs in zip(*(read_whole_traces(pa.BufferReader(each)) for each in (content, other)), strict=True):
        assert all((one == another).all() for one, another in zip(ours, theirs, strict=True))
    for one, another in ((read_actions(each) for each in (content, other)),):
        assert [one.names[code] for code in one.code] == [another.names[code] for code in another.code]
    assert as_events(pq.read_table(pa.BufferReader(other))).schema.equals(EVENT_SCHEMA)
    broken = [find_broken(read_rows(each), ALL, settings).sort("property", "trace") for each in (content, other)]
    assert broken[0].equals(broken[1])
    assert broken[0].height


def with_words(table: pa.Table, kind: pa.DataType) -> pa.Table:
    for name in ("event", "action"):
        words = table[name].cast(pa.string())
        words = words.dictionary_encode().cast(kind) if pa.types.is_dictionary(kind) else words.cast(kind)
        table = table.set_column(table.schema.get_field_index(name), name, words)
    return table


def test_numbers_are_no_words(tmp_path: Path) -> None:
    table = pq.read_table(pa.BufferReader(as_parquet(drawn(5)[0])))
    place = table.schema.get_field_index("event")
    assert difference(table.set_column(place, "event", table["step"]).schema) == (
        "has column 'event' as int32, expected dictionary<values=string, indices=int16, ordered=0>"
    )


@pytest.mark.parametrize("rows", [1, 7, 40, 1 << 20])
def test_expressions_judge_a_file_in_pieces_as_they_do_whole(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    columns, settings = drawn(5)
    content = as_parquet(columns)
    whole = read_rows(content)
    monkeypatch.setattr(by_expressions, "ROWS_A_PIECE", rows)
    pieces = list(read_pieces(content))
    assert pl.concat(pieces).equals(whole)
    assert all(piece["step"][0] == 0 for piece in pieces if piece.height)
    found = pl.concat([find_broken(piece, ALL, settings) for piece in pieces]).sort("property", "trace")
    assert found.equals(find_broken(whole, ALL, settings).sort("property", "trace"))


@pytest.mark.parametrize(
    ("traces", "steps", "traces_a_file", "files"),
    [
        (1_000_000, 12, 50_000, 20),
        (5_000_000, 12, 50_000, FILES),
        (10_000_000, 60, 100_000, FILES),
        (1_000_000_000, 12, 1_000_000, 1_000),
        (2_000_000_000, 1, 600_000 * LARGEST_FILE, 167),
        (3, 1_000_000, 1, 3),
    ],
)
def test_large_runs_have_large_files(traces: int, steps: int, traces_a_file: int, files: int) -> None:
    of = WALKS.traces_a_file(replace(SMALL, traces=traces, steps=steps))
    assert (of, -(-traces // of)) == (traces_a_file, files)
