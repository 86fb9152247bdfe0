"""Simulation: the same parameters give the same bytes, and nothing that is there is ever overwritten."""

import errno
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from model_check.errors import ModelCheckError
from model_check.walks.guided.walker import walker_for
from model_check.walks.walk import Walker
from model_check.world import World
from spark_trace_analysis.errors import BadOptionError, BadTracesError
from spark_trace_analysis.judge.both_ways import judge
from spark_trace_analysis.traces import simulate as simulation
from spark_trace_analysis.traces import unfinished_run
from spark_trace_analysis.traces.event_source import WALKS, Events, remade_events, walk_the_specification
from spark_trace_analysis.traces.manifest import Parameters, TraceRun, parameters_of, source_fingerprint
from spark_trace_analysis.traces.run_layout import MANIFEST
from spark_trace_analysis.traces.runs import find_runs
from spark_trace_analysis.traces.schema import EVENT_SCHEMA
from spark_trace_analysis.traces.simulate import Progress, find_complete, prepare, simulate
from spark_trace_analysis.traces.unfinished_run import WORK, locked_run
from tests.spark_trace_analysis.conftest import event_rows

SMALL = Parameters(World.of("5.3.3", ("crash",), "tiny"), seed=3, traces=45_000, steps=30, choice="swarm")


def table_of(run: TraceRun) -> pa.Table:
    return pa.concat_tables([pq.read_table(run.folder / file.name) for file in run.manifest.files])


def test_the_number_of_tasks_does_not_change_a_byte(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulation, "_FILES_A_TASK", 1)
    three = simulate(spark, SMALL, tmp_path / "three").run.manifest
    monkeypatch.setattr(simulation, "_TASKS_A_CORE", 1 / spark.sparkContext.defaultParallelism)
    one = simulate(spark, SMALL, tmp_path / "one").run.manifest
    assert [file.traces for file in one.files] == [20_000, 20_000, 5_000]
    assert [file.first for file in one.files] == [0, 20_000, 40_000]
    assert one == three


def test_another_seed_gives_other_traces(spark: SparkSession, tmp_path: Path) -> None:
    few = replace(SMALL, traces=100)
    first = simulate(spark, few, tmp_path / "first").run.manifest.checksum
    second = simulate(spark, replace(few, seed=4), tmp_path / "second").run.manifest.checksum
    assert first != second


def test_a_trace_is_the_walk_of_its_number(simulated: list[TraceRun]) -> None:
    table = table_of(simulated[1])
    assert table.schema == EVENT_SCHEMA
    walker = Walker(World.of("5.3.3", ("crash", "lose_end")))
    walked = walker.walk(7, 2_995, 5, 60)
    written = table.filter(pa.compute.greater_equal(table["trace"], 2_995))
    assert written["event"].to_pylist() == [walker.events[code] for code in walked["event"]]
    assert written["action"].to_pylist() == [walker.actions[code] for code in walked["action"]]
    for name in ("trace", "step", "time", "transaction", "half", "copy", "op", "check_times", "outcome"):
        assert np.array_equal(written[name].to_numpy(), walked[name])


def test_walks_that_are_no_sample_are_not_added_up_with_others() -> None:
    names = {choice: replace(SMALL, choice=choice).environment_name for choice in ("uniform", "weighted", "guided")}
    assert names == {"uniform": "crash", "weighted": "crash", "guided": "crash (guided)"}


@pytest.mark.sweep
def test_guided_walks_are_those_of_their_populations_and_have_a_name_of_their_own(
    spark: SparkSession, tmp_path: Path
) -> None:
    guided = replace(SMALL, world=World.of("5.3.3", ("slow_local",)), traces=2_200, steps=20, choice="guided")
    prepare(guided)
    run = simulate(spark, guided, tmp_path / "guided").run
    table = table_of(run)
    walker = walker_for(guided.world, "guided")
    for first, count in ((990, 20), (2_190, 10)):
        walked = walker.walk(3, first, count, 20)
        written = table.filter(pa.compute.is_in(table["trace"], pa.array(range(first, first + count))))
        for name in ("trace", "step", "time", "transaction", "half", "copy", "op", "check_times", "outcome"):
            assert np.array_equal(written[name].to_numpy(), walked[name])
    judged = judge(spark, [run])
    assert set(judged.violations()["5.3.3"]) == {"slow_local (guided)"}
    assert judged.violations()["5.3.3"]["slow_local (guided)"]["S2"] > 0


