"""Scratch arrays of the kernels: one place a transaction or a half, made once and emptied trace by trace."""

from typing import Any

import numba
import numpy as np
import numpy.typing as npt


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


NOWHERE = np.int64(-1)
"""A step that was not taken, or an offset that is not known."""
