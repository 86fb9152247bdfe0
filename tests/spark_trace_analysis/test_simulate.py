"""Simulation: the same parameters give the same bytes, and nothing that is there is ever overwritten."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from model_check.errors import ModelCheckError
from model_check.walk import Walker
from spark_trace_analysis import simulate as simulation
from spark_trace_analysis.errors import BadOptionError
from spark_trace_analysis.judge import event_rows
from spark_trace_analysis.manifest import Parameters, Run
from spark_trace_analysis.schema import EVENT_SCHEMA
from spark_trace_analysis.simulate import find_complete, prepare, simulate

SMALL = Parameters("5.3.3", ("crash",), "tiny", seed=3, traces=45_000, steps=8)


def table_of(run: Run) -> pa.Table:
    return pa.concat_tables([pq.read_table(run.folder / file.name) for file in run.manifest.files])


def test_the_number_of_tasks_does_not_change_a_byte(spark: SparkSession, tmp_path: Path) -> None:
    one = simulate(spark, SMALL, tmp_path / "one", tasks=1).run.manifest
    three = simulate(spark, SMALL, tmp_path / "three", tasks=3).run.manifest
    assert [file.traces for file in one.files] == [20_000, 20_000, 5_000]
    assert one == three


def test_another_seed_gives_other_traces(spark: SparkSession, tmp_path: Path) -> None:
    few = replace(SMALL, traces=100)
    first = simulate(spark, few, tmp_path / "first").run.manifest.checksum
    second = simulate(spark, replace(few, seed=4), tmp_path / "second").run.manifest.checksum
    assert first != second


def test_a_trace_is_the_walk_of_its_number(simulated: list[Run]) -> None:
    table = table_of(simulated[1])
    assert table.schema == EVENT_SCHEMA
    walker = Walker("5.3.3", ("crash", "lose_end"), "tiny")
    walked = walker.walk(7, 2_995, 5, 60)
    written = table.filter(pa.compute.greater_equal(table["trace"], 2_995))
    assert written["event"].to_pylist() == [walker.events[code] for code in walked["event"]]
    assert written["action"].to_pylist() == [walker.actions[code] for code in walked["action"]]
    for name in ("trace", "step", "time", "transaction", "half", "copy", "op", "check_times", "outcome"):
        assert np.array_equal(written[name].to_numpy(), walked[name])


def test_spark_reads_back_as_many_rows_as_the_manifest_counts(spark: SparkSession, simulated: list[Run]) -> None:
    counted = {row["run"]: row["count"] for row in event_rows(spark, simulated).groupBy("run").count().collect()}
    assert counted == {number: run.manifest.events for number, run in enumerate(simulated)}


def test_a_complete_run_is_reused(simulated: list[Run]) -> None:
    run = simulated[0]
    done = find_complete(run.parameters, run.folder)
    assert done is not None
    assert done.reused
    assert done.run == run


def test_the_order_of_the_faults_does_not_matter(simulated: list[Run]) -> None:
    run = simulated[1]
    assert find_complete(replace(run.parameters, environment=("lose_end", "crash", "crash")), run.folder) is not None


def test_another_run_is_not_overwritten(simulated: list[Run]) -> None:
    run = simulated[0]
    with pytest.raises(BadOptionError, match=r"holds another run \(seed 7, asked for 8\)"):
        find_complete(replace(run.parameters, seed=8), run.folder)


def test_a_run_of_an_older_specification_is_not_reused(simulated: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "source_fingerprint", lambda _instance: "0" * 16)
    with pytest.raises(BadOptionError, match="another version of the specification"):
        find_complete(simulated[0].parameters, simulated[0].folder)


def test_a_folder_with_something_else_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("two years of work")
    with pytest.raises(BadOptionError, match="something else") as refusal:
        find_complete(SMALL, tmp_path)
    assert refusal.value.exit_code == 151
    assert (tmp_path / "thesis.txt").read_text() == "two years of work"


def test_a_damaged_run_is_refused_and_named(spark: SparkSession, tmp_path: Path) -> None:
    few = replace(SMALL, traces=10)
    run = simulate(spark, few, tmp_path / "run").run
    (run.folder / run.manifest.files[0].name).write_bytes(b"PAR1")
    with pytest.raises(BadOptionError, match=r"damaged run .*4 bytes"):
        find_complete(few, run.folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"traces": 0}, "--traces 0"),
        ({"traces": -5}, "--traces -5"),
        ({"steps": 0}, "--steps 0"),
        ({"seed": -1}, "--seed -1"),
        ({"seed": 2**63}, "--seed 9223372036854775808"),
    ],
)
def test_numbers_out_of_range_are_refused(change: dict[str, int], message: str, tmp_path: Path) -> None:
    with pytest.raises(BadOptionError, match=message):
        find_complete(replace(SMALL, **change), tmp_path / "new")  # type: ignore[arg-type]


@pytest.mark.parametrize("change", [{"profile": "9.9.9"}, {"environment": ("rain",)}, {"instance": "enormous"}])
def test_names_that_the_specification_does_not_know_are_refused(change: dict[str, str]) -> None:
    with pytest.raises(ModelCheckError, match=r"9\.9\.9|rain|enormous") as refusal:
        prepare(replace(SMALL, **change))  # type: ignore[arg-type]
    assert refusal.value.exit_code == 151


def test_what_is_half_done_is_removed(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(simulation, "write_manifest", interrupt)
    with pytest.raises(KeyboardInterrupt):
        simulate(spark, replace(SMALL, traces=10), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_progress_is_told_from_the_finished_files(tmp_path: Path) -> None:
    (tmp_path / "traces-000000000000.parquet").touch()
    told: list[tuple[int, int]] = []
    with simulation._watch(tmp_path, 30_000, lambda done, total: told.append((done, total)), every_seconds=0.01):
        while not told:
            pass
    assert told[0] == (20_000, 30_000)
