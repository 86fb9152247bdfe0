"""A property of traces, judged by a kernel and by expressions."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spark_trace_analysis.judge.running_aggregates import Broken
from spark_trace_analysis.traces.runs import RunSettings
from spark_trace_analysis.traces.whole_traces import WholeTraces

__all__ = ["Codes", "Invariant", "Kernel", "RunSettings", "Until", "WholeTraces"]

Codes = npt.NDArray[np.int16]
Until = npt.NDArray[np.int32]
Kernel = Callable[[WholeTraces, Codes, RunSettings, Until], None]
"""``kernel(rows, actions, settings, at)``, a function that Numba can compile; see `Invariant`."""


@dataclass(frozen=True)
class Invariant:
    """One property, judged per trace.

    A trace breaks it from some event on; both ways of judging give the number of events up to that one.

    Attributes
    ----------
    property_id
        Its id in the catalogue: ``S1``.
    sentence
        What it claims of every trace.
    shows
        How far a trace shows it, in words.
    is_exact
        Whether a trace that names its actions shows every violation; otherwise each one shown is real, and some are
        not.
    needs
        An event without which a run shows nothing of the property (what producers do, say); empty if there is none.
    actions
        The actions of the specification whose codes the kernel gets, in this order.
    kernel
        ``at[n]`` is set to the number of events up to the first violation in trace n, and left at 0 if there is none.
    broken
        The same as expressions, for the rows that break a trace.
    """

    property_id: str
    sentence: str
    shows: str
    kernel: Kernel
    broken: Callable[[RunSettings], Broken]
    actions: tuple[Callable[..., None], ...] = ()
    needs: str = ""
    is_exact: bool = False
