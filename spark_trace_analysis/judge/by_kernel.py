"""The one way of judging: compiled kernels over the columns of whole traces."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from spark_trace_analysis.judge.properties import Invariant, Rows, World
from spark_trace_analysis.judge.properties.invariant import Kernel
from spark_trace_analysis.traces.schema import ACTIONS
from spark_trace_analysis.traces.whole_traces import WholeTraces, read_whole_traces
from spec.events import EVENTS


def find_violations(traces: WholeTraces, invariant: Invariant, world: World) -> npt.NDArray[np.int32]:
    """Give for each trace the number of events up to its first violation of a property, 0 where there is none."""
    at = np.zeros(len(traces.starts) - 1, np.int32)
    rows = Rows(*(getattr(traces, name) for name in Rows._fields))
    events = np.array([EVENTS.index(name) for name in invariant.events], np.int16)
    actions = np.array([ACTIONS.index(name) for name in invariant.actions], np.int16)
    _compiled(invariant.kernel)(traces.starts, rows, events, actions, world, at)
    return at


def judge_file(content: pa.Buffer, invariants: Sequence[Invariant], world: World) -> Iterator[dict[str, Any]]:
    """One row a property and piece of the file."""
    for traces in read_whole_traces(pa.BufferReader(content)):
        numbers = traces.trace[traces.starts[:-1]]
        for invariant in invariants:
            at = find_violations(traces, invariant, world)
            violating = np.flatnonzero(at)
            row: dict[str, Any] = {
                "property": invariant.property_id,
                "traces": len(at),
                "events": len(traces.trace),
                "violations": len(violating),
            }
            if violating.size:
                least = violating[np.lexsort((numbers[violating], at[violating]))[0]]
                row |= {
                    "first": int(numbers[violating].min()),
                    "shortest": int(numbers[least]),
                    "shortest_events": int(at[least]),
                }
            yield row


@lru_cache(maxsize=64)
def _compiled(kernel: Kernel) -> Callable[..., None]:
    compiled: Callable[..., None] = numba.njit(cache=True)(kernel)
    return compiled
