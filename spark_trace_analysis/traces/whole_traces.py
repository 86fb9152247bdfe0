"""Reading a Parquet file so that no trace is cut: the last, perhaps unfinished trace of a piece waits for the next."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from spark_trace_analysis.traces.schema import WORDS, action_codes, event_codes, null_in, out_of_order

ROWS_A_PIECE = 1 << 18


class WholeTraces(NamedTuple):
    """Some consecutive traces of one file.

    Attributes
    ----------
    starts
        Row of each trace's first event, and the number of rows: traces + 1 numbers.
    trace, event, action, transaction, half, copy, op, check_times, outcome, time
        One number a row; events as their places in ``spec.events.EVENTS``, actions as theirs in
        ``spark_trace_analysis.traces.schema.ACTIONS``, -1 for any other.
    """

    starts: npt.NDArray[np.int64]
    trace: npt.NDArray[np.int64]
    event: npt.NDArray[np.int16]
    action: npt.NDArray[np.int16]
    transaction: npt.NDArray[np.int32]
    half: npt.NDArray[np.int32]
    copy: npt.NDArray[np.int32]
    op: npt.NDArray[np.int32]
    check_times: npt.NDArray[np.int32]
    outcome: npt.NDArray[np.int8]
    time: npt.NDArray[np.int64]


_READ = WholeTraces._fields[1:]
_CODES = {"event": event_codes, "action": action_codes}
_Columns = tuple[npt.NDArray[Any], ...]
"""As `_READ` names them."""


def read_whole_traces(file: pa.NativeFile) -> Iterator[WholeTraces]:
    """Give a file's traces in pieces of about `ROWS_A_PIECE` events; a longer trace makes a longer piece.

    The file is Parquet of the one schema, rows of a trace side by side. Raises `BadTracesError`: rows are out of order,
    something is absent that never is, or an event is unknown.
    """
    held: list[_Columns] = []
    last = None
    for batch in pq.ParquetFile(file, read_dictionary=WORDS).iter_batches(ROWS_A_PIECE, columns=[*_READ, "step"]):
        if batch.num_rows == 0:
            continue
        _require_no_null(batch)
        last = _require_order(batch.column("trace").to_numpy(), batch.column("step").to_numpy(), last)
        columns = tuple(
            _CODES[name](batch.column(name)) if name in _CODES else batch.column(name).to_numpy() for name in _READ
        )
        trace = columns[0]
        changes = np.flatnonzero(np.diff(trace))
        if held and trace[0] != held[-1][0][-1]:
            yield _together(held)
            held = []
        if changes.size:
            cut = int(changes[-1]) + 1
            yield _together([*held, _part(columns, slice(cut))])
            held = [_part(columns, slice(cut, None))]
        else:
            held.append(columns)
    if held:
        yield _together(held)


def _require_no_null(batch: pa.RecordBatch) -> None:
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if column.null_count:
            raise null_in(name)


def _require_order(
    trace: npt.NDArray[np.int64], step: npt.NDArray[np.int32], last: tuple[int, int] | None
) -> tuple[int, int]:
    """Give the last row's trace and step, when the rows go on from those of the rows before."""
    trace_before, step_before = last or (int(trace[0]) - 1, -1)
    traces, steps = np.concatenate(([trace_before], trace)), np.concatenate(([step_before], step))
    goes_on = np.diff(traces) == 0
    is_next = np.where(goes_on, np.diff(steps) == 1, (np.diff(traces) > 0) & (step == 0))
    if not is_next.all():
        row = int(np.argmin(is_next))
        raise out_of_order(trace[row], step[row])
    return int(trace[-1]), int(step[-1])


def _part(columns: _Columns, rows: slice) -> _Columns:
    return tuple(column[rows] for column in columns)


def _together(parts: Sequence[_Columns]) -> WholeTraces:
    trace, *others = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    changes = np.flatnonzero(np.diff(trace)) + 1
    starts = np.concatenate(([0], changes, [len(trace)])).astype(np.int64)
    return WholeTraces(starts, trace, *others)
