"""No trace is cut, however small the pieces in which a file is read."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from spark_trace_analysis.errors import BadTracesError
from spark_trace_analysis.traces import whole_traces
from spark_trace_analysis.traces.manifest import TraceRun
from spark_trace_analysis.traces.schema import event_codes
from spark_trace_analysis.traces.whole_traces import read_whole_traces

WriteRun = Callable[[Path, Sequence[Sequence[tuple[Any, ...]]]], TraceRun]
LENGTHS = [3, 1, 7, 2, 2, 9, 1]


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 7, 24, 25, 26, 1000])
def test_pieces_of_any_size_hold_whole_traces(
    write_run: WriteRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr(whole_traces, "ROWS_A_PIECE", rows)
    run = write_run(tmp_path / "run", [[("half_stored", n)] * length for n, length in enumerate(LENGTHS)])
    lengths: list[int] = []
    numbers: list[int] = []
    for piece in read_whole_traces(pa.OSFile(str(run.folder / "traces.parquet"))):
        lengths += np.diff(piece.starts).tolist()
        numbers += piece.trace[piece.starts[:-1]].tolist()
        assert piece.transaction.tolist() == piece.trace.tolist()
    assert lengths == LENGTHS
    assert numbers == list(range(len(LENGTHS)))


def test_events_are_known_by_name_whatever_their_order_in_the_file() -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([1, 0, 1], pa.int16()), pa.array(["crashed", "half_stored"]))
    assert event_codes(column).tolist() == [0, 19, 0]


def test_an_event_that_the_specification_does_not_know_is_named() -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0], pa.int16()), pa.array(["teleported"]))
    with pytest.raises(BadTracesError, match="unknown event 'teleported'"):
        event_codes(column)
