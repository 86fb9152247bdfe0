"""Which files one query looks at, and that each run keeps what was found of it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_trace_analysis import judge_by_query as by_query
from spark_trace_analysis.invariants import ALL
from spark_trace_analysis.judge_by_kernel import judge_by_kernel
from spark_trace_analysis.judge_by_query import batches, judge_by_query
from spark_trace_analysis.manifest import Run, TraceFile
from tests.sampled import sampled
from tests.spark_trace_analysis.traces_by_hand import BY_HAND

WriteRun = Callable[..., Run]
SOME = [each for each in ALL if each.property_id in {"S1", "S6", "L2"}]


def run_of(run: Run, sizes: list[int]) -> Run:
    """The run with other files, which are not there."""
    files = tuple(TraceFile(f"{place}.parquet", place, 1, size, 1, "") for place, size in enumerate(sizes))
    return Run(run.folder, replace(run.manifest, files=files, events=sum(sizes)))


@pytest.fixture(scope="module")
def runs(write_run: WriteRun, tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """Runs whose verdicts differ by their version, and by how much of the traces they hold."""
    folder = tmp_path_factory.mktemp("batches")
    traces = [trace for trace, _ in BY_HAND]
    kinds = [("4.5.1", len(traces)), ("5.3.3", 8), ("5.4.0", len(traces)), ("5.3.3", len(traces) - 2)]
    return [write_run(folder / str(place), traces[:count], profile) for place, (profile, count) in enumerate(kinds)]


def test_small_runs_share_a_query_and_a_large_one_is_cut_evenly(
    runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(by_query, "EVENTS_A_QUERY", 100)
    sizes = [[20, 20], [10, 20], [10] * 25, [45], [60], [5], [120]]
    found = list(batches([run_of(runs[0], each) for each in sizes]))
    told = [[(number, [file.events for file in files]) for number, files in batch] for batch in found]
    assert told == [
        [(2, [10] * 9)],
        [(2, [10] * 9)],
        [(2, [10] * 7)],
        [(0, [20, 20]), (1, [10, 20])],
        [(4, [60])],
        [(6, [120])],
        [(3, [45]), (5, [5])],
    ]
    names = [(number, file.name) for batch in found for number, files in batch for file in files]
    assert sorted(names) == sorted(
        (n, f"{place}.parquet") for n, each in enumerate(sizes) for place in range(len(each))
    )


@pytest.mark.parametrize("most_events", sampled([300, 1, 500], 3))
def test_what_is_found_does_not_depend_on_how_runs_share_queries(
    spark: SparkSession, runs: list[Run], monkeypatch: pytest.MonkeyPatch, most_events: int
) -> None:
    monkeypatch.setattr(by_query, "EVENTS_A_QUERY", most_events)
    assert judge_by_query(spark, runs, SOME) == judge_by_kernel(spark, runs, SOME)


def test_a_run_is_told_by_its_folder_whatever_its_name(
    spark: SparkSession, write_run: WriteRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    traces = [trace for trace, _ in BY_HAND]
    names = ["outer", "outer/in it", "outer/in it+[1]{a,b}*?", "outer/%41#é", "outer.more"]
    runs = [write_run(Path(name), traces[place:]) for place, name in enumerate(names)]
    runs += [runs[1], Run(Path("outer/../outer.more"), runs[-1].manifest)]
    assert judge_by_query(spark, runs, SOME) == judge_by_kernel(spark, runs, SOME)
