"""On any sequence of events, however impossible, the two ways of judging say the same."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from spark_trace_analysis.judge.properties import ALL
from tests.spark_trace_analysis import arbitrary_traces
from tests.spark_trace_analysis.arbitrary_traces import difference, drawn, judge_arbitrary

if TYPE_CHECKING:
    import pytest


def test_both_ways_agree_on_arbitrary_sequences() -> None:
    broken = judge_arbitrary(500, number=7)
    assert min(broken.values()) > 0, broken


def test_a_difference_is_told_with_the_shortest_sequence(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that looks for another event is found out by two rows, or three."""
    broken = [replace(each, events=("half_stored",)) if each.property_id == "S1" else each for each in ALL]
    monkeypatch.setattr(arbitrary_traces, "ALL", broken)
    told = next(filter(None, (difference(*drawn(number)) for number in range(100))))
    first, *rows = told.splitlines()
    assert first.startswith("S1: after ")
    assert len(rows) == 2
    assert len({row.split()[0] for row in rows}) == 1


def test_the_same_number_gives_the_same_sequences() -> None:
    (one, world), (other, same) = drawn(11), drawn(11)
    assert world == same
    assert all(np.array_equal(one[name], other[name]) for name in one)
