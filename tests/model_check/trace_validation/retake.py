"""Takes the path that validation found once more, forwards from the start, so that nothing rests on the search itself.

The search takes silent steps of the check service after records that they precede. Here all steps stand in their order,
each guard is evaluated again by the plain engine of the specification, and the queues in the end are the trace's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from model_check.trace_validation.observed import EventKind, ObservedEvent, Trace
from model_check.trace_validation.round_steps import SILENT_ENDS, SILENT_PASSES
from model_check.trace_validation.workspace import ASSUMABLE_FAULTS
from spec.chapters import broker, check_round, discarding, shutdown
from spec.constants import Constants
from spec.language import take
from spec.state import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from model_check.trace_validation.workspace import PathStep

_SILENT = frozenset(
    {
        check_round.begin_round,
        *SILENT_PASSES,
        check_round.pull_more_ops,
        *SILENT_ENDS,
        check_round.end_round_at_time_limit,
        broker.persist_offsets,
        broker.crash,
        shutdown.begin_stop,
        shutdown.stop,
    }
)
"""Steps that precede the event that they stand before; all others lead to it."""


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
    silent = _SILENT if constants.keeps_discarded else _SILENT | {discarding.discard_half}
    steps = sorted(in_order(path), key=lambda step: (step.before, step.step.action.function not in silent))
    given: dict[str, Any] = {name: getattr(constants, name) for name in constants.__dataclass_fields__}
    everything = Constants(**{**given, **dict.fromkeys(ASSUMABLE_FAULTS, True)})
    s = State(everything)
    for step in steps:
        s.now = step.now
        lengths = s.half_length, s.op_length
        refused = take(s, everything, step.step)
        if refused is not None:
            return f"{step} before event {step.before} is refused: {refused}"
        if (s.half_length, s.op_length) != lengths:
            _take_times_of(s, trace.events[step.before])
    if see_end is not None:
        see_end(s, everything)
    return next((wrong for event in trace.events if (wrong := _differs(s, event)) is not None), None)


def in_order(path: Iterable[PathStep]) -> list[PathStep]:
    """Each step behind the one that it follows."""
    steps = list(enumerate(path))
    steps.sort(key=lambda at: (at[0], 0) if at[1].follows is None else (at[1].follows, 1))
    return [step for _, step in steps]


def _take_times_of(s: State, event: ObservedEvent) -> None:
    """A record's own times count, not the instant at which its writer read the clock."""
    if event.kind is EventKind.OP_STORED:
        s.op[event.op].born_at = event.born
    else:
        s.half[event.half].born_at = event.born
        s.half[event.half].stored_at = event.time


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
