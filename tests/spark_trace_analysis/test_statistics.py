"""Statistics of traces written by hand, number by number."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from spark_trace_analysis.manifest import Run
from spark_trace_analysis.statistics import RunStatistics, statistics

WriteRun = Callable[[Path, Sequence[Sequence[tuple[Any, ...]]]], Run]


def test_distributions_of_traces_written_by_hand(spark: SparkSession, write_run: WriteRun, tmp_path: Path) -> None:
    run = write_run(
        tmp_path / "run",
        [
            [("half_stored", 0, 0, 1), ("message_delivered", 0, 0, 4), ("message_delivered", 0, 0, 9)],
            [
                ("half_stored", 0, 0, 0),
                ("half_stored", 1, 0, 0),
                ("put_back_for_check", 0, 0, 2),
                ("put_back_for_check", 0, 0, 3),
                ("put_back_for_immunity", 1, 0, 4),
                ("message_delivered", 1, 0, 4),
            ],
            [
                ("half_stored", 0, 0, 2),
                ("put_back_unasked", 0, 0, 3),
                ("half_discarded", 0, 0, 4),
                ("half_resumed", 0, 0, 5),
            ],
            [("crashed", -1)],
            [("message_delivered", 0, 0, 7)],
        ],
    )
    (found,) = statistics(spark, [run]).runs
    assert found == RunStatistics(
        profile="5.3.3",
        environment="quiet",
        traces=5,
        transactions=4,
        checks={0: 3, 2: 1},
        put_backs={0: 1, 1: 2, 2: 1},
        half_offsets={1: 1, 2: 1, 3: 2},
        deliveries={0: 2, 1: 1, 2: 1},
        time_to_delivery={3: 1, 4: 1},
        actions={"by_hand": 15},
    )


def test_statistics_of_walks_count_every_event(spark: SparkSession, simulated: list[Run]) -> None:
    for run, found in zip(simulated, statistics(spark, simulated).runs, strict=True):
        assert sum(found.actions.values()) == run.manifest.events
        assert found.transactions == sum(found.deliveries.values()) == sum(found.half_offsets.values())
        assert found.transactions > 0
