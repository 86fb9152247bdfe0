"""The path that was found, taken forwards from the start, so that nothing rests on the search.

The search takes silent steps of the check service after records that they precede. Here all steps stand in their order,
and each guard is evaluated again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from model_check.errors import EvaluationError
from model_check.trace_validation.observed import EventKind, ObservedEvent, Trace
from model_check.trace_validation.round_steps import SILENT_ENDS, SILENT_PASSES
from model_check.trace_validation.workspace import ASSUMABLE_FAULTS, PathStep, initial_state, with_faults
from model_check.world import Environment
from spec.chapters import broker, check_round, discarding, shutdown
from spec.language import take

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spec.constants import Constants
    from spec.state import State

_SILENT: Final = frozenset(
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


def in_order(path: Iterable[PathStep], constants: Constants) -> list[PathStep]:
    """The steps of a path in their order, each behind the one that it follows."""
    silent = _SILENT if constants.keeps_discarded else _SILENT | {discarding.discard_half}
    placed = sorted(enumerate(path), key=lambda at: (at[0], 0) if at[1].follows is None else (at[1].follows, 1))
    return sorted((step for _, step in placed), key=lambda step: (step.before, step.step.action.function not in silent))


def taken(trace: Trace, path: Iterable[PathStep], constants: Constants) -> Iterator[tuple[PathStep, State, Constants]]:
    """Each step with the state behind it, which is one and the same, and the constants in which it is possible.

    Raises
    ------
    EvaluationError
        The specification refuses a step.
    """
    everything = with_faults(constants, Environment(ASSUMABLE_FAULTS))
    state = initial_state(everything, trace.wrote_op_at)
    for step in in_order(path, constants):
        state.now = step.now
        lengths = state.half_length, state.op_length
        refused = take(state, everything, step.step)
        if refused is not None:
            message = f"{step} before event {step.before} is refused: {refused}"
            raise EvaluationError(message)
        if (state.half_length, state.op_length) != lengths:
            _take_times_of(state, trace.events[step.before])
        yield step, state, everything


def _take_times_of(state: State, event: ObservedEvent) -> None:
    """A record's own times count, not the instant at which its writer read the clock."""
    if event.kind is EventKind.OP_STORED:
        state.op[event.op].born_at = event.born
    else:
        state.half[event.half].born_at = event.born
        state.half[event.half].stored_at = event.time
