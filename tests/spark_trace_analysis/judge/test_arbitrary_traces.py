"""On any sequence of events, however impossible, the two ways of judging say the same."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from spark_trace_analysis.judge.properties import ALL
from spark_trace_analysis.judge.properties.kernel_room import forget, room_for
from spark_trace_analysis.traces import events
from tests.spark_trace_analysis import arbitrary_traces
from tests.spark_trace_analysis.arbitrary_traces import difference, drawn, judge_arbitrary

if TYPE_CHECKING:
    import pytest

    from spark_trace_analysis.judge.properties.invariant import Codes, Until
    from spark_trace_analysis.traces.runs import RunSettings
    from spark_trace_analysis.traces.whole_traces import WholeTraces


def find_two_halves(rows: WholeTraces, _actions: Codes, _settings: RunSettings, at: Until) -> None:
    """The kernel of S1, but for the event."""
    halves = np.zeros(room_for(rows.transaction), np.int32)
    for n in range(len(at)):
        forget(halves, rows.transaction, rows.starts[n], rows.starts[n + 1], 0)
        for row in range(rows.starts[n], rows.starts[n + 1]):
            t = rows.transaction[row]
            if rows.event[row] == events.half_stored and t >= 0:
                halves[t] += 1
                if halves[t] == 2:
                    at[n] = row - rows.starts[n] + 1
                    break


def test_both_ways_agree_on_arbitrary_sequences() -> None:
    broken = judge_arbitrary(500, number=7)
    assert min(broken.values()) > 0, broken


def test_a_difference_is_told_with_the_shortest_sequence(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that looks for another event is found out by two rows, or three."""
    broken = [replace(each, kernel=find_two_halves) if each.property_id == "S1" else each for each in ALL]
    monkeypatch.setattr(arbitrary_traces, "ALL", broken)
    found = next(filter(None, (difference(*drawn(number)) for number in range(100))))
    first, *rows = found.splitlines()
    assert first.startswith("S1: after ")
    assert len(rows) == 2
    assert len({row.split()[0] for row in rows}) == 1


def test_the_same_number_gives_the_same_sequences() -> None:
    (one, settings), (other, same) = drawn(11), drawn(11)
    assert settings == same
    assert all(np.array_equal(one[name], other[name]) for name in one)
