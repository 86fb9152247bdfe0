"""Which stretches of a log are read for a condition on the offset: no record that fits it is passed over."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql.datasource import EqualTo, Filter, GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual

from spark_trace_analysis.ingest.rocketmq_store import _StoreReader

OFFSET = ("physical_offset",)
START, END, SPLIT = 1_000, 2_000, 100


@pytest.mark.parametrize(
    ("condition", "first", "last"),
    [
        (EqualTo, START, END + SPLIT - 1),
        (LessThan, START, 10**9),
        (LessThanOrEqual, START, 10**9),
        (GreaterThan, 0, END + SPLIT - 1),
        (GreaterThanOrEqual, 0, END + SPLIT - 1),
    ],
)
def test_a_stretch_is_left_out_only_where_none_of_its_records_can_fit(
    condition: type[Filter], first: int, last: int
) -> None:
    reader = _StoreReader(Path("store"), ("topic",), SPLIT, checks_bodies=True)
    fitting = []
    for value in (0, START - 1, START, END - SPLIT, END - 1, END, END + SPLIT - 1, END + SPLIT, 10**9):
        reader._filters = [condition(OFFSET, value)]  # type: ignore[call-arg]
        if reader._may_hold(START, END):
            fitting.append(value)
    assert (fitting[0], fitting[-1]) == (first, last)
    assert fitting == [value for value in (0, START - 1, START, END - SPLIT, END - 1, END, END + SPLIT - 1, END + SPLIT,
                                           10**9) if first <= value <= last]  # fmt: skip


def test_conditions_on_something_else_leave_nothing_out() -> None:
    reader = _StoreReader(Path("store"), ("topic",), SPLIT, checks_bodies=True)
    reader._filters = [EqualTo(("queue_offset",), 0)]
    assert reader._may_hold(START, END)
