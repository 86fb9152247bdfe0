"""The table of verdicts: each trace and property once, as both ways of judging see it, whole or not at all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow.parquet as pq
import pytest

from files.content import read_json
from files.reading import read_bytes
from spark_trace_analysis.errors import BadOptionError, DisagreementError
from spark_trace_analysis.judge.both_ways import TraceJudgement, judge
from spark_trace_analysis.judge.by_expressions import find_broken, read_rows
from spark_trace_analysis.judge.properties import ALL
from spark_trace_analysis.judge.verdict_table import write_verdicts
from spark_trace_analysis.traces.runs import settings_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from spark_trace_analysis.traces.manifest import TraceRun
    from tests.spark_trace_analysis.conftest import WriteRun


@pytest.fixture(scope="module")
def judged(spark: SparkSession, simulated: list[TraceRun], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("judged") / "analysis"
    write_verdicts(spark, simulated, judge(spark, simulated), out)
    return out


def verdicts_of(judged: Path, run: TraceRun) -> pl.DataFrame:
    table = pl.scan_parquet(judged / "verdicts", try_parse_hive_dates=False)
    return table.filter(pl.col("run") == run.folder.name).collect()


def test_each_trace_has_one_verdict_on_each_property(judged: Path, simulated: list[TraceRun]) -> None:
    for run in simulated:
        found = verdicts_of(judged, run)
        assert found.height == run.parameters.traces * len(ALL)
        assert found.select("property", "trace").n_unique() == found.height
        assert (found["is_broken"] == found["broken_at"].is_not_null()).all()
        assert found["profile"].unique().to_list() == [run.parameters.profile.name]


def test_the_expressions_break_the_same_traces_at_the_same_events(judged: Path, simulated: list[TraceRun]) -> None:
    """The kernels wrote it."""
    for run in simulated:
        broken = find_broken(read_rows(read_bytes(run.folder / run.manifest.files[0].name)), ALL, settings_of(run))
        expected = sorted(broken.select("property", "trace", pl.col("events") - 1).rows())
        found = verdicts_of(judged, run).filter(pl.col("is_broken")).with_columns(pl.col("property").cast(pl.String))
        assert sorted(found.select("property", "trace", "broken_at").rows()) == expected != []


def test_a_row_group_holds_one_property_and_traces_in_order(judged: Path) -> None:
    for path in judged.glob("verdicts/*/*/*.parquet"):
        file = pq.ParquetFile(path)
        names = []
        for group in range(file.num_row_groups):
            known = [file.metadata.row_group(group).column(place).statistics for place in (0, 1)]
            traces = file.read_row_group(group, ["trace"])["trace"].to_pylist()
            assert known[0].min == known[0].max
            assert (known[1].min, known[1].max) == (traces[0], traces[-1])
            assert traces == sorted(traces)
            names.append(known[0].min)
        assert names == [each.property_id for each in ALL]


def test_the_manifest_names_the_files_and_the_runs_are_told(judged: Path, simulated: list[TraceRun]) -> None:
    manifest = read_json(judged / "_manifest.json")
    there = sorted(path.relative_to(judged).as_posix() for path in judged.glob("verdicts/*/*/*.parquet"))
    assert [file["file"] for file in manifest["files"]] == there
    assert manifest["tables"] == {"verdicts": 1, "runs": 1}
    told = pl.read_parquet(judged / "runs")
    assert told.select("run", "environment", "traces", "events").rows() == [
        (run.folder.name, run.parameters.environment_name, run.parameters.traces, run.manifest.events)
        for run in simulated
    ]


def test_a_property_that_a_run_cannot_show_has_no_verdict(
    spark: SparkSession, write_run: WriteRun, tmp_path: Path
) -> None:
    from spark_trace_analysis.traces.runs import write_settings

    run = write_run(tmp_path / "run", [[("half_stored", 0), ("message_delivered", 0)]])
    write_settings(run.folder, settings_of(run), ["half_stored", "message_delivered"])
    write_verdicts(spark, [run], judge(spark, [run]), tmp_path / "out")
    found = set(verdicts_of(tmp_path / "out", run)["property"].to_list())
    assert found == {each.property_id for each in ALL if not each.needs}


def test_verdicts_that_were_not_judged_so_are_not_written(
    spark: SparkSession, write_run: WriteRun, tmp_path: Path
) -> None:
    run = write_run(tmp_path / "run", [[("half_stored", 0), ("message_delivered", 0)]])
    judgement = judge(spark, [run])
    first, *others = judgement.counts
    changed: TraceJudgement = replace(judgement, counts=(replace(first, violations=7), *others))
    with pytest.raises(DisagreementError, match=rf"{first.property_id} in .*run: 0 traces were written as .* 7 were"):
        write_verdicts(spark, [run], changed, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_place_that_takes_nothing_gets_one_line(spark: SparkSession, write_run: WriteRun, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [[("half_stored", 0)]])
    judgement = judge(spark, [run])
    with pytest.raises(BadOptionError, match=r"--out /proc/new: can't be written \(No such file or directory\)"):
        write_verdicts(spark, [run], judgement, Path("/proc/new"))


def test_spark_shows_jobs_by_what_they_do(spark: SparkSession, judged: Path) -> None:
    java: Any = spark.sparkContext._jsc
    jobs = java.sc().statusStore().jobsList(None)
    told = {jobs.apply(place).description() for place in range(jobs.size())}
    shown = {each.get() for each in told if each.isDefined()}
    assert {f"halfcheck: judge 9,000 traces by {way}" for way in ("kernel", "expressions")} <= shown
    assert "halfcheck: write the verdicts on 9,000 traces" in shown
    assert any(one.startswith("halfcheck: simulate 3,000 traces of 5.3.3, ") for one in shown)
    assert spark.sparkContext.getLocalProperty("spark.job.description") is None
