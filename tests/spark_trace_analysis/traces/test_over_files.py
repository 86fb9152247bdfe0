"""Every file of every run is looked at once, and damage ends the job in one line."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import Row, SparkSession

from model_check.world import World
from spark_trace_analysis.errors import BadTracesError
from spark_trace_analysis.statistics.run_statistics import statistics
from spark_trace_analysis.traces.event_source import WALKS
from spark_trace_analysis.traces.manifest import Parameters, TraceRun
from spark_trace_analysis.traces.over_files import collected, file_rows
from spark_trace_analysis.traces.simulate import simulate

WriteRun = Callable[[Path, Sequence[Sequence[tuple[Any, ...]]]], TraceRun]
TRACE: list[tuple[Any, ...]] = [("half_stored", 0), ("message_delivered", 0)]


def count_rows(content: pa.Buffer) -> Iterator[dict[str, Any]]:
    yield {"events": pq.ParquetFile(pa.BufferReader(content)).metadata.num_rows}


def looked_at(spark: SparkSession, runs: Sequence[TraceRun]) -> list[Row]:
    return collected(file_rows(spark, runs, [count_rows] * len(runs), {"events": "bigint"}))


def test_each_file_is_looked_at_once_and_knows_its_run(
    spark: SparkSession, simulated: list[TraceRun], tmp_path: Path
) -> None:
    parameters = Parameters(World.of("5.3.3", ("crash",), "tiny"), seed=3, traces=1_050, steps=3)
    many = simulate(spark, parameters, tmp_path / "many", source=replace(WALKS, events_a_file=600)).run
    assert len(many.manifest.files) == 6, "more files than tasks"
    runs = [simulated[0], many, simulated[0]]
    rows = looked_at(spark, runs)
    assert Counter((row["run"], row["events"]) for row in rows) == Counter(
        (number, file.events) for number, run in enumerate(runs) for file in run.manifest.files
    )


def test_statistics_refuse_a_changed_byte(spark: SparkSession, write_run: WriteRun, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [TRACE])
    path = Path(str(run.folder)) / "traces.parquet"
    content = bytearray(path.read_bytes())
    content[20] ^= 1
    path.write_bytes(content)
    with pytest.raises(BadTracesError, match=r"traces\.parquet: its SHA-256 is not the manifest's"):
        statistics(spark, [run])


def test_of_several_damaged_files_the_first_by_name_is_told(
    spark: SparkSession, write_run: WriteRun, tmp_path: Path
) -> None:
    runs = [write_run(tmp_path / name, [TRACE]) for name in ("c", "b", "a")]
    for run in runs[:2]:
        (Path(str(run.folder)) / "traces.parquet").unlink()
    with pytest.raises(BadTracesError, match=rf"^{tmp_path / 'b'}/traces\.parquet: ") as damage:
        looked_at(spark, runs)
    assert "\n" not in str(damage.value)


def test_a_file_that_is_no_parquet_is_named(spark: SparkSession, write_run: WriteRun, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [TRACE])
    content = b"PAR1, but that is all"
    (Path(str(run.folder)) / "traces.parquet").write_bytes(content)
    file = replace(run.manifest.files[0], sha256=sha256(content).hexdigest())
    fitting = replace(run, manifest=replace(run.manifest, files=(file,)))
    with pytest.raises(BadTracesError, match=r"traces\.parquet: (?!its SHA-256)"):
        looked_at(spark, [fitting])
