"""What was found before a kill is found again without looking, and nothing is counted twice."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_trace_analysis.errors import BadTracesError, DisagreementError
from spark_trace_analysis.judge import by_expressions, by_kernel
from spark_trace_analysis.judge.both_ways import JudgeFile, judge, judge_files
from spark_trace_analysis.judge.properties import ALL
from spark_trace_analysis.traces.manifest import TraceRun
from tests.spark_trace_analysis.traces_by_hand import BY_HAND

WriteRun = Callable[..., TraceRun]
KERNELS, EXPRESSIONS = by_kernel.judge_file, by_expressions.judge_file
SOME = [each for each in ALL if each.property_id in {"S1", "S3"}]


@pytest.fixture
def run(write_run: WriteRun, tmp_path: Path) -> TraceRun:
    return write_run(tmp_path / "run", [trace for trace, _ in BY_HAND])


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def damage_in_place(run: TraceRun) -> None:
    """Change a byte, and neither the size nor the time of the file."""
    path = Path(str(run.folder)) / run.manifest.files[0].name
    there = path.stat()
    content = bytearray(path.read_bytes())
    content[20] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(there.st_atime_ns, there.st_mtime_ns))


@pytest.mark.parametrize("way", [KERNELS, EXPRESSIONS], ids=["kernels", "expressions"])
def test_a_file_that_was_judged_is_not_judged_again(
    spark: SparkSession, run: TraceRun, work: Path, way: JudgeFile
) -> None:
    before = judge_files(spark, [run], SOME, way, work)
    assert [path.suffix for path in work.iterdir()] == [".json"]
    damage_in_place(run)
    assert judge_files(spark, [run], SOME, way, work) == before
    with pytest.raises(BadTracesError, match="SHA-256"):
        judge_files(spark, [run], ALL[:2], way, work)
    os.utime(Path(str(run.folder)) / run.manifest.files[0].name)
    with pytest.raises(BadTracesError, match="SHA-256"):
        judge_files(spark, [run], SOME, way, work)


def test_one_way_does_not_take_what_the_other_has_found(spark: SparkSession, run: TraceRun, work: Path) -> None:
    judge_files(spark, [run], SOME, KERNELS, work)
    judge_files(spark, [run], SOME, EXPRESSIONS, work)
    assert len(list(work.iterdir())) == 2


def test_what_is_kept_takes_part_and_is_gone_at_the_end(spark: SparkSession, run: TraceRun, work: Path) -> None:
    judge_files(spark, [run], SOME, KERNELS, work)
    (cached,) = work.iterdir()
    rows = json.loads(cached.read_text())
    cached.write_text(json.dumps([{**row, "violations": row["violations"] + 1} for row in rows]))
    with pytest.raises(DisagreementError):
        judge(spark, [run], SOME, work)
    cached.unlink()
    anew = judge(spark, [run], SOME, work)
    assert (sorted(anew.violations()["5.3.3"]["quiet"]), anew.files_found) == (["S1", "S3"], 0)
    assert not work.exists()


@pytest.mark.sweep
def test_a_second_call_says_of_how_many_files_it_knew(spark: SparkSession, run: TraceRun, work: Path) -> None:
    judge_files(spark, [run], SOME, KERNELS, work)
    assert judge(spark, [run, run], ALL, work).files_found == 0
    work.mkdir()
    judge_files(spark, [run], SOME, KERNELS, work)
    assert judge(spark, [run], SOME, work).files_found == 1
