"""Scratch arrays of the kernels, with a place a transaction or half, made once and emptied trace by trace.

The groups of events here are the kernels' own: expressions have theirs (`so_far`), so that an error in one is found.
"""

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from spark_trace_analysis.traces import events

ACKNOWLEDGEMENTS = (events.op_stored, events.op_buffered, events.op_lost)
ENDS_OF_A_PROCESS = (events.crashed, events.stopped, events.role_changed, events.power_lost, events.offsets_regressed)
PUT_BACKS = (events.put_back_for_check, events.put_back_for_immunity, events.put_back_unasked)
PASSES = (events.half_passed, events.half_discarded, events.half_missed, events.half_escaped)


@numba.njit(cache=True)
def room_for(column: npt.NDArray[Any]) -> int:
    """How many places an array needs that is indexed by a column; numbers below 0 need none."""
    largest = -1
    for value in column:
        largest = max(largest, value)
    return largest + 1


@numba.njit(cache=True)
def forget(marks: npt.NDArray[Any], column: npt.NDArray[Any], first: int, last: int, value: int) -> None:
    """Set the marks of all that the rows first … last - 1 name; as long as the trace, however large the array."""
    for row in range(first, last):
        if column[row] >= 0:
            marks[column[row]] = value


@numba.njit(cache=True)
def is_among(code: int, codes: npt.NDArray[np.int16]) -> bool:
    """Whether a code is one of some."""
    for other in codes:  # noqa: SIM110 (as the compiler wants it)
        if code == other:
            return True
    return False
