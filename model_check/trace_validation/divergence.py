"""The explanation of an event that no path explains: the conjunct that refuses it, and the steps possible instead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from model_check.trace_validation.observed import EventKind, ObservedEvent
from model_check.trace_validation.round_steps import SILENT_PASSES
from spec.chapters import check_round, discarding, end_transaction, op_batch, putting_back
from spec.language import Refused

if TYPE_CHECKING:
    from model_check.trace_validation.workspace import Workspace

_SHOWN = (
    putting_back.put_back_and_check,
    putting_back.put_back_immune_half,
    discarding.discard_half,
    discarding.discard_instead_of_check,
    *SILENT_PASSES,
    check_round.end_round_at_queue_end,
    check_round.end_round_at_fresh_half,
    check_round.end_round_at_young_half,
    check_round.end_round_at_time_limit,
)
"""The steps of a round at its cursor, but for pulling more op messages."""

_OF_AN_END = (
    end_transaction.store_real_message,
    end_transaction.write_op,
    end_transaction.buffer_op,
    end_transaction.refuse_late_end,
)


@dataclass(frozen=True, slots=True)
class Attempt:
    """How near the search came to an event."""

    rank: int  # 0 if the cursor stood on the right half, more if it got stuck before
    guard: str  # the refusing conjunct
    nearest: tuple[str, ...]  # what the specification allows where the search was stopped


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first event that no path explains."""

    number: int  # its place in the trace: all events before it are the longest prefix that some path explains
    event: ObservedEvent
    guard: str
    nearest: tuple[str, ...]


def attempt_at(work: Workspace, event: ObservedEvent, rank: int, refused: Refused | None) -> Attempt:
    """Describe the state in which an attempt at a record of the check service failed."""
    s = work.state
    nearest = tuple(a.__name__ for a in _SHOWN if s.round.running and work.refusal(a, now=event.time) is None)
    cursor = s.round.cursor
    where = ""
    if s.round.running and cursor < s.half_length:
        where = f" at half {cursor} (transaction {s.half[cursor].transaction}, check {s.half[cursor].check_times})"
    if refused is None:
        stuck = work.refusal(check_round.pass_settled_half, now=event.time)
        rule = "another half comes first" if stuck is None else stuck.rule
        refused = Refused("require", f"{rule}: the round cannot get past the half{where}")
    return Attempt(rank, f"{refused.kind}: {refused.rule}", tuple(f"{name}{where}" for name in nearest))


def enabled_beside(work: Workspace, event: ObservedEvent) -> tuple[str, ...]:
    """The steps possible instead for the halves that a producer's record names."""
    s = work.state
    halves = [event.half] if event.kind is EventKind.DELIVERED else list(event.names)
    steps = []
    for h in dict.fromkeys(halves):
        if 0 <= h < s.half_length:
            steps += [
                f"{action.__name__} at half {h}"
                for action in _OF_AN_END
                if work.refusal(action, h, now=event.time) is None
            ]
    if event.kind is EventKind.OP_STORED and work.refusal(op_batch.write_op_batch, now=event.time) is None:
        steps.append(f"write_op_batch of {sorted(s.batch.names)}")
    return tuple(steps)
