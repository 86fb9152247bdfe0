"""The tally of transactions, against numbers by hand and against a plain count of simulated traces."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from spark_trace_analysis.manifest import Run
from spark_trace_analysis.statistics import statistics
from spark_trace_analysis.transaction_tally import tally
from spark_trace_analysis.whole_traces import WholeTraces, read_whole_traces

WriteRun = Callable[[Path, Sequence[Sequence[tuple[Any, ...]]]], Run]


def first_piece(run: Run) -> WholeTraces:
    """All traces but the last, which waits for more; or the only one."""
    return next(read_whole_traces(pa.OSFile(str(run.folder / "traces.parquet"))))


def test_the_earliest_half_and_delivery_count_even_if_the_clock_was_set_back(
    write_run: WriteRun, tmp_path: Path
) -> None:
    trace = [
        ("half_stored", 0, 0, 8),
        ("half_stored", 0, 0, 5),
        ("message_delivered", 0, 0, 4),
        ("message_delivered", 0, 0, 2),
    ]
    found = tally(first_piece(write_run(tmp_path / "run", [trace])))
    assert {name: numbers.tolist() for name, numbers in found._asdict().items()} == {
        "checks": [0],
        "put_backs": [0],
        "half_offsets": [2],
        "deliveries": [2],
        "time_to_delivery": [-3],
    }


def test_nothing_of_one_trace_is_counted_in_the_next(write_run: WriteRun, tmp_path: Path) -> None:
    first = [("put_back_for_check", 0), ("half_stored", 0, 0, 3), ("message_delivered", 0, 0, 9)]
    found = tally(first_piece(write_run(tmp_path / "run", [first, [("half_stored", 0, 0, 1)], [("crashed", -1)]])))
    assert found.checks.tolist() == [1, 0]
    assert found.deliveries.tolist() == [1, 0]
    assert found.time_to_delivery.tolist() == [6]


@pytest.mark.parametrize("number", [0, 1, 2])
def test_statistics_of_walks_are_those_of_a_plain_count(spark: SparkSession, simulated: list[Run], number: int) -> None:
    run = simulated[number]
    events: dict[tuple[int, int], list[tuple[str, int]]] = {}
    actions = Counter[str]()
    for row in pq.read_table(run.folder / run.manifest.files[0].name).to_pylist():
        actions[row["action"]] += 1
        if row["transaction"] >= 0:
            events.setdefault((row["trace"], row["transaction"]), []).append((row["event"], row["time"]))
    stored = [told for told in events.values() if any(event == "half_stored" for event, _ in told)]

    def counted(*names: str) -> Counter[int]:
        return Counter(sum(event in names for event, _ in told) for told in stored)

    def earliest(told: list[tuple[str, int]], name: str) -> int:
        return min(time for event, time in told if event == name)

    delivered = [told for told in stored if any(event == "message_delivered" for event, _ in told)]
    found = statistics(spark, [run]).runs[0]
    assert found.transactions == len(stored)
    assert found.checks == counted("put_back_for_check")
    put_back = ("put_back_for_check", "put_back_for_immunity", "put_back_unasked")
    assert found.put_backs == counted(*put_back)
    assert found.half_offsets == counted("half_stored", "half_resumed", *put_back)
    assert found.deliveries == counted("message_delivered")
    assert found.time_to_delivery == Counter(
        earliest(told, "message_delivered") - earliest(told, "half_stored") for told in delivered
    )
    assert found.actions == actions
    assert len(found.put_backs) > 1, "some half is put back, or the distribution says nothing"
    assert len(found.time_to_delivery) > 1