def test_spark_reads_back_as_many_rows_as_the_manifest_counts(spark: SparkSession, simulated: list[TraceRun]) -> None:
    counted = {row["run"]: row["count"] for row in event_rows(spark, simulated).groupBy("run").count().collect()}
    assert counted == {number: run.manifest.events for number, run in enumerate(simulated)}


def test_a_complete_run_is_reused(simulated: list[TraceRun]) -> None:
    run = simulated[0]
    done = find_complete(run.parameters, run.folder)
    assert done is not None
    assert done.reused
    assert done.run == run


def test_the_order_of_the_faults_does_not_matter(simulated: list[TraceRun]) -> None:
    run = simulated[1]
    assert (
        find_complete(replace(run.parameters, world=World.of("5.3.3", ("lose_end", "crash", "crash"))), run.folder)
        is not None
    )


def test_another_run_is_not_overwritten(simulated: list[TraceRun]) -> None:
    run = simulated[0]
    with pytest.raises(BadOptionError, match=r"holds another run \(seed 7, asked for 8\)"):
        find_complete(replace(run.parameters, seed=8), run.folder)


def test_a_run_of_an_older_specification_is_not_reused(
    simulated: list[TraceRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulation, "source_fingerprint", lambda *_about: "0" * 16)
    with pytest.raises(BadOptionError, match="another version of the specification"):
        find_complete(simulated[0].parameters, simulated[0].folder)


def test_a_folder_with_something_else_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("two years of work")
    with pytest.raises(BadOptionError, match="something else") as refusal:
        find_complete(SMALL, tmp_path)
    assert refusal.value.exit_code == 151
    assert (tmp_path / "thesis.txt").read_text() == "two years of work"


def test_to_look_for_a_run_makes_no_folder(tmp_path: Path) -> None:
    assert find_complete(SMALL, tmp_path / "new") is None
    assert find_complete(SMALL, tmp_path / "not" / "there" / "yet") is None
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_run_is_refused_and_named(spark: SparkSession, tmp_path: Path) -> None:
    few = replace(SMALL, traces=10)
    run = simulate(spark, few, tmp_path / "run").run
    (Path(str(run.folder)) / run.manifest.files[0].name).write_bytes(b"PAR1")
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


@pytest.mark.parametrize(
    "change", [{"profile": "9.9.9"}, {"environment": ["rain"]}, {"instance": "enormous"}, {"choice": "best"}]
)
def test_names_that_the_specification_does_not_know_are_refused(change: dict[str, str]) -> None:
    with pytest.raises(ModelCheckError, match=r"9\.9\.9|rain|enormous|best") as refusal:
        prepare(parameters_of(SMALL.to_json() | change))
    assert refusal.value.exit_code == 151


def test_a_run_that_was_cut_short_is_gone_on_with(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed = simulate(spark, SMALL, tmp_path / "undisturbed")

    def interrupt(*_arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(unfinished_run, "write_manifest", interrupt)
        with pytest.raises(KeyboardInterrupt):
            simulate(spark, SMALL, tmp_path / "run")
    partial = tmp_path / "run"
    with pytest.raises(BadTracesError, match=r"no _manifest\.json in it"):
        find_runs(partial)
    names = [file.name for file in undisturbed.run.manifest.files]
    (partial / names[0]).unlink()
    (partial / names[1]).write_bytes(b"PAR1")  # as a power loss may leave it
    (partial / WORK / "unfinished" / "half.parquet").write_bytes(b"PAR1")
    done = simulate(spark, SMALL, tmp_path / "run")
    assert (undisturbed.files_found, done.files_found, done.reused) == (0, 1, False)
    assert content_of(tmp_path / "run") == content_of(tmp_path / "undisturbed")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "undisturbed"]


@pytest.mark.parametrize("moment", ["notes", MANIFEST])
def test_a_run_that_died_before_or_after_its_manifest_is_completed(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    few = replace(SMALL, traces=10)
    simulate(spark, few, tmp_path / "undisturbed")

    def interrupt(*_arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        if moment == "notes":
            patched.setattr(os, "link", interrupt)
        else:
            patched.setattr(unfinished_run, "remove_work", interrupt)
        with pytest.raises(KeyboardInterrupt):
            simulate(spark, few, tmp_path / "run")
    assert (tmp_path / "run" / MANIFEST).exists() is (moment != "notes")
    done = simulate(spark, few, tmp_path / "run")
    assert done.reused is (moment != "notes")
    assert content_of(tmp_path / "run") == content_of(tmp_path / "undisturbed")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "undisturbed"]


def content_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_beginning_of_another_run_is_not_gone_on_with(spark: SparkSession, tmp_path: Path) -> None:
    with locked_run(tmp_path / "run") as unfinished:
        unfinished.begin(SMALL, source_fingerprint())
    for other, message in (
        (replace(SMALL, choice="uniform"), r"run: holds the beginning of another run \(choice swarm, asked"),
        (replace(SMALL, traces=5), r"another run \(traces 45000, asked for 5\); give the command that began it, or"),
    ):
        with pytest.raises(BadOptionError, match=message) as refusal:
            simulate(spark, other, tmp_path / "run")
        assert refusal.value.exit_code == 151


def test_the_beginning_of_a_run_by_other_sources_is_not_gone_on_with(spark: SparkSession, tmp_path: Path) -> None:
    with locked_run(tmp_path / "run") as unfinished:
        unfinished.begin(SMALL, "0" * 16)
    with pytest.raises(BadOptionError, match="a run by another version of the sources; remove that folder"):
        simulate(spark, SMALL, tmp_path / "run")


def test_two_processes_do_not_write_one_run(spark: SparkSession, tmp_path: Path) -> None:
    with locked_run(tmp_path / "run"), pytest.raises(BadOptionError, match="another process is writing it") as refusal:
        simulate(spark, SMALL, tmp_path / "run")
    assert refusal.value.exit_code == 151


def test_who_waited_for_the_lock_finds_the_run_that_the_other_has_finished(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = replace(SMALL, traces=10)
    looked: list[object] = []
    look = simulation._complete

    def look_too_early(*about: Any) -> object:
        looked.append(about)
        if len(looked) > 1:
            return look(*about)
        with monkeypatch.context() as patched:
            patched.setattr(simulation, "_complete", look)
            simulate(spark, few, tmp_path / "run")
        return None

    monkeypatch.setattr(simulation, "_complete", look_too_early)
    assert simulate(spark, few, tmp_path / "run").reused
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_disk_that_is_full_gets_one_line_and_what_is_finished_is_kept(spark: SparkSession, tmp_path: Path) -> None:
    few = replace(SMALL, traces=100)
    with pytest.raises(BadOptionError, match=r"run: can't be written \(No space left on device\); what is finished is"):
        simulate(spark, few, tmp_path / "run", source=replace(WALKS, make=fill_the_disk))
    assert simulate(spark, few, tmp_path / "run").files_found == 0


def fill_the_disk(parameters: Parameters, first: int, count: int) -> Events:
    if count > 1:  # not where the command tries the first trace
        raise OSError(errno.ENOSPC, "No space left on device")
    return walk_the_specification(parameters, first, count)


def test_a_trace_is_remade_alone(simulated: list[TraceRun]) -> None:
    run = simulated[1]
    table = table_of(run)
    written = table.filter(pa.compute.equal(table["trace"], 2_345)).to_pylist()
    assert remade_events(run.parameters, 2_345, WALKS) == written
    assert len(written) == len(WALKS.steps(run.parameters, 2_345).split("; ")) > 10


def test_progress_is_told_from_the_finished_files(tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    with locked_run(tmp_path / "run") as unfinished:
        unfinished.begin(SMALL, "0" * 16)
        unfinished.write("traces-000000000000.parquet", pa.py_buffer(b"PAR1"), 0, 20_000, 5)
        report: Progress = lambda done, total: calls.append((done, total))  # noqa: E731
        with simulation._watching(unfinished, SMALL, WALKS, report):
            while not calls:
                pass
    assert calls[0] == (20_000, 45_000)
