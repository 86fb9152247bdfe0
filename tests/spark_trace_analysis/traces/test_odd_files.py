"""Files that no walk writes: both ways refuse them in one line, or judge them rightly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spark_trace_analysis.errors import BadTracesError
from spark_trace_analysis.judge.by_expressions import find_broken, read_rows
from spark_trace_analysis.judge.properties import ALL
from spark_trace_analysis.traces import whole_traces
from spark_trace_analysis.traces.schema import EVENT_SCHEMA
from spark_trace_analysis.traces.whole_traces import read_whole_traces
from tests.spark_trace_analysis.arbitrary_traces import SEQUENCES, as_parquet, drawn, judged

if TYPE_CHECKING:
    from collections.abc import Callable

Table = Any
COLUMNS, WORLD = drawn(5)


def table() -> Table:
    return pq.read_table(pa.BufferReader(as_parquet(COLUMNS)))


def written(rows: Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink)
    return sink.getvalue()


def exchanged(rows: Table) -> Table:
    places = np.arange(rows.num_rows)
    places[[3, 4]] = places[[4, 3]]
    return rows.take(places)


def with_null(rows: Table) -> Table:
    halves = pa.array([None, *rows["half"].to_pylist()[1:]], pa.int32())
    return rows.set_column(rows.schema.get_field_index("half"), pa.field("half", pa.int32()), halves)


ODD: list[tuple[str, Callable[[Table], Table], str]] = [
    (
        "rows out of order",
        exchanged,
        r"trace \d+, step \d+ is out of order: traces go by number, their steps from 0 on",
    ),
    ("two runs", lambda rows: pa.concat_tables([rows, rows]), "trace 0, step 0 is out of order"),
    ("a trace without its beginning", lambda rows: rows.slice(1), "trace 0, step 1 is out of order"),
    ("a NULL", with_null, "column 'half' has a NULL; what does not apply is -1"),
]


@pytest.mark.parametrize("read", [lambda content: list(read_whole_traces(pa.BufferReader(content))), read_rows])
@pytest.mark.parametrize(("edit", "complaint"), [odd[1:] for odd in ODD], ids=[odd[0] for odd in ODD])
def test_both_ways_refuse_what_is_no_file_of_traces(
    read: Callable[[pa.Buffer], Any], edit: Callable[[Table], Table], complaint: str
) -> None:
    with pytest.raises(BadTracesError, match=complaint) as refusal:
        read(written(edit(table())))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("rows_a_piece", [1, 7, 1 << 18])
def test_order_is_asked_across_the_pieces_of_a_file(rows_a_piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_traces, "ROWS_A_PIECE", rows_a_piece)
    pieces = list(read_whole_traces(pa.BufferReader(written(table()))))
    assert sum(len(piece.starts) - 1 for piece in pieces) == SEQUENCES
    with pytest.raises(BadTracesError, match="out of order"):
        list(read_whole_traces(pa.BufferReader(written(exchanged(table())))))


def test_a_cut_file_is_refused_by_the_expressions_too() -> None:
    content = written(table())
    with pytest.raises(BadTracesError, match=r"\S"):
        read_rows(content.slice(0, content.size - 40))


@pytest.mark.parametrize("number", range(12))
def test_milliseconds_since_1970_are_judged_as_ticks_are(number: int) -> None:
    columns, settings = drawn(number)
    ticks = {**columns, "time": columns["time"] - columns["time"].min()}
    epoch = {**ticks, "time": ticks["time"] + 1_790_000_000_000}
    assert judged(ticks, settings) == judged(epoch, settings)


def test_times_that_are_none_are_refused() -> None:
    far = {**COLUMNS, "time": np.where(np.arange(len(COLUMNS["time"])) == 7, 1 << 60, 0)}
    with pytest.raises(BadTracesError, match="its times lie 1152921504606846976 apart; expected are ticks or"):
        read_rows(as_parquet(far))


def test_a_file_without_rows_breaks_nothing() -> None:
    rows = read_rows(written(EVENT_SCHEMA.empty_table()))
    assert find_broken(rows, ALL, WORLD).height == 0
