"""The tally of transactions, against numbers by hand."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from spark_trace_analysis.statistics.transaction_tally import QUANTITIES, Fates, Records, Tally, tally
from spark_trace_analysis.traces.manifest import TraceRun
from spark_trace_analysis.traces.whole_traces import read_whole_traces

WriteRun = Callable[[Path, Sequence[Sequence[tuple[Any, ...]]]], TraceRun]
COMMIT, ROLLBACK = 1, 2


def tallied(run: TraceRun, *, recorded: bool = True, late_rows: Sequence[int] = ()) -> Tally:
    """All traces but the last, which waits for more; or the only one."""
    traces = next(read_whole_traces(pa.OSFile(str(run.folder / "traces.parquet"))))
    rows = np.arange(len(traces.trace))
    return tally(traces, np.full(len(rows), recorded), np.isin(rows, late_rows))


def test_the_earliest_half_and_delivery_count_even_if_the_clock_was_set_back(
    write_run: WriteRun, tmp_path: Path
) -> None:
    trace = [
        ("half_stored", 0, 0, 8),
        ("half_stored", 0, 0, 5),
        ("message_delivered", 0, COMMIT, 4),
        ("message_delivered", 0, COMMIT, 2),
    ]
    found = tallied(write_run(tmp_path / "run", [trace]))
    assert {name: getattr(found, name).tolist() for name in QUANTITIES} == {
        "checks": [0],
        "put_backs": [0],
        "half_offsets": [2],
        "deliveries": [2],
        "records": [4],
        "time_to_delivery": [-3],
        "settled_lag": [],
        "age_at_discard": [],
        "op_lag": [],
    }
    assert found.fates == Fates(doubled=1, lost=0, parked=0, late_refused=0)
    assert found.written == Records(halves=2, copies=0, ops=0, real=2, discarded=0)


def test_nothing_of_one_trace_is_counted_in_the_next(write_run: WriteRun, tmp_path: Path) -> None:
    first = [("put_back_for_check", 0), ("half_stored", 0, 0, 3), ("op_buffered", 0, COMMIT, 4)]
    second = [("op_stored", -1, 0, 5), ("half_stored", 0, 0, 6), ("message_delivered", 0, COMMIT, 9)]
    found = tallied(write_run(tmp_path / "run", [first, second, [("half_stored", 0, 0, 1)], [("crashed", -1)]]))
    assert found.checks.tolist() == [1, 0, 0]
    assert found.deliveries.tolist() == [0, 1, 0]
    assert found.time_to_delivery.tolist() == [3]
    assert found.op_lag.tolist() == []
    assert found.written.ops == 1


def test_an_op_entry_waits_until_its_batch_is_written(write_run: WriteRun, tmp_path: Path) -> None:
    trace = [
        ("half_stored", 0, 0, 0),
        ("half_stored", 1, 0, 0),
        ("message_delivered", 0, COMMIT, 1),
        ("op_buffered", 0, COMMIT, 2),
        ("op_buffered", 1, ROLLBACK, 4),
        ("op_stored", -1, 0, 7),
        ("op_stored", -1, 0, 9),
    ]
    found = tallied(write_run(tmp_path / "run", [trace]))
    assert found.op_lag.tolist() == [5, 3]
    assert found.settled_lag.tolist() == [6, 3]
    assert found.written == Records(halves=2, copies=0, ops=2, real=1, discarded=0)
    assert found.records.tolist() == [2, 1]


@pytest.mark.parametrize("event", ["op_lost", "crashed", "power_lost", "stopped", "role_changed"])
def test_what_is_lost_from_memory_has_no_lag(write_run: WriteRun, tmp_path: Path, event: str) -> None:
    trace = [("half_stored", 0), ("op_buffered", 0, ROLLBACK, 1), (event, -1), ("op_stored", -1, 0, 7)]
    found = tallied(write_run(tmp_path / "run", [trace]))
    assert found.op_lag.tolist() == []
    assert found.settled_lag.tolist() == []


DISCARDED = [("half_stored", 0, 0, 1), ("local_outcome", 0, COMMIT, 1), ("half_discarded", 0, 0, 6)]
RESUMED = [*DISCARDED, ("half_resumed", 0, 0, 7)]
DELIVERED = [*DISCARDED, ("message_delivered", 0, COMMIT, 8)]
MISSED = [("half_stored", 0), ("local_outcome", 0, COMMIT), ("half_missed", 0)]
ROLLED_BACK = [("half_stored", 0), ("local_outcome", 0, ROLLBACK), ("half_missed", 0)]
ASKED_AGAIN = [*MISSED, ("put_back_for_check", 0)]


@pytest.mark.parametrize(
    ("trace", "recorded", "lost", "parked"),
    [
        (DISCARDED, True, 0, 1),
        (DISCARDED, False, 1, 0),
        (RESUMED, True, 0, 0),
        (RESUMED, False, 0, 0),
        (DELIVERED, False, 0, 0),
        (DELIVERED, True, 0, 1),
        (MISSED, True, 1, 0),
        (ROLLED_BACK, True, 0, 0),
        (ASKED_AGAIN, True, 0, 0),
    ],
)
def test_lost_is_gone_without_a_record_and_parked_is_kept_aside(
    write_run: WriteRun, tmp_path: Path, trace: list[tuple[Any, ...]], recorded: bool, lost: int, parked: int
) -> None:
    found = tallied(write_run(tmp_path / "run", [trace]), recorded=recorded)
    assert found.fates == Fates(doubled=0, lost=lost, parked=parked, late_refused=0)
    assert found.written.discarded == (recorded and trace[2][0] == "half_discarded")
    assert found.age_at_discard.tolist() == ([5] if trace[2][0] == "half_discarded" else [])


def test_only_a_late_refusal_counts_as_one(write_run: WriteRun, tmp_path: Path) -> None:
    trace = [("half_stored", 0), ("half_stored", 1), ("end_refused", 0), ("end_refused", 1), ("end_refused", 1)]
    run = write_run(tmp_path / "run", [trace])
    assert tallied(run, late_rows=[3, 4]).fates.late_refused == 1
    assert tallied(run, late_rows=[2, 4]).fates.late_refused == 2
    assert tallied(run).fates.late_refused == 0
