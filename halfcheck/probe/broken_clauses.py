"""Which clauses of guarantees the path breaks that explains a trace: it is walked once more from the start, and judged.

The search takes silent steps of the check service after records that they precede. Here all steps stand in their
order, as in the tests of trace validation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from model_check.trace_validation.observed import EventKind, ObservedEvent, Trace
from model_check.trace_validation.round_steps import SILENT_ENDS, SILENT_PASSES
from model_check.trace_validation.workspace import ASSUMABLE_FAULTS, initial_state
from spec.chapters import broker, check_round, discarding
from spec.constants import Constants
from spec.language import holds, take
from spec.transactional_messages import TRANSACTIONAL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_check.trace_validation.path_search import Verdict
    from model_check.trace_validation.workspace import PathStep
    from spec.language import Property
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
    }
)
"""Steps that precede the event that they stand before; all others lead to it."""


@dataclass(frozen=True, slots=True)
class BrokenClause:
    """A clause that a path breaks.

    Attributes
    ----------
    steps
        How many steps of the path it takes.
    event
        How many records of the trace had been written by then.
    """

    clause: Property
    steps: int
    event: int

    @property
    def name(self) -> str:
        """Such as ``S1.immune_half``."""
        return f"{self.clause.identifier}.{self.clause.clause}"


def broken_clauses(trace: Trace, verdict: Verdict) -> list[BrokenClause]:
    """The clauses that the path of a verdict breaks, in the order in which it does."""
    constants, steps = verdict.constants, in_order(verdict.path, verdict.constants)
    given: dict[str, Any] = {name: getattr(constants, name) for name in constants.__dataclass_fields__}
    everything = Constants(**{**given, **dict.fromkeys(ASSUMABLE_FAULTS, True)})
    state = initial_state(everything, trace.wrote_op_at)
    broken: dict[Property, BrokenClause] = {}
    for number, step in enumerate(steps, start=1):
        state.now = step.now
        lengths = state.half_length, state.op_length
        if take(state, everything, step.step) is not None:
            break
        if (state.half_length, state.op_length) != lengths:
            _take_times_of(state, trace.events[step.before])
        for clause in TRANSACTIONAL_MESSAGES.clauses:
            if clause not in broken and not holds(state, everything, clause):
                broken[clause] = BrokenClause(clause, number, step.before)
    return list(broken.values())


def in_order(path: Sequence[PathStep], constants: Constants) -> list[PathStep]:
    """The steps of a path in their order, each behind the one that it follows."""
    silent = _SILENT if constants.keeps_discarded else _SILENT | {discarding.discard_half}
    placed = sorted(enumerate(path), key=lambda at: (at[0], 0) if at[1].follows is None else (at[1].follows, 1))
    return sorted((step for _, step in placed), key=lambda step: (step.before, step.step.action.function not in silent))


def _take_times_of(state: State, event: ObservedEvent) -> None:
    """A record's own times count, not the instant at which its writer read the clock."""
    if event.kind is EventKind.OP_STORED:
        state.op[event.op].born_at = event.born
    else:
        state.half[event.half].born_at = event.born
        state.half[event.half].stored_at = event.time
