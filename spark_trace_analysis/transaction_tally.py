"""What became of each transaction of some traces, in numbers: one pass of a compiled kernel.

A transaction counts from the moment when its half is stored; one that never got that far is not told of.
"""

from functools import cache
from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from spark_trace_analysis.whole_traces import WholeTraces
from spec.events import EVENTS

_COUNTED = (
    "half_stored",
    "message_delivered",
    "put_back_for_check",
    "put_back_for_immunity",
    "put_back_unasked",
    "half_resumed",
)
_STORED, _DELIVERED, _CHECK, _IMMUNITY, _UNASKED, _RESUMED = range(6)


class Tally(NamedTuple):
    """One number a transaction, but for ``time_to_delivery``: that of those which were delivered.

    Attributes
    ----------
    checks
        Checks that were sent, each of which begins with a put-back.
    put_backs
        All copies of its half that the check service wrote, also those for an immunity, and those of which no producer
        could be asked.
    half_offsets
        Offsets of the half queue that it used up, those of a repeated send and of a resumed half included.
    deliveries
        Messages that consumers got.
    time_to_delivery
        From its first half to its first delivery, in the units of the traces' clock.
    """

    checks: npt.NDArray[np.int64]
    put_backs: npt.NDArray[np.int64]
    half_offsets: npt.NDArray[np.int64]
    deliveries: npt.NDArray[np.int64]
    time_to_delivery: npt.NDArray[np.int64]


def tally(traces: WholeTraces) -> Tally:
    """Tally the transactions of some traces, in no particular order."""
    codes = np.array([EVENTS.index(name) for name in _COUNTED], np.int16)
    most = int(np.count_nonzero(traces.event == codes[_STORED]))
    times, clock = np.zeros((most, len(_COUNTED)), np.int64), np.zeros((most, 2), np.int64)
    told = _kernel()(traces.starts, traces.event, traces.transaction, traces.time, codes, times, clock)
    times, clock = times[:told], clock[:told]
    put_backs = times[:, _CHECK] + times[:, _IMMUNITY] + times[:, _UNASKED]
    is_delivered = times[:, _DELIVERED] > 0
    return Tally(
        checks=times[:, _CHECK],
        put_backs=put_backs,
        half_offsets=times[:, _STORED] + put_backs + times[:, _RESUMED],
        deliveries=times[:, _DELIVERED],
        time_to_delivery=(clock[:, _DELIVERED] - clock[:, _STORED])[is_delivered],
    )


def count_events(
    starts: npt.NDArray[np.int64],
    event: npt.NDArray[np.int16],
    transaction: npt.NDArray[np.int32],
    time: npt.NDArray[np.int64],
    codes: npt.NDArray[np.int16],
    times: npt.NDArray[np.int64],
    clock: npt.NDArray[np.int64],
) -> int:
    """Say, for each transaction with a half, how often each event of ``codes`` happened, and when the first two did.

    Returns
    -------
    int
        Rows of ``times`` (one column a code) and ``clock`` (the earliest time of the first two codes) that are filled.
    """
    largest = -1
    for row in range(len(transaction)):
        largest = max(largest, transaction[row])
    seen = np.zeros((largest + 1, len(codes)), np.int64)
    earliest = np.zeros((largest + 1, 2), np.int64)
    told = 0
    for n in range(len(starts) - 1):
        seen[:] = 0
        for row in range(starts[n], starts[n + 1]):
            t = transaction[row]
            if t < 0:
                continue
            for place in range(len(codes)):
                if event[row] == codes[place]:
                    if place < earliest.shape[1] and (seen[t, place] == 0 or time[row] < earliest[t, place]):
                        earliest[t, place] = time[row]
                    seen[t, place] += 1
        for t in range(largest + 1):
            if seen[t, 0] > 0:
                times[told] = seen[t]
                clock[told] = earliest[t]
                told += 1
    return told


@cache
def _kernel() -> "numba.core.dispatcher.Dispatcher":
    return numba.njit(cache=True)(count_events)
