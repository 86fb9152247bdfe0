"""The first way of judging: compiled kernels over the columns of whole traces."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from model_check.explicit.code_generation.compile_lock import cached_njit
from spark_trace_analysis.judge.properties import Invariant
from spark_trace_analysis.judge.properties.invariant import Kernel
from spark_trace_analysis.traces.runs import RunSettings
from spark_trace_analysis.traces.schema import action_code
from spark_trace_analysis.traces.whole_traces import WholeTraces, read_whole_traces


def find_violations(traces: WholeTraces, invariant: Invariant, settings: RunSettings) -> npt.NDArray[np.int32]:
    """Give for each trace the number of events up to its first violation of a property, 0 where there is none."""
    at = np.zeros(len(traces.starts) - 1, np.int32)
    actions = np.array([action_code(action) for action in invariant.actions], np.int16)
    _compiled(invariant.kernel)(traces, actions, settings, at)
    return at


def judge_file(content: pa.Buffer, invariants: Sequence[Invariant], settings: RunSettings) -> Iterator[dict[str, Any]]:
    """One row a property and piece of the file."""
    for traces in read_whole_traces(pa.BufferReader(content)):
        numbers = traces.trace[traces.starts[:-1]]
        for invariant in invariants:
            at = find_violations(traces, invariant, settings)
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
def _compiled(kernel: Kernel) -> Kernel:
    compiled: Kernel = cached_njit(kernel)
    return compiled
