"""Stretches of the log in which the op queue did not grow: all that a pull of op messages can tell apart."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from model_check.trace_validation.observed import EventKind

if TYPE_CHECKING:
    from model_check.trace_validation.observed import Trace


@dataclass(frozen=True, slots=True)
class View:
    """What a step that left no record saw of the log.

    Attributes
    ----------
    before
        The last event that it may precede.
    halves, ops
        How long the queues were then.
    earliest, latest
        Between which instants the op queue had this length, in milliseconds.
    """

    before: int
    halves: int
    ops: int
    earliest: int
    latest: int


def views_between(trace: Trace, earlier: int, number: int) -> list[View]:
    """The views behind event `earlier` and before event `number`, in their order; never empty."""
    halves, ops = _lengths(trace)
    views: list[View] = []
    for gap in range(earlier + 1, number + 1):
        began = trace.events[gap - 1].time if gap else 0
        if views and views[-1].ops == ops[gap]:
            began = views.pop().earliest
        views.append(View(gap, halves[gap], ops[gap], began, trace.events[gap].time))
    return views


@lru_cache(maxsize=4)
def _lengths(trace: Trace) -> tuple[list[int], list[int]]:
    """How long both queues are before each event."""
    halves, ops = [0], [0]
    for event in trace.events:
        halves.append(halves[-1] + (event.kind in (EventKind.HALF_STORED, EventKind.PUT_BACK)))
        ops.append(ops[-1] + (event.kind is EventKind.OP_STORED))
    return halves, ops


@lru_cache(maxsize=4)
def ops_seen_too_late(trace: Trace) -> frozenset[int]:
    """The op messages that name a half which the check service put back or discarded afterwards all the same."""
    treated: dict[tuple[int, int], int] = {}
    for number, event in enumerate(trace.events):
        if event.kind in (EventKind.PUT_BACK, EventKind.DISCARDED):
            treated[event.transaction, event.check_times - (event.kind is EventKind.PUT_BACK)] = number
    known: dict[int, tuple[int, int]] = {}
    found = set()
    for number, event in enumerate(trace.events):
        if event.kind in (EventKind.HALF_STORED, EventKind.PUT_BACK):
            known[event.half] = (event.transaction, event.check_times)
        elif event.kind is EventKind.OP_STORED and any(
            treated.get(known.get(h, (-1, 0)), -1) > number for h in event.names
        ):
            found.add(event.op)
    return frozenset(found)


def last_in_a_row(trace: Trace, check_interval: int) -> dict[int, int]:
    """Each record of the check service to the last one of the same round, judged by the silence between rounds."""
    last: dict[int, int] = {}
    following: int | None = None
    for number in range(len(trace.events) - 1, -1, -1):
        event = trace.events[number]
        if event.kind not in (EventKind.PUT_BACK, EventKind.DISCARDED):
            continue
        goes_on = following is not None and trace.events[following].time - event.time < check_interval
        last[number] = last[following] if following is not None and goes_on else number
        following = number
    return last
