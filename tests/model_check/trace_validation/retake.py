"""Takes the path that validation found once more, and compares what it leaves with the trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model_check.errors import EvaluationError
from model_check.trace_validation.forwards import taken
from model_check.trace_validation.observed import EventKind, ObservedEvent, Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from model_check.trace_validation.workspace import PathStep
    from spec.constants import Constants
    from spec.state import State


def replay(
    trace: Trace,
    path: Iterable[PathStep],
    constants: Constants,
    see_end: Callable[[State, Constants], None] | None = None,
) -> str | None:
    """Walk a path and compare what it leaves with the trace.

    Parameters
    ----------
    see_end
        Called with the state at the path's end and its constants.

    Returns
    -------
    str or None
        What is wrong: the step that is refused, or the record that differs; None if the path explains the trace.
    """
    end = None
    try:
        for _, state, everything in taken(trace, path, constants):
            end = state, everything
    except EvaluationError as error:
        return str(error)
    if end is None:
        return None if not trace.events else "no step was taken"
    if see_end is not None:
        see_end(*end)
    return next((wrong for event in trace.events if (wrong := _differs(end[0], event)) is not None), None)


def _differs(s: State, event: ObservedEvent) -> str | None:
    if event.kind in (EventKind.HALF_STORED, EventKind.PUT_BACK):
        half = s.half[event.half]
        left = (half.transaction, half.check_times, half.original, half.born_at, half.stored_at)
        seen = (event.transaction, event.check_times, event.original, event.born, event.time)
        return None if left == seen else f"half {event.half} is {left}, the trace says {seen}"
    if event.kind is EventKind.OP_STORED:
        names = set(s.op[event.op].names)
        return None if names == set(event.names) else f"op {event.op} names {names}, the trace says {event.names}"
    return None
